import { expect, it } from 'vitest';
import type { CallRecord } from '../../../../src/call/log/call-record.ts';
import type { CallOrder } from '../../../../src/call/control/supervision.ts';
import type { CallControl } from '../../../../src/carriers/port.ts';
import type { DialogAction, DialogTurn } from '../../../../src/dialog/port.ts';
import { CallBench } from '../call-bench.ts';

async function* answers(turn: DialogTurn): AsyncIterable<DialogAction> {
  if (turn.input.kind === 'start') yield { type: 'say', text: 'Hello there.' };
  else yield { type: 'say', text: 'This is what I have to say about that.' };
}

/** A call whose greeting, 12 characters of 60 ms, was heard. */
async function greeted(bench: CallBench): Promise<void> {
  await bench.start(1_000);
}

function ended(bench: CallBench): Promise<CallRecord> {
  bench.session.hangUp('enough');
  return bench.session.ended;
}

it('says an operator’s text without asking the dialog, whose next question knows of it', async () => {
  using bench = new CallBench(answers);
  await greeted(bench);
  await bench.session.order({ type: 'say', text: 'A colleague will join us.' }, 'key_1');
  await bench.quiet(2_000);
  expect(bench.asked).toHaveLength(1);
  await bench.says(0, 'fine', 200, 600);
  expect(bench.asked.at(-1)?.history).toEqual([{ role: 'bot', text: 'Hello there. A colleague will join us.' }]);
  expect((await ended(bench)).timeline).toContainEqual(
    expect.objectContaining({ type: 'ordered', order: 'say', by: 'key_1', turn: 0 }),
  );
});

it('says it as well where no final is marked as the last one of its turn', async () => {
  using bench = new CallBench(answers);
  await greeted(bench);
  await bench.voice(600);
  await bench.quiet(660);
  bench.recognised(0, 'tell me', 'unmarked');
  await bench.quiet(4_000);
  const before = bench.attachment.sentSamples;
  await bench.session.order({ type: 'say', text: 'A colleague will join us.' }, 'key_1');
  await bench.quiet(200);
  expect(bench.attachment.sentSamples).toBeGreaterThan(before);
});

it.each([
  ['always', true],
  ['never', false],
] as const)('lets a caller interrupt such words, or not: %s', async (interruptible, isCut) => {
  using bench = new CallBench(answers);
  await greeted(bench);
  await bench.session.order({ type: 'say', text: 'Please hold the line for one more moment.', interruptible }, 'key_1');
  await bench.quiet(400);
  await bench.voice(600);
  expect(bench.attachment.clears > 0).toBe(isCut);
});

it('waits for a caller who is speaking, and speaks behind what the bot is saying', async () => {
  using bench = new CallBench(answers);
  await greeted(bench);
  await bench.voice(600);
  await bench.session.order({ type: 'say', text: 'One thing more.' }, 'key_1');
  await bench.voice(400);
  expect(bench.attachment.playing).toBe(false);
  await bench.quiet(660);
  bench.recognised(0, 'my question');
  await bench.quiet(5_000);
  const heard = (await ended(bench)).turns.at(-1)?.botHeardText;
  expect(heard).toBe('One thing more. This is what I have to say about that.');
});

it('falls silent when muted, keeps the caller’s turns without asking the dialog, and knows them afterwards', async () => {
  using bench = new CallBench(answers);
  await greeted(bench);
  await bench.says(0, 'tell me', 200, 600);
  await bench.quiet(400);
  expect(bench.attachment.playing).toBe(true);
  await bench.session.order({ type: 'mute', on: true }, 'key_1');
  expect(bench.attachment.playing).toBe(false);
  await bench.quiet(500);
  await bench.says(1, 'are you there', 200, 600);
  // No reprompt, no goodbye, however long it lasts.
  await bench.quiet(40_000);
  expect(bench.asked).toHaveLength(2);
  expect(bench.attachment.closedBecause).toBeUndefined();
  expect(bench.attachment.playing).toBe(false);
  await bench.session.order({ type: 'mute', on: false }, 'key_1');
  await bench.quiet(500);
  await bench.says(2, 'good', 200, 600);
  const [, , last] = bench.asked;
  expect(last?.input).toMatchObject({ text: 'good' });
  expect(last?.history.map(({ role, text }) => (role === 'caller' ? text : 'bot'))).toEqual([
    'bot',
    'tell me',
    'bot',
    'are you there',
  ]);
});

it('gives a bot its voice back after the time it was muted for, and has the caller say it again', async () => {
  using bench = new CallBench(answers);
  await greeted(bench);
  await bench.session.order({ type: 'mute', on: true, forMs: 5_000 }, 'key_1');
  await bench.says(0, 'are you there', 200, 600);
  await bench.quiet(2_000);
  // What somebody else says to the caller starts the time anew.
  await bench.session.order({ type: 'say', text: 'One moment.' }, 'key_1');
  await bench.quiet(4_800);
  expect(bench.session.standing.muted).toBe(true);
  expect(bench.session.standing.mutedUntilWallMs).toBe(bench.clock.wallMs() + 200);
  expect(bench.attachment.playing).toBe(false);
  await bench.quiet(400);
  expect(bench.session.standing).toMatchObject({ turn: { bot: { muted: false } }, mutedUntilWallMs: undefined });
  expect(bench.attachment.playing).toBe(true);
  await bench.quiet(4_000);
  await bench.says(1, 'finally', 200, 600);
  expect(bench.asked.at(-1)?.input).toMatchObject({ text: 'finally' });
  const { timeline, turns } = await ended(bench);
  expect(timeline.flatMap((event) => (event.type === 'ordered' ? [[event.order, event.by, event.forMs]] : []))).toEqual([
    ['mute', 'key_1', 5_000],
    ['say', 'key_1', undefined],
    ['unmute', 'time-limit', undefined],
  ]);
  expect(turns[1]?.botHeardText).toContain('Please say it again.');
});

it('limits a mute without a given duration', async () => {
  using bench = new CallBench(answers);
  await greeted(bench);
  await bench.session.order({ type: 'mute', on: true }, 'key_1');
  await bench.wait(299_000);
  expect(bench.session.standing.muted).toBe(true);
  await bench.wait(2_000);
  expect(bench.session.standing.muted).toBe(false);
  expect(bench.attachment.playing).toBe(true);
});

it('answers a caller who is speaking when the time is over, and says nothing else', async () => {
  using bench = new CallBench(answers);
  await greeted(bench);
  await bench.session.order({ type: 'mute', on: true, forMs: 1_000 }, 'key_1');
  await bench.quiet(800);
  await bench.says(0, 'hello?', 5_000, 600);
  expect(bench.asked.at(-1)?.input).toMatchObject({ text: 'hello?' });
  expect((await ended(bench)).turns.at(-1)?.botHeardText).toBe('This is what I have to say about that.');
});

it('does not do what a bot that was muted had still meant to do', async () => {
  async function* leaves(): AsyncIterable<DialogAction> {
    yield { type: 'say', text: 'Goodbye then, it was nice to talk to you.' };
    yield { type: 'hangup', reason: 'done' };
  }
  using bench = new CallBench(leaves);
  await bench.start(500);
  await bench.session.order({ type: 'mute', on: true }, 'key_1');
  await bench.quiet(10_000);
  expect(bench.attachment.closedBecause).toBeUndefined();
});

it('still says what it is told to while it is muted', async () => {
  using bench = new CallBench(answers);
  await greeted(bench);
  await bench.session.order({ type: 'mute', on: true }, 'key_1');
  await bench.session.order({ type: 'say', text: 'This is the supervisor.' }, 'key_1');
  await bench.quiet(500);
  expect(bench.attachment.playing).toBe(true);
  await bench.quiet(2_000);
  expect((await ended(bench)).turns.at(-1)?.botHeardText).toBe('Hello there. This is the supervisor.');
});

it('keeps a secret answer secret that comes while the bot is muted, and after it', async () => {
  async function* asksForCard(): AsyncIterable<DialogAction> {
    yield { type: 'say', text: 'Your card?' };
    yield { type: 'gather', contract: { kind: 'card' } };
  }
  using bench = new CallBench(asksForCard);
  await greeted(bench);
  await bench.session.order({ type: 'mute', on: true }, 'key_1');
  for (const digit of '4111111111111111') bench.attachment.emit({ type: 'digit', digit });
  await bench.quiet(8_000);
  for (const digit of '4222') bench.attachment.emit({ type: 'digit', digit });
  await bench.quiet(8_000);
  const record = await ended(bench);
  expect(record.turns.map(({ callerText }) => callerText)).toEqual(['', '************1111', '****']);
});

it('transfers the caller; when the carrier refuses, the bot is back', async () => {
  using bench = new CallBench(answers);
  const transfers: string[] = [];
  const control = (transfer: CallControl['transfer']): CallControl => ({
    hangUp: async () => undefined,
    transfer,
    sendDigits: async () => undefined,
  });
  await greeted(bench);
  await expect(bench.session.order({ type: 'transfer', to: '+15550100' }, 'key_1')).rejects.toMatchObject({
    code: 'OFFHOOK_ORDER_REFUSED',
  });
  bench.control = control(() => Promise.reject(new Error('HTTP 404')));
  await expect(bench.session.order({ type: 'transfer', to: '+15550100' }, 'key_1')).rejects.toThrow('HTTP 404');
  expect(bench.session.standing.muted).toBe(false);
  bench.control = control(async (_call, to) => void transfers.push(to));
  await bench.session.order({ type: 'transfer', to: '+15550100' }, 'key_1');
  expect(transfers).toEqual(['+15550100']);
  bench.attachment.emit({ type: 'stopped', reason: 'stream ended' });
  expect((await bench.session.ended).endReason).toBe('transferred');
});

it('hangs up, and takes no order after that', async () => {
  using bench = new CallBench(answers);
  await greeted(bench);
  await bench.session.order({ type: 'hang-up' }, 'key_1');
  expect((await bench.session.ended).endReason).toBe('operator-hangup');
  await expect(bench.session.order({ type: 'say', text: 'Hello?' }, 'key_1')).rejects.toMatchObject({
    code: 'OFFHOOK_ORDER_REFUSED',
  });
});

it.each([
  ['the whole greeting', 1_000, true],
  ['a word that was cut, and somebody else', 200, false],
] as const)('keeps a recording after its announcement: %s', async (_, heardMs, keeps) => {
  using bench = new CallBench(answers, { recording: 'after-announcement' });
  await bench.start(heardMs);
  await bench.session.order({ type: 'mute', on: true }, 'key_1');
  await bench.session.order({ type: 'say', text: 'A colleague will join us.' }, 'key_1');
  await bench.quiet(2_500);
  expect((await ended(bench)).recordingPath !== undefined).toBe(keeps);
});

it('keeps no recording when the announcement failed and the caller was asked to go on', async () => {
  const fails = async function* (turn: DialogTurn): AsyncIterable<DialogAction> {
    if (turn.input.kind === 'start') throw new Error('no greeting');
    yield { type: 'say', text: 'Fine.' };
  };
  using bench = new CallBench(fails, { recording: 'after-announcement' });
  await bench.start(6_000);
  expect((await ended(bench)).recordingPath).toBeUndefined();
});

it('lets one operator at a time type in the bot’s place, and others until then and after', async () => {
  using bench = new CallBench(answers);
  await greeted(bench);
  await bench.session.order({ type: 'mute', on: true, forMs: 5_000 }, 'key_1');
  expect(bench.session.standing.mutedBy).toBe('key_1');
  const others: CallOrder[] = [
    { type: 'say', text: 'Hello.' },
    { type: 'mute', on: false },
    { type: 'take-over', on: true },
  ];
  for (const order of others)
    await expect(bench.session.order(order, 'key_2')).rejects.toThrow('key_1 has taken the call over by typing');
  await bench.session.order({ type: 'say', text: 'A colleague.' }, 'key_1');
  // Once the time is over, the bot has its voice back and the call has no holder.
  await bench.quiet(9_000);
  expect(bench.session.standing).toMatchObject({ muted: false, mutedBy: undefined });
  await bench.session.order({ type: 'say', text: 'Hello.' }, 'key_2');
  await ended(bench);
});
