import { describe, expect, it, test } from 'vitest';
import { endsInNumber, isSentence, isUnfinished } from '../../../src/call/turn/spoken-cues.ts';
import { DEFAULT_TURN_SETTINGS } from '../../../src/call/turn/turn-settings.ts';
import { TurnDriver } from './turn-driver.ts';

/** A caller who says something with pauses of this length in it. */
function pausing(turn: TurnDriver, pauseMs: number, times: number): TurnDriver {
  turn.voice(400);
  for (let pause = 0; pause < times; pause += 1) turn.quiet(pauseMs).voice(400);
  return turn;
}

describe('a caller who pauses long', () => {
  it('is waited for a little longer than the longest of their pauses', () => {
    const turn = pausing(new TurnDriver().greeted(), 580, 8).partial(0, 'the blue one');
    expect(turn.forget().quiet(680).kinds).toEqual([]);
    expect(turn.quiet(20).kinds).toEqual(['commit']);
  });

  it('is so in the next turn too', () => {
    const turn = pausing(new TurnDriver().greeted(), 580, 8).partial(0, 'blue').quiet(800).final(0, 'blue');
    turn.feed({ type: 'bot-started', atMs: turn.nowMs, policy: 'always' });
    turn.feed({ type: 'bot-finished', atMs: turn.nowMs }).quiet(500).forget();
    expect(turn.voice(400).partial(1, 'red').quiet(640).kinds).toEqual([]);
    expect(turn.quiet(60).kinds).toEqual(['commit']);
  });

  it('teaches nothing by seven pauses, by short ones, or by the quiet before a turn', () => {
    expect(pausing(new TurnDriver().greeted(), 580, 7).partial(0, 'blue').forget().quiet(600).kinds).toEqual(['commit']);
    expect(pausing(new TurnDriver().greeted(), 300, 9).partial(0, 'blue').forget().quiet(600).kinds).toEqual(['commit']);
    const late = new TurnDriver().greeted().voice(40).quiet(2_000).voice(40).quiet(2_000).voice(40).quiet(2_000);
    expect(late.voice(400).partial(0, 'blue').forget().quiet(600).kinds).toEqual(['commit']);
  });

  it('is waited for no frame more where the one that completes the silence comes a little early', () => {
    const turn = new TurnDriver().greeted().voice(400).partial(0, 'blue').quiet(580).forget();
    const frame = { voiced: false, speechLike: 0 };
    turn.feed({ type: 'frame', frame: { ...frame, atMs: turn.nowMs + 17 } });
    expect(turn.kinds).toEqual(['commit']);
  });

  it('is never waited for longer than the limit', () => {
    const turn = new TurnDriver({ noInputMs: 20_000 }).greeted();
    for (let time = 0; time < 20; time += 1) turn.voice(400).quiet(590);
    turn.voice(400).partial(0, 'I would like to').forget();
    expect(turn.quiet(1_180).kinds).toEqual([]);
    expect(turn.quiet(20).kinds).toEqual(['commit']);
  });

  it('teaches by going on after the turn was taken for over', () => {
    const turn = new TurnDriver().greeted();
    for (let seg = 0; seg < 3; seg += 1) turn.voice(400).partial(seg, 'so').quiet(900);
    expect(turn.state.caller.pauses.length).toBeGreaterThanOrEqual(2);
    expect(Math.max(...turn.state.caller.pauses)).toBeGreaterThanOrEqual(900);
  });
});

describe('a sentence', () => {
  it('in its middle is waited for, once it stands so', () => {
    const turn = new TurnDriver().greeted().voice(600).partial(0, 'I would like an appointment on').forget();
    expect(turn.quiet(1_180).kinds).toEqual([]);
    expect(turn.quiet(20).kinds).toEqual(['commit']);
  });

  it('that ends in a number is waited for a little, as more of it may follow', () => {
    const turn = new TurnDriver().greeted().voice(600).partial(0, 'my number is four two').forget();
    expect(turn.quiet(880).kinds).toEqual([]);
    expect(turn.quiet(20).kinds).toEqual(['commit']);
  });
});

describe('a model that hears the end of turns', () => {
  const endpointing = { ...DEFAULT_TURN_SETTINGS.endpointing, askModelMs: 180 };
  const asked = (): TurnDriver =>
    new TurnDriver({ endpointing }).greeted().voice(600).partial(0, 'I would like an appointment').quiet(160).forget();
  const heard = (turn: TurnDriver, likelihood: number): TurnDriver =>
    turn.feed({ type: 'model-answered', lastVoicedMs: turn.nowMs - 180, likelihood });

  it('is asked once in each pause', () => {
    const turn = asked();
    expect(turn.quiet(200).kinds).toEqual(['ask-model']);
    expect(turn.voice(200).quiet(200).kinds).toEqual(['ask-model', 'ask-model']);
    expect(turn.effects.at(-1)).toEqual({ type: 'ask-model', lastVoicedMs: turn.nowMs - 200, sinceMs: expect.any(Number) });
  });

  it('is not asked while a message is recorded, which ends by silence alone', () => {
    const turn = new TurnDriver({ endpointing }).greeted();
    turn.feed({ type: 'expect', atMs: turn.nowMs, expectation: { message: { maxMs: 10_000 } } });
    expect(turn.voice(600).quiet(400).kinds).not.toContain('ask-model');
  });

  it('shortens the wait where the turn sounds over, and lengthens it where it does not', () => {
    const over = heard(asked().quiet(20), 0.95).forget();
    expect(over.quiet(220).kinds).toEqual([]);
    expect(over.quiet(20).kinds).toEqual(['commit']);
    const goesOn = heard(asked().quiet(20), 0.05).forget();
    expect(goesOn.quiet(700).kinds).toEqual([]);
    expect(goesOn.quiet(20).kinds).toEqual(['commit']);
  });

  it('is not waited for, and an answer for an earlier pause counts for nothing', () => {
    const turn = asked().quiet(20);
    const earlier = turn.nowMs - 180;
    turn.voice(200).quiet(200).forget();
    turn.feed({ type: 'model-answered', lastVoicedMs: earlier, likelihood: 0.99 });
    expect(turn.quiet(380).kinds).toEqual([]);
    expect(turn.quiet(20).kinds).toEqual(['commit']);
  });
});

test.each(['on Tuesday and', 'I would like to', 'my number is, ', 'मैं और', 'मुझे अपॉइंटमेंट चाहिए और', 'it is um'])(
  '%j goes on',
  (text) => expect(isUnfinished(text)).toBe(true),
);

test.each(['yes', 'no', 'that', 'on', 'Tuesday at half past ten', 'मंगलवार', 'I have had enough', ''])('%j may be all', (text) =>
  expect(isUnfinished(text)).toBe(false),
);

test.each([
  ['my number is four two', true],
  ['call 555', true],
  ['मेरा नंबर नौ आठ', true],
  ['half past ten', false],
  ['room 12', false],
  ['two of them', false],
  ['', false],
])('%j ends in a number that is dictated: %s', (text, dictated) => expect(endsInNumber(text)).toBe(dictated));

test.each([
  ['That is all.', true],
  ['ठीक है।', true],
  ['Is it “open?” ', true],
  ['half past ten', false],
  ['3.5 and', false],
])('%j ends as a sentence: %s', (text, ends) => expect(isSentence(text)).toBe(ends));
