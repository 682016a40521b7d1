import { expect, it } from 'vitest';
import { OutboxWriteError } from '../../../../src/records/errors.ts';
import { PendingCallEnds } from '../../../../src/records/after-call/call-keeping.ts';
import { silentLogger } from '../../../../src/observability/logger.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const settle = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

it('makes one pass at a time, however long the disk takes, and loses no end that it refuses meanwhile', async () => {
  const clock = new ManualClock();
  const ends = new PendingCallEnds(clock, silentLogger);
  const kept: string[] = [];
  const asked: { readonly callId: string; readonly answer: (refusal?: Error) => void }[] = [];
  const end = (callId: string) => ({
    callId,
    keep: () =>
      new Promise<void>((resolve, reject) => {
        asked.push({ callId, answer: (refusal) => (refusal === undefined ? resolve() : reject(refusal)) });
      }),
    kept: async () => void kept.push(callId),
  });
  const refusal = new OutboxWriteError('no space left');
  ends.add(end('a'), refusal);
  clock.advance(5_000);
  ends.add(end('b'), refusal);
  clock.advance(5_000);
  expect(asked.map(({ callId }) => callId)).toEqual(['a']);
  asked[0]!.answer();
  await settle();
  asked[1]!.answer(refusal);
  await settle();
  clock.advance(5_000);
  asked[2]!.answer();
  await settle();
  expect(kept).toEqual(['a', 'b']);
  await ends.close();
});
