import { describe, expect, it } from 'vitest';
import { type Bot, botSettings } from '../../../src/config/bots.ts';
import { whenDownOf } from '../../../src/dialog/fail-over.ts';
import { BotHealth } from '../../../src/dialog/bot-health.ts';
import type { DialogTurn } from '../../../src/dialog/port.ts';
import { switchingBots } from '../../../src/dialog/switching-bots.ts';
import { DialogServerError } from '../../../src/dialog/wire.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { CallBench, type DialogScript } from './call-bench.ts';

const DOWN = new DialogServerError("the bot's server cannot be reached", { retryable: true });
const ANNOUNCED = 'Sorry, a part of our system is not answering. I can still help you.';

/** What the bot `bench` does until its server goes down. */
const serves: DialogScript = async function* (turn) {
  yield { type: 'set', variables: { account: '7' } };
  yield { type: 'say', text: turn.input.kind === 'start' ? 'Hello, this is the desk.' : 'Yes.' };
};
const failing = (error: Error): DialogScript => {
  const next = async (): Promise<never> => {
    throw error;
  };
  return () => ({ [Symbol.asyncIterator]: () => ({ next }) });
};
const fails = failing(DOWN);

interface Setting {
  readonly whenDown: unknown;
  /** Of the bot's own server, turn by turn. */
  readonly server: (turn: DialogTurn) => DialogScript;
  readonly offline?: DialogScript;
  /** The caller's number. */
  readonly from?: string;
}

/** A call to a bot with a list, and another bot that may stand in for it. */
function benchOf({ whenDown, server, offline = serves, from = '+15550100123' }: Setting) {
  const written = { name: 'bench', voice: 'Nisha', dialog: { kind: 'http', url: 'http://127.0.0.1:9/' }, whenDown };
  const bot: Bot = { ...botSettings.parse(written), folder: '.' };
  const asked: string[] = [];
  const turns: DialogTurn[] = [];
  const clock = new ManualClock(0);
  const health = new BotHealth({ clock, logger: silentLogger, probe: async () => false });
  const script = (name: string, of: (turn: DialogTurn) => DialogScript) => ({
    create: () => ({
      respond(turn: DialogTurn, signal: AbortSignal) {
        asked.push(`${name} ${turn.index} ${turn.input.kind}`);
        turns.push(turn);
        return of(turn)(turn, signal);
      },
    }),
  });
  const other: Bot = { ...bot, name: 'offline', voice: 'Asha', whenDown: undefined };
  const entries = [
    { bot, hooks: script('bench', server), whenDown: whenDownOf(bot, true) },
    { bot: other, hooks: script('offline', () => offline) },
  ];
  const dialog = switchingBots(entries, { health, clock }).get('bench');
  if (dialog === undefined) throw new Error('no dialog');
  const inbound = {
    carrier: 'bench',
    carrierCallId: 'CA1',
    from,
    to: '+15550199',
    direction: 'inbound',
    botName: undefined,
  } as const;
  const bench = new CallBench(serves, { whenDown: bot.whenDown }, { dialog, inbound });
  return { bench, asked, turns, health, dialog };
}

const heardOf = (bench: CallBench): string[] => (bench.record?.turns ?? []).map(({ botHeardText }) => botHeardText);

it('goes on with the fallback bot in the turn in which the server failed, with history and variables', async () => {
  const { bench, asked, turns } = benchOf({
    whenDown: [{ bot: 'offline' }],
    server: ({ index }) => (index < 2 ? serves : fails),
    offline: async function* ({ input }) {
      yield { type: 'say', text: input.kind === 'start' ? 'What is it about?' : 'Noted.' };
    },
  });
  using _ = bench;
  await bench.start(2_500);
  await bench.says(0, 'tuesday', 3_000);
  await bench.says(1, 'at ten', 8_000);
  await bench.says(2, 'my bill', 3_000);
  const record = await bench.hangUp('done');
  expect(asked).toEqual(['bench 0 start', 'bench 1 spoken', 'bench 2 spoken', 'offline 2 start', 'offline 3 spoken']);
  expect(heardOf(bench)).toEqual(['Hello, this is the desk.', 'Yes.', `${ANNOUNCED} What is it about?`, 'Noted.']);
  expect(turns[3]).toMatchObject({
    variables: { account: '7' },
    history: [
      { role: 'bot', text: 'Hello, this is the desk.' },
      { role: 'caller', text: 'tuesday' },
      { role: 'bot', text: 'Yes.' },
      { role: 'caller', text: 'at ten' },
    ],
  });
  expect(record.notes).toContain('bot: offline');
  const events = record.timeline.filter(({ type }) => type === 'fail-over');
  expect(events).toEqual([expect.objectContaining({ turn: 2, from: 'bench', step: 'bot', to: 'offline' })]);
  const { body } = await bench.metrics.render();
  expect(body).toContain('offhook_bot_fail_overs_total{bot="bench",step="bot"} 1');
});

it('greets with the fallback bot, unannounced, when the server does not answer the greeting', async () => {
  const { bench, asked, health, dialog } = benchOf({ whenDown: [{ bot: 'offline' }], server: () => fails });
  using _ = bench;
  await bench.start(3_000);
  await bench.hangUp('done');
  expect(heardOf(bench)).toEqual(['Hello, this is the desk.']);
  expect(asked).toEqual(['bench 0 start', 'offline 0 start']);
  // The next call does not ask the server at all.
  expect(health.outages.map(({ bot }) => bot)).toEqual(['bench']);
  using next = new CallBench(serves, {}, { dialog });
  await next.start(3_000);
  expect((await next.hangUp('done')).timeline.map(({ type }) => type)).toContain('fail-over');
  expect(asked.slice(2)).toEqual(['offline 0 start']);
});

it('goes on with the fallback bot when the answer is late for too long, and behind the holding sentence', async () => {
  const never: DialogScript = () => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => undefined) }) });
  const { bench, asked } = benchOf({ whenDown: [{ bot: 'offline' }], server: ({ index }) => (index === 0 ? serves : never) });
  using _ = bench;
  await bench.start(2_500);
  await bench.says(0, 'tuesday', 9_400);
  expect(asked).toHaveLength(2);
  const { sentSamples } = bench.attachment;
  await bench.quiet(1_000);
  expect(asked).toEqual(['bench 0 start', 'bench 1 spoken', 'offline 1 start']);
  expect(bench.attachment.sentSamples).toBeGreaterThan(sentSamples);
  await bench.quiet(8_000);
  const { timeline } = await bench.hangUp('done');
  expect(timeline.map(({ type }) => type)).toContain('filler');
  expect(heardOf(bench)[1]).toBe(`${ANNOUNCED} Hello, this is the desk.`);
});

it('asks once more after a fault of one answer, and goes down the list at the second', async () => {
  const wrong = failing(new Error('no such variable'));
  const { bench, asked, health } = benchOf({
    whenDown: [{ bot: 'offline' }],
    server: ({ index }) => (index === 0 ? serves : wrong),
  });
  using _ = bench;
  await bench.start(2_500);
  await bench.says(0, 'tuesday', 9_000);
  await bench.hangUp('done');
  expect(asked).toEqual(['bench 0 start', 'bench 1 spoken', 'bench 1 spoken', 'offline 1 start']);
  expect(heardOf(bench)[1]).toBe(`${ANNOUNCED} Hello, this is the desk.`);
  expect(health.outages.map(({ bot }) => bot)).toEqual([]);
});

it('apologises at once and ends the call when the fallback bot fails too, and no step is left', async () => {
  const { bench, asked } = benchOf({ whenDown: [{ bot: 'offline' }, 'apologise'], server: () => fails, offline: fails });
  using _ = bench;
  await bench.start(8_000);
  expect((await bench.session.ended).endReason).toBe('dialog-failed');
  expect(heardOf(bench).join(' ')).toContain('Sorry, something went wrong on our side.');
  expect(asked).toEqual(['bench 0 start', 'offline 0 start']);
});

it('keeps the caller with the fallback bot when the turn that failed is asked again with more words', async () => {
  const { bench, asked } = benchOf({ whenDown: [{ bot: 'offline' }], server: ({ index }) => (index === 0 ? serves : fails) });
  using _ = bench;
  await bench.start(2_500);
  await bench.voice(400);
  await bench.quiet(660);
  bench.partial(0, 'on tues').recognised(0, 'on tuesday', false);
  await bench.quiet(60);
  bench.recognised(1, 'at ten');
  await bench.quiet(8_000);
  await bench.hangUp('done');
  expect(asked[0]).toBe('bench 0 start');
  expect(asked.filter((each) => each.startsWith('bench 1'))).toHaveLength(1);
  expect(heardOf(bench)[1]).toBe(`${ANNOUNCED} Hello, this is the desk.`);
});

/** A carrier that connects callers to somebody else, or would not. */
function carrier(bench: CallBench, isTaken: boolean): string[] {
  const asked: string[] = [];
  const transfer = async (_call: string, to: string): Promise<void> => {
    asked.push(to);
    if (!isTaken) throw new Error('no');
  };
  bench.control = { hangUp: async () => undefined, sendDigits: async () => undefined, transfer };
  return asked;
}

it('connects the caller to a person, and takes a message where the carrier would not, until they press a key', async () => {
  const { bench } = benchOf({ whenDown: [{ transfer: '+15550100' }, 'message'], server: () => fails });
  using _ = bench;
  const asked = carrier(bench, false);
  await bench.start(9_000);
  expect(asked).toEqual(['+15550100']);
  await bench.quiet(8_000);
  await bench.voice(1_000);
  bench.partial(0, 'please move my');
  // A pause to think is no end.
  await bench.quiet(2_000);
  await bench.voice(1_000);
  bench.partial(0, 'please move my appointment');
  bench.attachment.emit({ type: 'digit', digit: '#' });
  await bench.quiet(6_000);
  const record = await bench.session.ended;
  expect(record.endReason).toBe('message-left');
  expect(record.variables).toEqual({ callerMessage: 'please move my appointment' });
  expect(record.turns.at(-1)?.callerText).toContain('please move my appointment');
  expect(record.transfers).toMatchObject([{ to: '+15550100', kind: 'cold', outcome: 'failed' }]);
  expect(record.timeline.flatMap((event) => (event.type === 'fail-over' ? [event.step] : []))).toEqual(['transfer', 'message']);
  expect(heardOf(bench).join(' ')).toMatch(/connecting you to a colleague\..*Please leave a message now.*we have your message/u);
});

it('ends the call as transferred when the carrier takes the caller over', async () => {
  const { bench } = benchOf({
    whenDown: [{ transfer: '+15550100' }, 'message'],
    server: ({ index }) => (index === 0 ? serves : fails),
  });
  using _ = bench;
  const asked = carrier(bench, true);
  await bench.start(2_500);
  await bench.says(0, 'tuesday', 9_000);
  expect(asked).toEqual(['+15550100']);
  bench.attachment.emit({ type: 'stopped', reason: 'stream ended' });
  expect((await bench.session.ended).endReason).toBe('transferred');
});

describe('speech that fails', () => {
  const whenDown = [{ bot: 'offline' }, { transfer: { to: '+15550100', warm: { brief: 'A caller.' } } }];

  it.each(['synthesis', 'recognition'] as const)('connects the caller to the person of the list: %s', async (failing) => {
    const { bench } = benchOf({ whenDown, server: () => serves });
    using _ = bench;
    const asked = carrier(bench, true);
    await bench.start(2_500);
    if (failing === 'synthesis') {
      bench.synthesisFails = true;
      await bench.says(0, 'tuesday', 3_000);
    } else bench.recogniserCloses(new Error('gone'));
    await bench.quiet(20_000);
    expect(asked).toEqual(['+15550100']);
    bench.attachment.emit({ type: 'stopped', reason: 'stream ended' });
    expect((await bench.session.ended).endReason).toBe('transferred');
    // The bench has no cache: no sentence sounds where its synthesis fails.
    const told = failing === 'synthesis' ? 'Hello' : 'I am connecting you to a colleague.';
    expect(heardOf(bench).join(' ')).toContain(told);
  });

  it('ends with the apology where the carrier would not connect the caller', async () => {
    const { bench } = benchOf({ whenDown, server: () => serves });
    using _ = bench;
    const asked = carrier(bench, false);
    await bench.start(2_500);
    bench.recogniserCloses(new Error('gone'));
    await bench.quiet(20_000);
    expect(asked).toEqual(['+15550100']);
    expect((await bench.session.ended).endReason).toBe('transfer-failed');
  });
});

it.each([
  { note: 'silence for as long as the file says', silenceMs: 2_000, maxMs: 60_000, voiceMs: 35_000, endsAfterMs: 2_000 },
  { note: 'the longest time of a message', silenceMs: 2_000, maxMs: 5_000, voiceMs: 5_600, endsAfterMs: 0 },
])('ends a message after $note', async ({ silenceMs, maxMs, voiceMs, endsAfterMs }) => {
  const { bench } = benchOf({ whenDown: [{ message: { silenceMs, maxMs } }], server: () => fails });
  using _ = bench;
  await bench.start(9_000);
  await bench.voice(voiceMs - 400);
  bench.partial(0, 'a long message');
  expect(bench.commits).toBe(endsAfterMs === 0 ? 1 : 0);
  await bench.voice(300);
  await bench.quiet(Math.max(0, endsAfterMs - 200));
  expect(bench.commits).toBe(endsAfterMs === 0 ? 1 : 0);
  await bench.quiet(300);
  expect(bench.commits).toBe(1);
  bench.recognised(0, 'a long message');
  await bench.quiet(6_000);
  const { endReason, variables } = await bench.session.ended;
  expect([endReason, variables]).toEqual(['message-left', { callerMessage: 'a long message' }]);
});

it('offers no call to a caller who withholds their number', async () => {
  const { bench } = benchOf({ whenDown: ['callback', 'message'], server: () => fails, from: 'anonymous' });
  using _ = bench;
  await bench.start(9_000);
  await bench.hangUp('done');
  expect(heardOf(bench).join(' ')).toContain('Please leave a message now');
});

it('promises a call to a caller who wants one, and takes a message of one who does not', async () => {
  for (const [answer, ends] of [
    ['yes please', 'callback-promised'],
    ['no thanks', 'message-left'],
  ] as const) {
    const { bench } = benchOf({ whenDown: ['callback', 'message'], server: () => fails });
    using _ = bench;
    await bench.start(7_000);
    await bench.says(0, answer, 9_000);
    if (ends === 'message-left') await bench.says(1, 'call me never', 9_000);
    const record = await bench.session.ended;
    expect(record.endReason).toBe(ends);
    expect(record.callBackAtWallMs === undefined).toBe(ends === 'message-left');
  }
});
