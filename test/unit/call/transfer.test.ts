import { describe, expect, it } from 'vitest';
import { CarrierControlError } from '../../../src/carriers/errors.ts';
import type { CallControl } from '../../../src/carriers/port.ts';
import type { DialogAction, DialogTurn } from '../../../src/dialog/port.ts';
import { botSettings } from '../../../src/config/bots.ts';
import { CallBench } from './call-bench.ts';

async function* connects(turn: DialogTurn): AsyncIterable<DialogAction> {
  if (turn.input.kind === 'transfer') return;
  yield { type: 'say', text: 'One moment, I will connect you.' };
  if (turn.input.kind === 'start') yield { type: 'transfer', to: '+15550100' };
}

function controlThat(transfer: CallControl['transfer']): CallControl {
  return { hangUp: async () => undefined, transfer, sendDigits: async () => undefined };
}

/** The announcement is 31 characters of 60 ms. */
const ANNOUNCEMENT_MS = 1_860;

it('transfers the caller once the announcement was heard', async () => {
  using bench = new CallBench(connects);
  const transfers: string[][] = [];
  bench.control = controlThat(async (call, to) => void transfers.push([call, to]));
  await bench.start(ANNOUNCEMENT_MS - 100);
  expect(transfers).toEqual([]);
  await bench.quiet(700);
  expect(transfers).toEqual([['CA1', '+15550100']]);
  expect(bench.attachment.closedBecause).toBeUndefined();
  bench.attachment.emit({ type: 'stopped', reason: 'stream ended' });
  expect((await bench.session.ended).endReason).toBe('transferred');
});

it('lets go of a call that the carrier took over without a word', async () => {
  using bench = new CallBench(connects);
  bench.control = controlThat(async () => undefined);
  await bench.start(ANNOUNCEMENT_MS + 700);
  await bench.wait(1_600);
  expect((await bench.session.ended).endReason).toBe('transferred');
});

it('stays with a caller who says no before it happens', async () => {
  using bench = new CallBench(connects);
  const transfers: string[] = [];
  bench.control = controlThat(async (_, to) => void transfers.push(to));
  await bench.start(600);
  await bench.says(0, 'no wait', 4_000, 600);
  expect(bench.asked.at(-1)?.input).toMatchObject({ text: 'no wait' });
  expect(transfers).toEqual([]);
});

it.each([
  ['the carrier refuses', controlThat(() => Promise.reject(new Error('HTTP 404')))],
  ['no account is configured', undefined],
])('tells the caller when %s, and hangs up', async (_, control) => {
  using bench = new CallBench(connects);
  bench.control = control;
  await bench.start(ANNOUNCEMENT_MS + 700);
  expect(bench.attachment.closedBecause).toBeUndefined();
  await bench.quiet(8_000);
  expect((await bench.session.ended).endReason).toBe('transfer-failed');
  expect(bench.record?.transfers).toMatchObject([{ to: '+15550100', kind: 'cold', outcome: 'failed' }]);
});

it('asks a dialog that knows of outcomes how the call goes on when the carrier refuses', async () => {
  using bench = new CallBench(async function* (turn) {
    if (turn.input.kind === 'transfer') yield { type: 'say', text: 'Nobody is free. What else?' };
    else yield* connects(turn);
  });
  bench.control = controlThat(() =>
    Promise.reject(new CarrierControlError('HTTP 404', { retryable: false, facts: { status: 404 } })),
  );
  await bench.start(ANNOUNCEMENT_MS + 3_000);
  expect(bench.asked.map(({ input }) => input)).toEqual([
    { kind: 'start' },
    { kind: 'transfer', outcome: 'failed', to: '+15550100', cause: 'http-404' },
  ]);
  expect(bench.attachment.closedBecause).toBeUndefined();
  expect(bench.session.standing.botText).toBe('Nobody is free. What else?');
});

it('refuses transfer targets outside the bot file’s list', async () => {
  const { transfers } = botSettings.parse({
    name: 'a',
    voice: 'b',
    dialog: { kind: 'module', file: 'x' },
    transfers: { allow: ['+1666*'] },
  });
  using bench = new CallBench(connects, { transfers });
  const asked: string[] = [];
  bench.control = controlThat(async (_, to) => void asked.push(to));
  await bench.start(ANNOUNCEMENT_MS + 700);
  expect(asked).toEqual([]);
  expect(bench.asked.at(-1)?.input).toMatchObject({ kind: 'transfer', outcome: 'failed', cause: 'not-allowed' });
});

it('plays a ringing tone to the caller while the carrier takes its time', async () => {
  using bench = new CallBench(connects);
  const slow = slowly([]);
  bench.control = slow.control;
  await bench.start(ANNOUNCEMENT_MS + 500);
  const sentBefore = bench.attachment.sentSamples;
  await bench.quiet(800);
  expect((bench.attachment.sentSamples - sentBefore) / 8).toBeGreaterThan(700);
});

describe('by a message on the stream', () => {
  async function told(): Promise<CallBench> {
    const bench = new CallBench(connects);
    bench.attachment.capabilities = { ...bench.attachment.capabilities, transfer: 'message', marks: 'none', clear: 'none' };
    await bench.start(ANNOUNCEMENT_MS - 100);
    expect(bench.attachment.messages).toEqual([]);
    await bench.quiet(800);
    expect(bench.attachment.messages).toEqual(['transfer +15550100']);
    return bench;
  }

  it('is over when the carrier ends the stream, whenever that is', async () => {
    using bench = await told();
    await bench.quiet(5_000);
    bench.attachment.emit({ type: 'stopped', reason: 'transferred' });
    expect((await bench.session.ended).endReason).toBe('transferred');
    expect(bench.record?.transfers).toMatchObject([{ kind: 'cold', outcome: 'answered' }]);
  });

  it('fails when the carrier does not end the stream', async () => {
    using bench = await told();
    await bench.quiet(8_100);
    expect(bench.asked.at(-1)?.input).toMatchObject({ kind: 'transfer', outcome: 'failed' });
    await bench.quiet(8_000);
    expect((await bench.session.ended).endReason).toBe('transfer-failed');
  });

  it('is ordered by a supervisor without any account of the carrier', async () => {
    using bench = new CallBench(connects);
    bench.attachment.capabilities = { ...bench.attachment.capabilities, transfer: 'message' };
    await bench.start();
    const ordered = bench.session.order({ type: 'transfer', to: '+15550199' }, 'key_1');
    await bench.settle();
    expect(bench.attachment.messages).toEqual(['transfer +15550199']);
    bench.attachment.emit({ type: 'stopped', reason: 'transferred' });
    await ordered;
    expect((await bench.session.ended).endReason).toBe('transferred');
  });
});

it.each([
  { marks: 'native', clear: 'native' },
  { marks: 'none', clear: 'native' },
  { marks: 'none', clear: 'none' },
  { marks: 'native', clear: 'none' },
] as const)('hangs up once the last word was heard where the carrier has marks: $marks, clear: $clear', async (capabilities) => {
  using bench = new CallBench(async function* () {
    yield { type: 'say', text: 'Goodbye, and thank you for calling.' };
    yield { type: 'hangup', reason: 'done' };
  });
  bench.attachment.capabilities = { ...bench.attachment.capabilities, ...capabilities };
  await bench.start();
  let heardMs = 0;
  for (let ms = 0; ms < 6_000 && bench.attachment.closedBecause === undefined; ms += 20) {
    await bench.quiet(20);
    if (bench.attachment.playing) heardMs = bench.clock.nowMs();
  }
  expect(bench.attachment.closedBecause).toBe('done');
  // 35 characters of 60 ms, all of them played before the socket was closed.
  expect(bench.attachment.sentSamples).toBe(35 * 60 * 8);
  const waitedMs = bench.clock.nowMs() - heardMs;
  expect(waitedMs).toBeGreaterThanOrEqual(400);
  expect(waitedMs).toBeLessThan(2_200);
});

it('transfers a silent caller to the bot’s configured target', async () => {
  const transfers: string[] = [];
  for (const [control, reason] of [
    [controlThat(async (_, to) => void transfers.push(to)), 'transferred'],
    [controlThat(() => Promise.reject(new Error('HTTP 404'))), 'transfer-failed'],
  ] as const) {
    using bench = new CallBench(
      async function* ({ input }) {
        if (input.kind === 'start') yield { type: 'say', text: 'Hello?' };
        else yield { type: 'say', text: 'Are you there?' };
      },
      { noInputMs: 2_000, noInputAttempts: 1, noInputTransfer: '+15550100' },
    );
    bench.control = control;
    await bench.start(16_000);
    await bench.wait(1_600);
    expect((await bench.session.ended).endReason).toBe(reason);
  }
  expect(transfers).toEqual(['+15550100']);
});

it.each(['synthesisFails', 'synthesisHangs'] as const)(
  'connects such a caller without a word when none can be spoken (%s)',
  async (fault) => {
    using bench = new CallBench(
      async function* ({ input }) {
        if (input.kind === 'start') yield { type: 'say', text: 'Hello?' };
      },
      { noInputMs: 2_000, noInputAttempts: 0, noInputTransfer: '+15550100' },
    );
    const transfers: string[] = [];
    bench.control = controlThat(async (_, to) => void transfers.push(to));
    await bench.start(1_000);
    bench[fault] = true;
    await bench.quiet(16_000);
    await bench.wait(1_600);
    expect(transfers).toEqual(['+15550100']);
    expect((await bench.session.ended).endReason).toBe('transferred');
  },
);

it('is no transfer when the caller hangs up before it happens', async () => {
  using bench = new CallBench(connects);
  bench.control = controlThat(async () => undefined);
  await bench.start();
  bench.attachment.emit({ type: 'stopped', reason: 'hung up' });
  await bench.wait(1_600);
  expect((await bench.session.ended).endReason).toBe('caller-hangup');
});

it('ends a call at the carrier whose socket was lost for good', async () => {
  using bench = new CallBench(async function* () {
    yield { type: 'say', text: 'Hello.' };
  });
  const ended: string[] = [];
  bench.control = { ...controlThat(async () => undefined), hangUp: async (call) => void ended.push(call) };
  await bench.start();
  bench.attachment.emit({ type: 'closed', code: 1006, reason: 'gone' });
  await bench.wait(9_900);
  expect(ended).toEqual([]);
  await bench.wait(200);
  expect(ended).toEqual(['CA1']);
  expect((await bench.session.ended).endReason).toBe('carrier-lost');
});

/** A carrier that takes its time over a transfer. */
function slowly(calls: string[][]): { readonly control: CallControl; done: () => void } {
  const slow = { control: controlThat(async () => undefined), done: (): void => undefined };
  slow.control = {
    ...controlThat((call, to) => {
      calls.push(['transfer', call, to]);
      return new Promise((resolve) => (slow.done = resolve));
    }),
    hangUp: async (call) => void calls.push(['hang up', call]),
  };
  return slow;
}

it('does not end at the carrier what the carrier has taken over, whatever the caller says or keys meanwhile', async () => {
  for (const meanwhile of ['words', 'key', 'nothing'] as const) {
    using bench = new CallBench(connects);
    const calls: string[][] = [];
    const slow = slowly(calls);
    bench.control = slow.control;
    await bench.start(ANNOUNCEMENT_MS + 700);
    if (meanwhile === 'words') {
      await bench.says(0, 'thank you', 200, 600);
    } else if (meanwhile === 'key') {
      bench.attachment.emit({ type: 'digit', digit: '7' });
      bench.attachment.emit({ type: 'digit', digit: '#' });
      await bench.quiet(200);
    }
    slow.done();
    await bench.quiet(80);
    bench.attachment.emit({ type: 'stopped', reason: 'stream ended' });
    await bench.wait(12_000);
    expect(calls).toEqual([['transfer', 'CA1', '+15550100']]);
    // Nobody answers a caller who is being connected.
    expect(bench.asked).toHaveLength(1);
    expect((await bench.session.ended).endReason).toBe('transferred');
  }
});

it.each(['before the operator asked', 'while the carrier decided, and the bot was muted'] as const)(
  'does not end a call that somebody had connected to somebody else, and whose socket was lost %s',
  async (lost) => {
    using bench = new CallBench(async function* () {
      yield { type: 'say', text: 'Hello.' };
    });
    const calls: string[][] = [];
    const slow = slowly(calls);
    bench.control = slow.control;
    await bench.start(1_000);
    const lose = (): void => bench.attachment.emit({ type: 'closed', code: 1006, reason: 'gone' });
    if (lost === 'before the operator asked') lose();
    const ordered = bench.session.order({ type: 'transfer', to: '+15550100' }, 'key_1');
    if (lost !== 'before the operator asked') await bench.session.order({ type: 'mute', on: true }, 'key_1');
    slow.done();
    await ordered;
    lose();
    await bench.wait(12_000);
    expect(calls).toEqual([['transfer', 'CA1', '+15550100']]);
    expect((await bench.session.ended).endReason).toBe('transferred');
  },
);
