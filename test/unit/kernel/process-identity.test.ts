import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { livenessOf, startTicksOf, thisProcess } from '../../../src/kernel/process-identity.ts';
import { eventually } from '../../support/eventually.ts';

it('takes a killed process whose parent has not noticed for dead', async () => {
  // The shell becomes another program before it tells the child's pid, so that nothing that runs then waits for the child.
  const parent = spawn('sh', ['-c', 'sleep 60 & exec sh -c "echo $!; exec sleep 60"'], { stdio: ['ignore', 'pipe', 'ignore'] });
  onTestFinished(() => void parent.kill('SIGKILL'));
  const [printed] = (await once(parent.stdout, 'data')) as [Buffer];
  const pid = Number(printed.toString());
  const identity = { ...thisProcess(), pid, startTicks: startTicksOf(pid) };
  expect(livenessOf(identity)).toBe('alive');
  process.kill(pid, 'SIGKILL');
  await eventually('its death', () => livenessOf(identity) === 'dead' || undefined);
  expect(startTicksOf(pid)).toBe(identity.startTicks);
});
