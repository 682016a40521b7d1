import { expect, it } from 'vitest';
import type { DialogAction, DialogTurn } from '../../../src/dialog/port.ts';
import { CallBench } from './call-bench.ts';

async function* answers(turn: DialogTurn): AsyncIterable<DialogAction> {
  if (turn.input.kind === 'start') yield { type: 'say', text: 'Hello there. Which day suits you?' };
  else yield { type: 'say', text: 'This is what I have to say about that.' };
}

async function greeted(bench: CallBench): Promise<void> {
  await bench.start(3_000);
}

/** The operator talks for a time: what they say is 3,000 in every sample. */
async function talk(bench: CallBench, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 20) {
    bench.session.takeOver.hear(new Int16Array(320).fill(3_000));
    await bench.quiet(20);
  }
}

const take = { type: 'take-over', on: true } as const;
const giveBack = { type: 'take-over', on: false } as const;
const isOperator = (pcm: Int16Array): boolean => pcm.every((sample) => Math.abs(sample - 3_000) < 300);

it('silences the bot at once, lets the caller hear the operator, and goes on recognising the caller', async () => {
  using bench = new CallBench(answers);
  await bench.start(300);
  expect(bench.attachment.playing).toBe(true);
  await bench.session.order(take, 'key_1');
  expect([bench.attachment.playing, bench.session.standing.takenOver, bench.session.standing.muted]).toEqual([
    false,
    'key_1',
    true,
  ]);
  await talk(bench, 1_000);
  expect(isOperator(bench.attachment.heard.slice(-1_600))).toBe(true);
  await bench.says(0, 'on thursday', 200, 600);
  expect(bench.asked).toHaveLength(1);
  expect(bench.news).toContainEqual({ type: 'turn', callId: 'call_bench', turn: 1, kind: 'spoken', callerText: 'on thursday' });
  const { timeline, turns } = await bench.hangUp('enough');
  expect(turns.map(({ callerText }) => callerText)).toEqual(['', 'on thursday']);
  const orders = timeline.flatMap((event) => (event.type === 'ordered' ? [`${event.order} ${event.by}`] : []));
  expect(orders).toEqual(['take-over key_1', 'give-back call']);
});

it('puts the operator into the bot’s channel of what is recorded and listened to', async () => {
  using bench = new CallBench(answers);
  await greeted(bench);
  const right: number[] = [];
  const stop = bench.session.sound?.listen((stereo) => {
    const samples = new Int16Array(stereo.buffer, stereo.byteOffset, stereo.length / 2);
    for (let at = 1; at < samples.length; at += 2) right.push(samples[at] ?? 0);
  });
  await bench.session.order(take, 'key_1');
  await talk(bench, 1_500);
  stop?.();
  expect(isOperator(Int16Array.from(right.slice(-2_000)))).toBe(true);
});

it('gives the bot its voice back, which says so and asks again, and its dialog is told', async () => {
  using bench = new CallBench(answers);
  await greeted(bench);
  await bench.session.order(take, 'key_1');
  await talk(bench, 2_000);
  await bench.session.order(giveBack, 'key_1');
  expect(bench.session.standing).toMatchObject({ takenOver: undefined, muted: false });
  await bench.quiet(4_000);
  expect(bench.session.standing.botText).toBe(
    'Hello there. Which day suits you? Thank you. I am with you again. Which day suits you?',
  );
  await bench.says(0, 'tuesday', 200, 600);
  expect(bench.asked.at(-1)?.advice).toEqual([
    'An operator talked with the caller for 2 s in your place, and has given the call back to you.',
  ]);
  bench.session.hangUp('enough');
});

it('lets one operator have a call at a time, and keeps the bot’s voice silent meanwhile', async () => {
  using bench = new CallBench(answers);
  await greeted(bench);
  await expect(bench.session.order(giveBack, 'key_1')).rejects.toThrow('No operator has taken the call over.');
  await bench.session.order(take, 'key_1');
  await expect(bench.session.order(take, 'key_2')).rejects.toThrow('key_1 has taken the call over.');
  for (const order of [
    { type: 'say', text: 'Hello.' },
    { type: 'mute', on: false },
  ] as const)
    await expect(bench.session.order(order, 'key_2')).rejects.toThrow('key_1 has taken the call over by voice');
  await bench.session.order({ type: 'hang-up' }, 'key_2');
  expect((await bench.session.ended).endReason).toBe('operator-hangup');
});

it('ends a call that was taken over when it has lasted for as long as it may', async () => {
  using bench = new CallBench(answers, { maxDurationMs: 30_000 });
  await greeted(bench);
  await bench.session.order(take, 'key_1');
  await talk(bench, 28_000);
  expect((await bench.session.ended).endReason).toBe('max-duration');
});

it('outlives the loss of its recogniser while the operator talks, and has another for the bot', async () => {
  using bench = new CallBench(answers);
  await greeted(bench);
  await bench.session.order(take, 'key_1');
  const before = bench.recognitions.length;
  bench.recogniserCloses(new Error('gone'));
  await talk(bench, 1_000);
  expect(bench.session.standing.takenOver).toBe('key_1');
  await bench.session.order(giveBack, 'key_1');
  expect(bench.recognitions.length).toBe(before + 1);
  bench.session.hangUp('enough');
});

it('passes a whisper to the dialog’s next turn only, and never speaks it', async () => {
  using bench = new CallBench(answers);
  await greeted(bench);
  const sent = bench.attachment.sentSamples;
  await bench.session.order({ type: 'whisper', text: 'Offer the Thursday.' }, 'key_1');
  await bench.quiet(1_000);
  expect([bench.attachment.sentSamples, bench.asked.length]).toEqual([sent, 1]);
  await bench.says(0, 'when', 200, 600);
  expect(bench.asked.at(-1)?.advice).toEqual(['Offer the Thursday.']);
  await bench.quiet(4_000);
  await bench.says(1, 'fine', 200, 600);
  expect(bench.asked.at(-1)?.advice).toBeUndefined();
  expect((await bench.hangUp('enough')).timeline).toContainEqual(
    expect.objectContaining({ type: 'ordered', order: 'whisper', by: 'key_1', text: 'Offer the Thursday.' }),
  );
});

it('refuses to whisper to a bot that takes no advice, and says which do', async () => {
  using bench = new CallBench(answers, {}, {}, () => ({}), undefined, false);
  await greeted(bench);
  await expect(bench.session.order({ type: 'whisper', text: 'Hurry.' }, 'key_1')).rejects.toThrow('llm, http, module and relay');
  bench.session.hangUp('enough');
});

it('keeps an operator out while the caller gives a card number, which is secret', async () => {
  using bench = new CallBench(async function* asks() {
    yield { type: 'say', text: 'Please key your card number.' };
    yield { type: 'gather', contract: { kind: 'card' } };
  });
  await greeted(bench);
  await expect(bench.session.order(take, 'key_1')).rejects.toThrow('giving a secret value');
  expect(bench.session.standing.takenOver).toBeUndefined();
});

it('has its line back for the last words, when a caller tells the operator never to call again', async () => {
  using bench = new CallBench(answers);
  await greeted(bench);
  await bench.session.order(take, 'key_1');
  await talk(bench, 500);
  await bench.says(0, 'please do not call me again', 200, 600);
  expect(bench.session.standing.takenOver).toBeUndefined();
  await bench.quiet(200);
  expect(bench.attachment.playing).toBe(true);
});

it.each(['mute', 'take-over'] as const)(
  'counts no time of an operator as the bot’s wait, after %s in the middle of a wait',
  async (type) => {
    async function* thinks(turn: DialogTurn): AsyncIterable<DialogAction> {
      if (turn.input.kind === 'start') yield { type: 'say', text: 'Hello there. Which day suits you?' };
      else await new Promise(() => undefined);
    }
    using bench = new CallBench(thinks);
    await greeted(bench);
    await bench.says(0, 'on thursday', 200, 600);
    expect(bench.asked).toHaveLength(2);
    await bench.session.order({ type, on: true }, 'key_1');
    await bench.quiet(8_000);
    await bench.session.order(type === 'mute' ? { type: 'say', text: 'A colleague will be with you.' } : giveBack, 'key_1');
    await bench.quiet(6_000);
    const { turns } = await bench.hangUp('enough');
    expect(turns.map(({ latency }) => latency.total === undefined)).toEqual([false, true]);
    expect(bench.news.filter((each) => each.type === 'reply')).toHaveLength(1);
  },
);
