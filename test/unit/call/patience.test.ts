import { describe, expect, it, test } from 'vitest';
import { isSentence, isUnfinished } from '../../../src/call/turn/spoken-cues.ts';
import { TurnDriver } from './turn-driver.ts';

/** A caller who says something with pauses of this length in it. */
function pausing(turn: TurnDriver, pauseMs: number, times: number): TurnDriver {
  turn.voice(400);
  for (let pause = 0; pause < times; pause += 1) turn.quiet(pauseMs).voice(400);
  return turn;
}

describe('a caller who pauses long', () => {
  it('is waited for a little longer than the longest of their pauses', () => {
    const turn = pausing(new TurnDriver().greeted(), 580, 4).partial(0, 'four two nine seven');
    expect(turn.forget().quiet(680).kinds).toEqual([]);
    expect(turn.quiet(20).kinds).toEqual(['commit']);
  });

  it('is so in the next turn too', () => {
    const turn = pausing(new TurnDriver().greeted(), 600, 4).partial(0, 'one').quiet(800).final(0, 'one');
    turn.feed({ type: 'bot-started', atMs: turn.nowMs, policy: 'always' });
    turn.feed({ type: 'bot-finished', atMs: turn.nowMs }).quiet(500).forget();
    expect(turn.voice(400).partial(1, 'two').quiet(660).kinds).toEqual([]);
    expect(turn.quiet(60).kinds).toEqual(['commit']);
  });

  it('teaches nothing by two pauses, by short ones, or by the quiet before a turn', () => {
    expect(pausing(new TurnDriver().greeted(), 600, 2).partial(0, 'one').forget().quiet(640).kinds).toEqual(['commit']);
    expect(pausing(new TurnDriver().greeted(), 300, 5).partial(0, 'one').forget().quiet(640).kinds).toEqual(['commit']);
    const late = new TurnDriver().greeted().voice(40).quiet(2_000).voice(40).quiet(2_000).voice(40).quiet(2_000);
    expect(late.voice(400).partial(0, 'one').forget().quiet(640).kinds).toEqual(['commit']);
  });

  it('is waited for no frame more where the one that completes the silence comes a little early', () => {
    const turn = new TurnDriver().greeted().voice(400).partial(0, 'one').quiet(620).forget();
    const frame = { voiced: false, speechLike: 0 };
    turn.feed({ type: 'frame', frame: { ...frame, atMs: turn.nowMs + 17 } });
    expect(turn.kinds).toEqual(['commit']);
  });

  it('is never waited for longer than the limit', () => {
    const turn = new TurnDriver({ noInputMs: 20_000 }).greeted();
    for (let time = 0; time < 6; time += 1) turn.voice(400).quiet(630);
    turn.voice(400).partial(0, 'one').forget();
    expect(turn.quiet(1_240).kinds).toEqual(['commit']);
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
    expect(turn.quiet(1_220).kinds).toEqual([]);
    expect(turn.quiet(20).kinds).toEqual(['commit']);
  });

  it('at its end is not waited for as long', () => {
    const turn = new TurnDriver().greeted().voice(600).partial(0, 'I would like an appointment.').forget();
    expect(turn.quiet(460).kinds).toEqual([]);
    expect(turn.quiet(20).kinds).toEqual(['commit']);
  });

  it('that has just changed is not taken for ended', () => {
    const turn = new TurnDriver().greeted().voice(600).quiet(400).partial(0, 'I would like an appointment.').forget();
    expect(turn.quiet(180).kinds).toEqual([]);
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
  ['That is all.', true],
  ['ठीक है।', true],
  ['Is it “open?” ', true],
  ['half past ten', false],
  ['3.5 and', false],
])('%j ends as a sentence: %s', (text, ends) => expect(isSentence(text)).toBe(ends));
