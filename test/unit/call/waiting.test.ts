import { describe, expect, it } from 'vitest';
import { waitingWords } from '../../../src/call/turn/spoken-cues.ts';
import { sleep } from '../../../src/kernel/waiting.ts';
import { CallBench } from './call-bench.ts';
import { TurnDriver } from './turn-driver.ts';

describe('a caller who was asked to wait', () => {
  /** The dialog was asked about Tuesday and is slow; "one moment" was said. */
  const waiting = () => {
    const turn = new TurnDriver().greeted().voice(400).quiet(660).final(0, 'on tuesday').quiet(1_600);
    expect(turn.kinds).toContain('filler');
    return turn.forget();
  };

  it('is not asked for anew by an "okay"', () => {
    const turn = waiting().voice(300).partial(1, 'okay').quiet(700).final(1, 'Okay, thank you.').quiet(400);
    expect(turn.kinds).toEqual(['commit']);
    expect(turn.state.phase.name).toBe('thinking');
  });

  it('is told to wait once more when they ask whether anybody is there', () => {
    const turn = waiting().voice(300).partial(1, 'hello').quiet(700).final(1, 'Hello?').quiet(400);
    expect(turn.kinds).toEqual(['commit', 'filler']);
    expect(turn.state.phase.name).toBe('thinking');
  });

  it('takes the turn back by words that change it, while they are being said', () => {
    const turn = waiting().voice(300).partial(1, 'no make it').voice(320);
    expect(turn.kinds).toEqual(['cancel-reply']);
    turn.quiet(1_300);
    expect(turn.final(1, 'No, make it Friday.').asked.at(-1)).toBe('on tuesday No, make it Friday.');
  });

  it('is not misunderstood by what a word sounds like when it begins', () => {
    const turn = waiting()
      .voice(200)
      .partial(1, 'oh eight')
      .voice(400)
      .partial(1, 'hello')
      .quiet(700)
      .final(1, 'Hello?')
      .quiet(400);
    expect(turn.kinds).toEqual(['commit', 'filler']);
  });

  it('does so by words that come on a commit alone', () => {
    const turn = waiting().voice(600).quiet(700);
    expect(turn.kinds).toEqual(['commit']);
    turn.final(1, 'make it friday').quiet(60);
    expect(turn.kinds.slice(1)).toEqual(['cancel-reply', 'commit']);
    expect(turn.final(2, '').asked).toEqual(['on tuesday make it friday']);
  });

  it('loses nothing that comes behind a guess of waiting', () => {
    const turn = waiting().voice(600).partial(1, 'yes').voice(100).quiet(250).partial(1, 'yes cancel it').quiet(340);
    expect(turn.final(1, 'Yes, cancel it.').quiet(700).final(2, '').asked.at(-1)).toBe('on tuesday Yes, cancel it.');
  });

  it('is not taken to interrupt a reply that begins just then', () => {
    const turn = waiting().voice(300).partial(1, 'hello').quiet(60);
    turn.feed({ type: 'bot-started', atMs: turn.nowMs, policy: 'always' }).quiet(200).final(1, 'Hello?');
    expect(turn.kinds).not.toContain('clear');
    turn.feed({ type: 'bot-finished', atMs: turn.nowMs }).voice(400).quiet(700).final(2, 'thanks');
    expect(turn.asked).toEqual(['thanks']);
  });
});

it('answers a slow question once, however often a caller says hello meanwhile', async () => {
  const asked: string[] = [];
  using bench: CallBench = new CallBench(async function* ({ input }, signal) {
    if (input.kind !== 'spoken') return;
    asked.push(input.text);
    await sleep(bench.clock, 6_000, signal);
    yield { type: 'say', text: 'We are open from eight to six.' };
  });
  await bench.start();
  await bench.says(0, 'when are you open', 0, 600);
  for (const seg of [1, 2]) {
    await bench.quiet(1_700);
    await bench.voice(300);
    bench.partial(seg, 'hello');
    await bench.quiet(400);
    bench.recognised(seg, 'hello?');
  }
  await bench.quiet(4_000);
  const { turns } = await bench.hangUp('done');
  expect(asked).toEqual(['when are you open']);
  expect(turns.at(-1)).toMatchObject({ callerText: 'when are you open', botHeardText: 'We are open from eight to six.' });
});

it.each([
  ['okay', 'patient'],
  ['Yes, okay, thank you.', 'patient'],
  ['Hello? Are you still there?', 'asking'],
  ['अच्छा, ठीक है', 'patient'],
  ['हैलो?', 'asking'],
  ['hello, make it Friday', undefined],
  ['no', undefined],
  ['', undefined],
] as const)('%j into a wait is %s', (text, said) => expect(waitingWords(text)).toBe(said));
