import { expect, it } from 'vitest';
import type { DialogTurn } from '../../../src/dialog/port.ts';
import { CallBench, type DialogScript } from './call-bench.ts';
import { TurnDriver } from './turn-driver.ts';

const givenUp = (signal: AbortSignal): Promise<unknown> =>
  new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
const texts = (asked: readonly DialogTurn[]): readonly string[] =>
  asked.map(({ input }) => (input.kind === 'spoken' ? input.text : input.kind));

/** A call whose caller has said something that was asked about before its final came. */
async function askedTooSoon(dialog: DialogScript, text: string): Promise<CallBench> {
  const bench = new CallBench(dialog);
  await bench.start(1_500);
  await bench.voice(600);
  bench.partial(0, text);
  while (bench.asked.length < 2) await bench.quiet(20);
  return bench;
}

it('does nothing of what the answer to the first attempt meant to do after its words', async () => {
  using bench = await askedTooSoon(async function* ({ input }, signal) {
    if (input.kind !== 'spoken') yield { type: 'say', text: 'Anything else?' };
    else if (input.text === 'no') {
      yield { type: 'hangup', reason: 'done' };
      await givenUp(signal);
    } else yield { type: 'say', text: 'On Tuesday, then. At what time?' };
  }, 'no');
  bench.recognised(0, 'no, wait, tuesday please');
  await bench.quiet(4_000);
  expect(texts(bench.asked)).toEqual(['start', 'no', 'no, wait, tuesday please']);
  expect(bench.attachment.closedBecause).toBeUndefined();
  expect((await bench.hangUp('enough')).endReason).toBe('enough');
});

it('reads the turn by what it was asked for, whatever the answer to the first attempt had asked for', async () => {
  using bench = await askedTooSoon(async function* ({ input }, signal) {
    yield { type: 'gather', contract: input.kind === 'start' ? { kind: 'digits', length: 6 } : { kind: 'yes-no' } };
    if (input.kind !== 'start') await givenUp(signal);
    yield { type: 'say', text: 'Your number?' };
  }, 'nine eight seven');
  bench.recognised(0, 'nine eight seven six five four');
  await bench.quiet(100);
  expect(bench.asked.map(({ input }) => ('answer' in input ? input.answer : undefined))).toEqual([
    undefined,
    expect.objectContaining({ status: 'incomplete' }),
    expect.objectContaining({ status: 'complete', value: '987654' }),
  ]);
});

it('expects again what it did when the caller goes on before anything was heard', () => {
  const turn = new TurnDriver().greeted().feed({ type: 'expect', atMs: 0, expectation: { endpointingMs: 500, maxDigits: 6 } });
  turn.voice(600).partial(0, 'four one').quiet(900).final(0, 'four one');
  expect(turn.state.phase.name).toBe('thinking');
  turn.feed({ type: 'expect', atMs: 0, expectation: { maxDigits: 1 } }).voice(300);
  expect([turn.kinds.at(-1), turn.state.dialog.expectation]).toEqual([
    'cancel-reply',
    { endpointingMs: 500, maxDigits: 6, asked: true },
  ]);
});

it('keeps the keys of a turn whose words get better', () => {
  const value = { contract: { kind: 'digits', length: 6 }, context: { language: 'en', today: '2026-01-01' } } as const;
  const turn = new TurnDriver().greeted().feed({ type: 'expect', atMs: 0, expectation: { maxDigits: 3, value } });
  turn.voice(400).partial(0, 'one two three').quiet(700).digit('4').digit('5').digit('6').final(0, '1 2 3.');
  expect(turn.effects.at(-1)).toMatchObject({ type: 'ask-again', input: { text: '1 2 3.', keys: '456' } });
});

it('answers early only what was all: words with keys behind them are asked about anew', async () => {
  using bench = new CallBench(
    async function* ({ input }) {
      yield { type: 'say', text: 'Your number?' };
      if (input.kind === 'start') yield { type: 'gather', contract: { kind: 'digits', length: 6 } };
    },
    { askEarly: true },
  );
  await bench.start(1_500);
  await bench.voice(600);
  bench.partial(0, 'one two three');
  while (bench.asked.length < 2) await bench.quiet(20);
  for (const digit of '456') bench.attachment.emit({ type: 'digit', digit });
  await bench.quiet(100);
  expect(bench.asked.map(({ early, input }) => [early, 'keys' in input ? input.keys : undefined])).toEqual([
    [undefined, undefined],
    [true, undefined],
    [undefined, '456'],
  ]);
});
