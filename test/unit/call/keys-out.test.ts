import { expect, it } from 'vitest';
import type { CallControl } from '../../../src/carriers/port.ts';
import type { DialogAction, DialogTurn } from '../../../src/dialog/port.ts';
import { CallBench } from './call-bench.ts';

async function* pressesKeys(turn: DialogTurn): AsyncIterable<DialogAction> {
  if (turn.input.kind !== 'start') {
    yield { type: 'say', text: 'Thank you.' };
    return;
  }
  yield { type: 'digits', digits: '1w2' };
  yield { type: 'say', text: 'Pressing one.' };
}
/** 13 characters of 60 ms. */
const SAID_MS = 780;

function pressing(sendDigits: CallControl['sendDigits']): CallControl {
  return { hangUp: async () => undefined, transfer: async () => undefined, sendDigits };
}

it('presses keys once the reply was heard, and the same conversation goes on when the call comes back', async () => {
  using bench = new CallBench(pressesKeys);
  const pressed: string[][] = [];
  bench.control = pressing(async (call, digits) => void pressed.push([call, digits]));
  await bench.start(SAID_MS - 200);
  expect(pressed).toEqual([]);
  await bench.quiet(400);
  expect(pressed).toEqual([['CA1', '1w2']]);
  bench.attachment.emit({ type: 'stopped', reason: 'redirected' });
  await bench.wait(6_000);
  await bench.reattach();
  await bench.says(0, 'hello again', 100, 600, 700);
  expect(bench.asked.at(-1)?.input).toMatchObject({ text: 'hello again' });
  expect(bench.asked.at(-1)?.history).toContainEqual({ role: 'bot', text: 'Pressing one.' });
  const { timeline } = await bench.hangUp('done');
  expect(timeline).toContainEqual(expect.objectContaining({ type: 'digits-sent', count: 2 }));
});

it('gives up a call that does not come back from having keys pressed', async () => {
  using bench = new CallBench(pressesKeys);
  bench.control = pressing(async () => undefined);
  await bench.start(SAID_MS + 200);
  bench.attachment.emit({ type: 'stopped', reason: 'redirected' });
  await bench.wait(14_000);
  expect((await bench.session.ended).endReason).toBe('caller-hangup');
});

it('presses nothing when the caller takes the floor before', async () => {
  using bench = new CallBench(pressesKeys);
  const pressed: string[] = [];
  bench.control = pressing(async (_, digits) => void pressed.push(digits));
  await bench.start(200);
  await bench.says(0, 'stop', 3_000, 500, 700);
  expect(pressed).toEqual([]);
});

it.each([
  ['the carrier refuses', pressing(() => Promise.reject(new Error('HTTP 404'))), 'HTTP 404'],
  ['no account is configured', undefined, 'no account'],
])('goes on talking when %s, and says so in the record', async (_, control, detail) => {
  using bench = new CallBench(pressesKeys);
  bench.control = control;
  await bench.start(SAID_MS + 400);
  await bench.says(0, 'hello', 100, 600, 700);
  expect(bench.asked.at(-1)?.input).toMatchObject({ text: 'hello' });
  const { timeline } = await bench.hangUp('done');
  expect(timeline).toContainEqual(
    expect.objectContaining({ type: 'problem', detail: expect.stringContaining(detail) as string }),
  );
});

it('writes the keys to the carrier’s own socket, once and with their waits between, where it takes them there', async () => {
  using bench = new CallBench(pressesKeys);
  const pressed: string[] = [];
  Object.assign(bench.attachment, {
    capabilities: { ...bench.attachment.capabilities, dtmfOut: 'message' },
    sendDigits: (digits: string) => void pressed.push(digits),
  });
  await bench.start(SAID_MS + 300);
  expect(pressed).toEqual(['1']);
  await bench.quiet(2_000);
  expect(pressed).toEqual(['1', '2']);
  const { timeline } = await bench.hangUp('done');
  expect(timeline.filter(({ type }) => type === 'digits-sent')).toEqual([expect.objectContaining({ count: 2 })]);
});

it('sounds the keys itself where the carrier cannot press any', async () => {
  using bench = new CallBench(pressesKeys);
  Object.assign(bench.attachment, { capabilities: { ...bench.attachment.capabilities, dtmfOut: 'inband' } });
  await bench.start(SAID_MS + 2_000);
  const KEY_MS = 200;
  const WAIT_MS = 500;
  expect(bench.attachment.sentSamples).toBe((SAID_MS + 2 * KEY_MS + WAIT_MS) * 8);
});

it.each(['hangup', 'transfer'] as const)('presses the keys of a bot that leaves first, and then leaves: %s', async (leaving) => {
  using bench = new CallBench(async function* () {
    yield { type: 'say', text: 'Pressing one.' };
    yield { type: 'digits', digits: '1w2' };
    yield leaving === 'hangup' ? { type: 'hangup', reason: 'bot-hangup' } : { type: 'transfer', to: '+15550100' };
  });
  const done: string[] = [];
  bench.control = {
    hangUp: async () => undefined,
    transfer: async (_, to) => void done.push(to),
    sendDigits: async (_, digits) => void done.push(digits),
  };
  await bench.start(SAID_MS + 200);
  expect(done).toEqual(['1w2']);
  bench.attachment.emit({ type: 'stopped', reason: 'redirected' });
  await bench.wait(6_000);
  await bench.reattach();
  await bench.quiet(1_000);
  await bench.wait(1_600);
  expect(done).toEqual(leaving === 'hangup' ? ['1w2'] : ['1w2', '+15550100']);
  expect((await bench.session.ended).endReason).toBe(leaving === 'hangup' ? 'bot-hangup' : 'transferred');
});

it('leaves all the same when the carrier takes its keys and never takes the call away', async () => {
  using bench = new CallBench(async function* () {
    yield { type: 'say', text: 'Pressing one.' };
    yield { type: 'digits', digits: '1' };
    yield { type: 'hangup', reason: 'bot-hangup' };
  });
  bench.control = pressing(async () => undefined);
  await bench.start(SAID_MS + 13_000);
  expect(bench.attachment.closedBecause).toBe('bot-hangup');
});

it('says its goodbye to the end that begins while the call is away to have keys pressed', async () => {
  using bench = new CallBench(async function* ({ input }) {
    if (input.kind === 'start') {
      yield { type: 'say', text: 'Pressing one.' };
      return yield { type: 'digits', digits: '1' };
    }
    yield { type: 'say', text: 'You are very welcome, and a good day to you.' };
    yield { type: 'hangup', reason: 'bot-hangup' };
  });
  bench.control = pressing(async () => undefined);
  await bench.start(SAID_MS + 200);
  await bench.voice(600);
  await bench.quiet(660);
  bench.attachment.emit({ type: 'stopped', reason: 'redirected' });
  bench.recognised(0, 'okay thanks');
  await bench.wait(3_000);
  await bench.reattach();
  await bench.quiet(5_000);
  expect((await bench.session.ended).turns.at(-1)?.botHeardText).toBe('You are very welcome, and a good day to you.');
});

it('leaves all the same when the keys cannot be pressed, or the call does not come back from it', async () => {
  for (const sendDigits of [() => Promise.reject(new Error('HTTP 404')), async () => undefined]) {
    using bench = new CallBench(async function* () {
      yield { type: 'say', text: 'Pressing one.' };
      yield { type: 'digits', digits: '1' };
      yield { type: 'hangup', reason: 'bot-hangup' };
    });
    bench.control = pressing(sendDigits);
    await bench.start(SAID_MS + 1_000);
    bench.attachment.emit({ type: 'stopped', reason: 'redirected' });
    await bench.wait(14_000);
    expect((await bench.session.ended).endReason).toBe('bot-hangup');
  }
});
