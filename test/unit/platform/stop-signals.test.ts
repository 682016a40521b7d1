import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { stopRequested } from '../../../src/platform/main.ts';

const processStandIn = () => new EventEmitter() as unknown as NodeJS.Process;

it('stops at the end of its parent’s pipe, and ignores signals to the process group', async () => {
  const process = processStandIn();
  const parentPipe = new PassThrough();
  const stop = stopRequested({ process, parentPipe });
  process.emit('SIGTERM', 'SIGTERM');
  process.emit('SIGINT', 'SIGINT');
  parentPipe.end();
  expect(await stop).toBe('the parent closed its pipe');
});

it.each(['SIGTERM', 'SIGINT'] as const)('stops at %s without a parent', async (signal) => {
  const process = processStandIn();
  const stop = stopRequested({ process });
  process.emit(signal, signal);
  expect(await stop).toBe(signal);
});
