import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEFAULT_OPT_OUT, type OptOutSettings } from '../../../../src/call/turn/turn-settings.ts';
import { readOptOut } from '../../../../src/language/index.ts';
import { TurnDriver } from '../turn-driver.ts';

const REFUSAL = "don't call me again";
const optOut: OptOutSettings = { ...DEFAULT_OPT_OUT, read: readOptOut, key: '9' };
const driver = (changes: Partial<OptOutSettings> = {}): TurnDriver => new TurnDriver({ optOut: { ...optOut, ...changes } });

/** What a call is doing when the words or the key come. */
const moments: Readonly<Record<string, () => TurnDriver>> = {
  'nobody speaks': () => driver().greeted(),
  'the caller is speaking': () => driver().greeted().voice(400),
  'the words are awaited': () => driver().greeted().voice(400).partial(0, 'well').quiet(660),
  'the caller is keying': () => driver().greeted().digit('1'),
  'the dialog thinks': () => driver().greeted().voice(400).quiet(660).final(0, 'tuesday'),
  'the greeting is made': () => driver().feed({ type: 'call-started', atMs: 1_000 }),
  'the bot speaks': () => driver().speaking(),
  'the bot says what nobody may interrupt': () => driver().speaking('never'),
  'only keys may interrupt': () => driver().speaking('keypad'),
  'the bot is muted': () => driver().greeted().feed({ type: 'muted', atMs: 1_000, on: true }),
  'the bot says its last words': () =>
    driver().speaking().feed({ type: 'last-words', phrase: 'goodbye', reason: 'done', transferTo: undefined }),
  'the bot is about to hang up': () => driver().speaking().feed({ type: 'leave-after-reply', reason: 'done' }),
  'a supervisor connects the caller': () => driver().greeted().feed({ type: 'connecting', on: true }),
  'an answer is read back': () =>
    driver()
      .greeted()
      .feed({ type: 'expect', atMs: 1_000, expectation: { maxDigits: 10 } })
      .feed({ type: 'bot-started', atMs: 1_000, policy: 'always', asks: true }),
};

/** Everything but what ends the call. */
const BACK_TO_DIALOG = ['ask', 'ask-early', 'ask-again', 'keep-turn', 'filler', 'restore', 'resume', 'give-up', 'dialog-failed'];

function expectEnded(turn: TurnDriver, kind = 'opt-out'): void {
  expect(turn.effects).toContainEqual(expect.objectContaining({ type: 'opted-out', kind }));
  expect(turn.state.farewell).toMatchObject({ stage: 'last-words', reason: kind, transferTo: undefined });
  expect(turn.kinds.slice(turn.kinds.indexOf('opted-out'))).toEqual(['opted-out', 'silence', 'say-last']);
}

describe('a spoken opt-out', () => {
  it.each(Object.entries(moments))('ends the call while %s', (_name, given) => {
    expectEnded(given().quiet(300).forget().final(7, REFUSAL));
  });

  it.each(Object.entries(moments))('ends the call without a final, once its words stand still, while %s', (_name, given) => {
    const turn = given().quiet(300).forget().partial(7, REFUSAL);
    expect(turn.kinds).not.toContain('opted-out');
    for (let passed = 0; passed < 600; passed += 20) turn.feed({ type: 'tick', atMs: (turn.nowMs += 20) });
    expect(turn.kinds).toContain('opted-out');
  });

  it('waits for the rest of a sentence that only begins like one', () => {
    const turn = driver().speaking('never').voice(300).partial(0, "don't call me");
    turn.voice(300).partial(0, "don't call me before six please").quiet(2_000).final(0, "don't call me before six please");
    expect(turn.kinds).not.toContain('opted-out');
  });

  it('is heard within 1.2 s of words that go on, in a room that is never quiet', () => {
    const turn = driver().speaking('never').voice(300).partial(0, REFUSAL);
    turn.voice(600).partial(0, `${REFUSAL} I told you`).voice(620);
    expect(turn.kinds).toContain('opted-out');
  });

  it('is heard although the recogniser cuts the sentence in two', () => {
    const turn = driver().speaking('never').quiet(300);
    turn.final(0, "I don't want you to").quiet(300).final(1, 'call me any more');
    expect(turn.kinds).toContain('opted-out');
  });

  it('does not put together what was said long apart', () => {
    const turn = driver({ read: (words) => (words === 'never call' ? 'opt-out' : undefined) }).speaking('never');
    turn.final(0, 'never').quiet(3_000).final(1, 'call');
    expect(turn.kinds).not.toContain('opted-out');
  });

  it('is only noted once the carrier has been asked to pass the caller on', () => {
    const turn = driver().speaking().feed({ type: 'leave-after-reply', reason: 'transferred', transferTo: '+15550100' });
    turn.feed({ type: 'reply-played', atMs: turn.nowMs }).feed({ type: 'heard-out', atMs: turn.nowMs });
    turn
      .feed({ type: 'hang-up-due', atMs: turn.nowMs + 400 })
      .forget()
      .final(3, REFUSAL);
    expect(turn.kinds).toEqual(['opted-out']);
    expect(turn.state.farewell.stage).toBe('transferring');
  });

  it('says another sentence to a wrong number', () => {
    const turn = driver().greeted().final(0, 'you have got the wrong number');
    expectEnded(turn, 'wrong-number');
    expect(turn.effects.at(-1)).toEqual({ type: 'say-last', phrase: 'wrongNumber' });
  });
});

describe('before it is known who answered', () => {
  const dialled = (): TurnDriver => driver().feed({ type: 'dialled-answered', atMs: 1_000 }).quiet(300);
  const person = (turn: TurnDriver, afterSeg: number): TurnDriver =>
    turn.feed({ type: 'person-answered', atMs: turn.nowMs, afterSeg, silences: false }).quiet(100);

  it('waits with an opt-out until a person is likely', () => {
    const turn = dialled().final(0, REFUSAL).quiet(3_000);
    expect(turn.kinds).not.toContain('opted-out');
    expect(person(turn, -1).kinds).toContain('opted-out');
  });

  it('takes no machine at its word', () => {
    const screened = dialled().final(0, 'to stop calling me press two').final(1, REFUSAL).quiet(3_000);
    expect(person(screened, 1).kinds).not.toContain('opted-out');
    const greeted = person(dialled(), -1).forget();
    greeted.feed({ type: 'machine-answered', atMs: greeted.nowMs }).final(2, REFUSAL).quiet(3_000);
    expect(greeted.kinds).not.toContain('opted-out');
  });

  it('ends the call by its key', () => {
    expect(dialled().digit('9').kinds).toContain('opted-out');
  });
});

describe('the key that opts out', () => {
  const asked = (turn: TurnDriver, maxDigits: number): TurnDriver =>
    turn.feed({ type: 'expect', atMs: turn.nowMs, expectation: { maxDigits } }).forget();

  it.each(Object.entries(moments).filter(([name]) => !['the caller is keying', 'an answer is read back'].includes(name)))(
    'ends the call while %s',
    (_name, given) => expectEnded(given().forget().digit('9')),
  );

  it('is a digit of a number where digits are expected', () => {
    const turn = asked(driver().greeted(), 4).digit('9').quiet(400).digit('1').digit('9').digit('9');
    expect(turn.asked).toEqual(['#9199']);
    expect(asked(driver().greeted(), 1).digit('9').asked).toEqual(['#9']);
    expect(asked(driver().greeted(), 4).digit('9').quiet(2_100).asked).toEqual(['#9']);
  });

  it('is a digit of an unrequested number', () => {
    const turn = driver().greeted().digit('1').digit('9').quiet(2_100);
    expect(turn.asked).toEqual(['#19']);
  });

  it('is no opt-out behind a number that was complete before it', () => {
    const turn = asked(driver().greeted(), 2).digit('4').digit('5').quiet(200).digit('9').quiet(200);
    expect(turn.kinds).not.toContain('opted-out');
  });

  describe('where the law has it work at any moment', () => {
    const lawful = (): TurnDriver => driver({ keyAtAnyMoment: true }).greeted();

    it('opts out when it is all that was pressed', () => {
      expectEnded(asked(lawful(), 4).digit('9').quiet(2_020));
      expectEnded(asked(lawful(), 4).digit('9').digit('#'));
      expectEnded(asked(lawful(), 1).digit('9'));
    });

    it('stays a digit of a number that goes on', () => {
      const turn = asked(lawful(), 4).digit('9').quiet(1_900).digit('1').quiet(1_900).digit('1').digit('2');
      expect(turn.asked).toEqual(['#9112']);
      expect(turn.quiet(4_000).kinds).not.toContain('opted-out');
    });
  });
});

describe('after an opt-out', () => {
  const later = fc.oneof(
    fc.integer({ min: 20, max: 1_500 }).map((ms) => (turn: TurnDriver) => turn.voice(ms)),
    fc.integer({ min: 20, max: 3_000 }).map((ms) => (turn: TurnDriver) => turn.quiet(ms)),
    fc.tuple(fc.nat(9), fc.constantFrom('', 'yes', 'no wait I did not mean it', REFUSAL)).map(
      ([seg, text]) =>
        (turn: TurnDriver) =>
          turn.partial(seg, text).final(seg, text),
    ),
    fc.constantFrom('1', '9', '#').map((digit) => (turn: TurnDriver) => turn.digit(digit)),
    fc.constantFrom(true, false).map((on) => (turn: TurnDriver) => turn.feed({ type: 'muted', atMs: turn.nowMs, on })),
    fc.constantFrom(true, false).map((on) => (turn: TurnDriver) => turn.feed({ type: 'connecting', on })),
    fc
      .constantFrom('call-started', 'bot-finished', 'reply-played', 'heard-out', 'reattached', 'hang-up-due', 'line-wait-over')
      .map((type) => (turn: TurnDriver) => turn.feed({ type, atMs: turn.nowMs })),
    fc.constant((turn: TurnDriver) => turn.feed({ type: 'bot-started', atMs: turn.nowMs, policy: 'always' })),
    fc.constant((turn: TurnDriver) => turn.feed({ type: 'expect', atMs: turn.nowMs, expectation: { maxDigits: 4 } })),
    fc.constant((turn: TurnDriver) => turn.feed({ type: 'leave-after-reply', reason: 'x', transferTo: '+15550100' })),
    fc.constant((turn: TurnDriver) => turn.feed({ type: 'time-over' })),
    fc.constant((turn: TurnDriver) => turn.feed({ type: 'apologise', phrase: 'apology', reason: 'broken' })),
    fc.constant((turn: TurnDriver) => turn.feed({ type: 'line-lost', reason: 'carrier-lost', graceMs: 100, awayMs: 0 })),
    fc.constant((turn: TurnDriver) =>
      turn.feed({ type: 'last-words', phrase: 'goodbye', reason: 'done', transferTo: '+15550100' }),
    ),
    fc.constant((turn: TurnDriver) => turn.feed({ type: 'bot-sound', atMs: turn.nowMs, sound: 'awaited' })),
  );

  it('brings nothing the dialog back, and the call ends for no other reason', () => {
    fc.assert(
      fc.property(fc.constantFrom(...Object.values(moments)), fc.array(later, { maxLength: 30 }), (given, events) => {
        const turn = given().quiet(300).final(7, REFUSAL).forget();
        for (const act of events) act(turn);
        expect(turn.kinds.filter((kind) => BACK_TO_DIALOG.includes(kind) || kind === 'say-last' || kind === 'transfer')).toEqual(
          [],
        );
        const reasons = turn.effects.flatMap((effect) =>
          effect.type === 'hang-up' || effect.type === 'end-call' ? [effect.reason] : [],
        );
        expect(new Set([...reasons, 'opt-out'])).toEqual(new Set(['opt-out']));
        expect(turn.kinds).not.toContain('opted-out');
      }),
      { numRuns: 200 },
    );
  });
});
