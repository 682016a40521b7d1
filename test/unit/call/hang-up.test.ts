import { expect, it } from 'vitest';
import { CarrierControlError } from '../../../src/carriers/errors.ts';
import type { CallControl } from '../../../src/carriers/port.ts';
import type { DialogAction, DialogTurn } from '../../../src/dialog/port.ts';
import { CallBench, type DialogScript } from './call-bench.ts';

async function* greets({ input }: DialogTurn): AsyncIterable<DialogAction> {
  if (input.kind === 'start') yield { type: 'say', text: 'Hello.' };
}

async function* leaves(): AsyncIterable<DialogAction> {
  yield { type: 'say', text: 'We are closed. Goodbye.' };
  yield { type: 'hangup', reason: 'closed' };
}

// eslint-disable-next-line require-yield -- it fails before it says anything
async function* away(): AsyncIterable<DialogAction> {
  throw new Error('away');
}

/** A carrier with an account of ours. */
function account(bench: CallBench, more: Partial<CallControl> = {}): string[] {
  const asked: string[] = [];
  bench.control = {
    hangUp: async (call) => void asked.push(`hang up ${call}`),
    transfer: async (call) => void asked.push(`transfer ${call}`),
    sendDigits: async () => undefined,
    ...more,
  };
  return asked;
}

async function begun(dialog: DialogScript, more: Partial<CallControl> = {}): Promise<{ bench: CallBench; asked: string[] }> {
  const bench = new CallBench(dialog);
  const asked = account(bench, more);
  await bench.start();
  return { bench, asked };
}

it.each<[string, (bench: CallBench) => unknown, string]>([
  ['a bot that says goodbye', () => undefined, 'closed'],
  ['an operator', (bench) => bench.session.order({ type: 'hang-up' }, 'key_1'), 'operator-hangup'],
  ['a fault', (bench) => (bench.detectorFails = true), 'internal-error'],
])('ends the call at the carrier too, once and behind the socket, where %s ends it', async (who, end, reason) => {
  using bench = new CallBench(who.startsWith('a bot') ? leaves : greets);
  const asked: string[] = [];
  account(bench, { hangUp: async (call) => void asked.push(`${call} behind ${bench.attachment.closedBecause}`) });
  await bench.start();
  void end(bench);
  await bench.quiet(4_000);
  expect((await bench.hangUp('again')).endReason).toBe(reason);
  expect(asked).toEqual([`CA1 behind ${reason}`]);
});

it('is not disturbed where the carrier refuses, and warns unless the call was over there', async () => {
  const refusing = async (status: number): Promise<readonly string[]> => {
    const refusal = new CarrierControlError('refused', { retryable: false, facts: { status } });
    const { bench } = await begun(greets, { hangUp: () => Promise.reject(refusal) });
    using _bench = bench;
    expect((await bench.hangUp('done')).endReason).toBe('done');
    return bench.warnings;
  };
  expect(await refusing(401)).toEqual(['ending a call at its carrier failed']);
  expect(await refusing(404)).toEqual([]);
});

it('ends a call at a carrier without an account by its socket alone', async () => {
  using bench = new CallBench(greets);
  await bench.start();
  await bench.hangUp('done');
  expect(bench.attachment.closedBecause).toBe('done');
});

it('leaves a call to the operator’s own flow where that has it behind the stream, unless the socket was lost', async () => {
  const { bench, asked } = await begun(greets, { flowGoesOn: true });
  using _bench = bench;
  await bench.hangUp('done');
  expect(asked).toEqual([]);
  const { bench: lost, asked: askedOfLost } = await begun(greets, { flowGoesOn: true });
  using _lost = lost;
  lost.attachment.emit({ type: 'closed', code: 1006, reason: 'connection lost' });
  await lost.hangUp('done');
  expect(askedOfLost).toEqual(['hang up CA1']);
});

it.each([true, undefined])(
  'leaves a call alone that the carrier has ended or passed on (goes on without a stream: %s)',
  async (outlives) => {
    const keeps = outlives === true ? { outlivesStream: true as const } : {};
    const { bench: over, asked } = await begun(greets, keeps);
    using _over = over;
    over.session.carrierEnded('caller-hangup');
    await over.hangUp('done');
    expect(asked).toEqual([]);
    const { bench: stopped, asked: askedOfStopped } = await begun(greets, keeps);
    using _stopped = stopped;
    stopped.attachment.emit({ type: 'stopped', reason: 'call ended' });
    await stopped.wait(5_000);
    expect((await stopped.session.ended).endReason).toBe('caller-hangup');
    expect(askedOfStopped).toEqual(outlives === true ? ['hang up CA1'] : []);

    using passedOn = new CallBench(away, { failureTransfer: '+15550100' });
    const askedOfOther = account(passedOn, keeps);
    await passedOn.start(5_000);
    // An operator who hangs up now means the bot's end of it.
    await passedOn.hangUp('operator-hangup');
    expect(askedOfOther).toEqual(['transfer CA1']);
  },
);

it('ends a call that goes on at its carrier without a stream, where no media ever came', () => {
  using silent = new CallBench(greets);
  const asked = account(silent, { outlivesStream: true });
  silent.session.mediaNeverCame();
  expect(asked).toEqual(['hang up CA1']);
});
