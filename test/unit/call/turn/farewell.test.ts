import { expect, it } from 'vitest';
import { TurnDriver } from '../turn-driver.ts';

/** Says its goodbye, which was heard out, and hangs up 400 ms after it: time passes with the timers that the machine asks for. */
function leaving(turn = new TurnDriver().speaking()) {
  turn.feed({ type: 'leave-after-reply', reason: 'done' });
  turn.feed({ type: 'reply-played', atMs: turn.nowMs }).feed({ type: 'heard-out', atMs: turn.nowMs });
  const left = (): readonly string[] => turn.effects.flatMap((effect) => (effect.type === 'hang-up' ? [effect.reason] : []));
  /** @param voiced whether the caller makes sounds meanwhile */
  const pass = (ms: number, voiced: boolean): void => {
    for (let passed = 0; passed < ms; passed += 400) {
      if (voiced) turn.voice(400);
      else turn.quiet(400);
      turn.feed({ type: 'hang-up-due', atMs: turn.nowMs });
    }
  };
  return { turn, left, pass };
}

it('hangs up once a caller who made a sound after the goodbye has said nothing', () => {
  const { turn, left, pass } = leaving();
  pass(400, true);
  turn.partial(0, 'um');
  pass(1_200, false);
  expect(left()).toEqual([]);
  turn.final(0, 'Um.');
  pass(400, false);
  expect(left()).toEqual(['done']);
});

it('waits no longer than ten seconds for a room that never falls silent', () => {
  const { left, pass } = leaving();
  pass(9_600, true);
  expect(left()).toEqual([]);
  pass(800, true);
  expect(left()[0]).toBe('done');
});

it('does not hang up on a caller who answers the goodbye', () => {
  const { turn, left, pass } = leaving();
  turn.voice(600).partial(0, 'one more thing').quiet(660).final(0, 'one more thing');
  expect(turn.asked).toEqual(['one more thing']);
  pass(12_000, false);
  expect(left()).toEqual([]);
});

it('ignores the caller during last words, and hangs up after them', () => {
  const turn = new TurnDriver().speaking();
  turn.feed({ type: 'last-words', phrase: 'goodbye', reason: 'no-input', transferTo: undefined });
  turn.voice(600).partial(0, 'wait').digit('1').quiet(700);
  turn.feed({ type: 'reply-played', atMs: turn.nowMs }).feed({ type: 'heard-out', atMs: turn.nowMs });
  expect(turn.kinds).toEqual(['say-last', 'start-timer']);
  turn.feed({ type: 'hang-up-due', atMs: turn.nowMs + 400 });
  expect(turn.effects.at(-1)).toEqual({ type: 'hang-up', reason: 'no-input' });
});

it('cuts last words short that break, and says others where a transfer fails', () => {
  const turn = new TurnDriver().speaking();
  turn.feed({ type: 'last-words', phrase: 'oneMoment', reason: 'transferred', transferTo: '+1555' });
  turn.feed({ type: 'apologise', phrase: 'apology', reason: 'speech-unavailable' });
  expect(turn.effects.at(-1)).toEqual({ type: 'transfer', to: '+1555' });
  turn.feed({ type: 'apologise', phrase: 'apology', reason: 'transfer-failed' });
  expect(turn.effects.at(-1)).toEqual({ type: 'say-last', phrase: 'apology' });
  expect(turn.state.farewell).toMatchObject({ stage: 'last-words', reason: 'transfer-failed' });
});
