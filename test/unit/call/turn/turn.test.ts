import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { DEFAULT_TURN_SETTINGS } from '../../../../src/call/turn/turn-settings.ts';
import { TurnDriver } from '../turn-driver.ts';

describe('the end of a turn', () => {
  it('commits after the endpointing silence and asks on the final that ends the utterance', () => {
    const turn = new TurnDriver().greeted().voice(600).partial(0, 'book').quiet(580);
    expect(turn.kinds).toEqual([]);
    turn.quiet(20);
    expect(turn.kinds).toEqual(['commit']);
    turn.final(0, 'book an appointment');
    expect(turn.asked).toEqual(['book an appointment']);
    expect(turn.state.phase.name).toBe('thinking');
  });

  it('counts the silence from the last voiced frame', () => {
    const turn = new TurnDriver().greeted().voice(400).quiet(500).voice(200).quiet(660);
    const commit = turn.effects[0];
    expect(commit).toMatchObject({ type: 'commit', lastVoicedMs: 1_000 + 400 + 500 + 200 });
  });

  it('uses the silence that the question asks for', () => {
    const turn = new TurnDriver().greeted();
    turn.feed({ type: 'expect', atMs: 0, expectation: { endpointingMs: 1_200 } });
    expect(turn.voice(400).quiet(1_180).kinds).toEqual([]);
    expect(turn.quiet(20).kinds).toEqual(['commit']);
  });

  it('without an end mark asks on a non-empty final that covers the last voiced sample', () => {
    const turn = new TurnDriver().greeted().voice(400).quiet(660).final(0, 'tuesday', 'unmarked');
    expect(turn.asked).toEqual(['tuesday']);
  });

  it('takes a final that came before the commit, from an endpoint that raced it', () => {
    const turn = new TurnDriver().greeted().voice(400).quiet(300).final(0, 'tuesday', 'unmarked').quiet(400);
    expect(turn.kinds).toEqual(['commit', 'ask']);
    expect(turn.asked).toEqual(['tuesday']);
  });

  it('takes the partial as provisional when the final is late, and asks again with better words', () => {
    const turn = new TurnDriver().greeted().voice(400).partial(0, 'tuesday').quiet(660).quiet(1_500);
    expect(turn.asked).toEqual(['tuesday']);
    turn.final(0, 'tuesday ten', 'unmarked');
    expect(turn.asked).toEqual(['tuesday', 'tuesday ten']);
  });

  it('waits for the final as long when the silence before the commit came late', () => {
    const turn = new TurnDriver().greeted().voice(400).partial(0, 'monday').quiet(660).final(0, 'monday', 'unmarked').quiet(100);
    turn.feed({ type: 'bot-started', atMs: turn.nowMs, policy: 'always' }).feed({ type: 'bot-finished', atMs: turn.nowMs });
    turn.forget().voice(400).partial(1, 'tuesday').quiet(300).lateQuiet(480);
    expect(turn.kinds).toEqual(['commit']);
    expect(turn.quiet(380).asked).toEqual([]);
    expect(turn.quiet(40).asked).toEqual(['tuesday']);
  });

  it('only amends the history when the late final finds the reply being heard', () => {
    const turn = new TurnDriver().greeted().voice(400).partial(0, 'tuesday').quiet(2_160);
    turn.feed({ type: 'bot-started', atMs: turn.nowMs, policy: 'always' }).forget();
    turn.final(0, 'tuesday ten', 'unmarked');
    expect(turn.kinds).toEqual(['amend-history']);
  });

  it('does not ask twice for a late final with the same words', () => {
    const turn = new TurnDriver()
      .greeted()
      .voice(400)
      .partial(0, 'Tuesday at ten')
      .quiet(2_160)
      .final(0, 'tuesday at ten.', 'unmarked');
    expect(turn.asked).toEqual(['Tuesday at ten']);
  });

  it('ignores empty finals while words are expected', () => {
    const turn = new TurnDriver().greeted().voice(400).partial(0, 'yes').quiet(660).final(0, '', 'unmarked');
    expect(turn.asked).toEqual([]);
    expect(turn.final(1, 'yes', 'unmarked').asked).toEqual(['yes']);
  });

  it('joins several finals of one turn in order', () => {
    const turn = new TurnDriver().greeted().voice(400).final(0, 'tuesday', false).voice(400).quiet(660).final(1, 'at ten');
    expect(turn.asked).toEqual(['tuesday at ten']);
  });

  it('waits for the answer to every commit when the caller went on after the first', () => {
    const turn = new TurnDriver().greeted().final(0, '', true).voice(400).quiet(660).voice(400).quiet(660);
    expect(turn.kinds.filter((kind) => kind === 'commit')).toHaveLength(2);
    expect(turn.final(1, 'on tuesday').asked).toEqual([]);
    expect(turn.final(2, 'at ten').asked).toEqual(['on tuesday at ten']);
  });

  it('ends a turn on words that stand still although the line is never silent', () => {
    const turn = new TurnDriver().greeted().voice(600).partial(0, 'yes please').noise(2_520);
    expect(turn.kinds).toContain('commit');
  });

  it('caps the length of a turn', () => {
    expect(new TurnDriver().greeted().voice(30_100).kinds).toContain('commit');
  });

  it('hears a caller who is too quiet for the voice detector by the words alone', () => {
    const turn = new TurnDriver().greeted().quiet(200).partial(0, 'hello').quiet(660).final(0, 'hello');
    expect(turn.asked).toEqual(['hello']);
  });

  it('asks with empty words for speech that was not understood', () => {
    expect(new TurnDriver().greeted().voice(900).quiet(660).final(0, '').asked).toEqual(['']);
  });

  it('takes a short sound without words for nothing', () => {
    const turn = new TurnDriver().greeted().noise(80).quiet(700);
    expect(turn.kinds).toEqual([]);
    expect(turn.noise(240).quiet(660).final(0, '').asked).toEqual([]);
    expect(turn.state.phase.name).toBe('listening');
  });

  it('gives up waiting for words in the end, so that no caller is left in silence', () => {
    const turn = new TurnDriver().greeted().voice(900).quiet(660).quiet(5_000);
    expect(turn.asked).toEqual(['']);
  });

  it('covers a long wait for words with a filler, once', () => {
    const turn = new TurnDriver().greeted().voice(900).quiet(660).quiet(2_000);
    expect(turn.effects.filter(({ type }) => type === 'filler')).toEqual([{ type: 'filler', waitingFor: 'words' }]);
  });
});

describe('a caller who goes on speaking', () => {
  it('says nothing into what an interruption cut, which may go on yet', () => {
    const turn = new TurnDriver({ settlingFillerMs: 700 }).speaking().voice(600).quiet(3_000);
    expect(turn.kinds).toContain('commit');
    expect(turn.kinds).not.toContain('filler');
  });

  it('takes the turn back while nothing of the reply was heard, and asks with all the words', () => {
    const turn = new TurnDriver().greeted().voice(400).quiet(660).final(0, 'on tuesday');
    turn.forget().voice(300);
    expect(turn.kinds).toEqual(['cancel-reply']);
    turn.quiet(660).final(1, 'at ten');
    expect(turn.asked).toEqual(['on tuesday at ten']);
  });

  it('does not take the greeting back', () => {
    const turn = new TurnDriver();
    turn.feed({ type: 'call-started', atMs: turn.nowMs }).forget();
    expect(turn.voice(600).kinds).toEqual([]);
  });
});

describe('interruptions', () => {
  it('holds within 60 ms of voice and clears within 160 ms', () => {
    const turn = new TurnDriver().speaking();
    turn.voice(60);
    expect(turn.kinds).toEqual(['hold']);
    turn.voice(100);
    expect(turn.kinds).toEqual(['hold', 'clear']);
    expect(turn.state.phase).toMatchObject({ name: 'caller-speaking', interrupted: true });
  });

  test.each([100, 240, 350])('a cough of %i ms is held and resumed, not taken for an interruption', (coughMs) => {
    const turn = new TurnDriver().speaking().noise(coughMs).quiet(300);
    // Again and again where it lasts, and each time for less than the carrier has to play.
    expect(turn.kinds.join(' ')).toMatch(/^hold resume( hold resume)?$/u);
    expect(turn.state.phase).toMatchObject({ name: 'bot-speaking', contest: undefined });
  });

  it('does not even hold for a click', () => {
    expect(new TurnDriver().speaking().noise(20).quiet(300).kinds).toEqual([]);
  });

  it('decides an undecided contest for the bot', () => {
    const turn = new TurnDriver().speaking();
    for (let index = 0; index < 30; index += 1) turn.noise(20).quiet(20);
    expect(turn.kinds).toContain('resume');
    expect(turn.kinds).not.toContain('clear');
  });

  it('lets a recognised word decide a contest', () => {
    const turn = new TurnDriver().speaking().noise(60).partial(0, 'stop');
    expect(turn.kinds).toEqual(['hold', 'clear']);
  });

  it('speaks on when the interruption turned out to be nothing', () => {
    const turn = new TurnDriver().speaking().voice(300).quiet(240);
    expect(turn.kinds).toEqual(['hold', 'clear', 'commit', 'restore']);
    expect(turn.state.phase.name).toBe('bot-speaking');
    expect(turn.final(0, '').quiet(1_000).kinds).toHaveLength(4);
  });

  it('gives the floor after all to words that come when it has spoken on', () => {
    const turn = new TurnDriver().speaking().voice(300).quiet(300).final(0, 'tuesday');
    expect(turn.kinds).toEqual(['hold', 'clear', 'commit', 'restore', 'clear']);
    expect(turn.quiet(700).final(1, '').asked).toEqual(['tuesday']);
  });

  it('waits for the words of an interruption that sounded like speech', () => {
    expect(new TurnDriver().speaking().voice(700).quiet(560).kinds).toEqual(['hold', 'clear']);
  });

  it('is not held up by breath, however long, nor stopped by a hiss before a little voice', () => {
    const breath = new TurnDriver().speaking().noise(1_000).quiet(400);
    expect(breath.kinds).not.toContain('clear');
    expect(breath.kinds.at(-1)).toBe('resume');
    expect(new TurnDriver().speaking().noise(160).voice(40).quiet(400).kinds).toEqual(['hold', 'resume']);
    expect(new TurnDriver().speaking().noise(160).voice(60).kinds).toEqual(['hold', 'clear']);
  });

  it('speaks on over the rest of a cough that began with a little voice', () => {
    const cough = new TurnDriver().speaking().voice(140).noise(600).quiet(200);
    expect(cough.kinds).toEqual(['hold', 'clear', 'commit', 'restore', 'hold', 'resume']);
  });

  it('asks again after a long interruption that was not understood', () => {
    const turn = new TurnDriver().speaking().voice(1_000).quiet(660).final(0, '');
    expect(turn.asked).toEqual(['']);
  });

  test.each(['keypad', 'never'] as const)('keeps what was said over a bot that voice may not interrupt (%s)', (policy) => {
    const turn = new TurnDriver().speaking(policy).voice(600).partial(0, 'tuesday').quiet(200);
    expect(turn.kinds).toEqual([]);
    turn.feed({ type: 'bot-finished', atMs: turn.nowMs }).quiet(700).final(0, 'tuesday');
    expect(turn.asked).toEqual(['tuesday']);
  });

  it('keeps the floor with a caller who is still speaking when the bot ends', () => {
    const turn = new TurnDriver().speaking().voice(60);
    turn.feed({ type: 'bot-finished', atMs: turn.nowMs });
    expect(turn.state.phase.name).toBe('caller-speaking');
  });
});

describe('keys', () => {
  it('clears the bot at once and asks when the expected number is there', () => {
    const turn = new TurnDriver().speaking('keypad');
    turn.feed({ type: 'expect', atMs: 0, expectation: { maxDigits: 1 } }).digit('2');
    expect(turn.kinds).toEqual(['clear', 'ask']);
    expect(turn.asked).toEqual(['#2']);
  });

  it('closes a keyed answer with the hash key or after the pause between keys', () => {
    expect(new TurnDriver().greeted().digit('4').digit('2').digit('#').asked).toEqual(['#42']);
    const turn = new TurnDriver().greeted().digit('4').quiet(1_900).digit('2').quiet(1_980);
    expect(turn.asked).toEqual([]);
    expect(turn.quiet(40).asked).toEqual(['#42']);
  });

  it('commits the words before the keys, so that the next turn begins with none of them', () => {
    const turn = new TurnDriver().greeted().voice(300).partial(0, 'uh it is').quiet(200);
    turn.digit('1').digit('2').digit('#');
    expect(turn.kinds).toEqual(['commit', 'ask']);
    turn.final(0, 'uh it is').feed({ type: 'bot-started', atMs: turn.nowMs, policy: 'always' }).quiet(500);
    turn.feed({ type: 'bot-finished', atMs: turn.nowMs }).forget();
    turn.voice(400).partial(1, 'yes please').quiet(660).final(1, 'yes please');
    expect(turn.asked).toEqual(['yes please']);
  });

  it('commits them as well where the turn is kept, since the bot is muted', () => {
    const turn = new TurnDriver().greeted().feed({ type: 'muted', atMs: 1_000, on: true }).forget();
    turn.partial(0, 'hello').digit('4').digit('#');
    expect(turn.kinds).toEqual(['commit', 'keep-turn']);
  });

  it('keeps keys that may not interrupt for the next turn', () => {
    const turn = new TurnDriver().speaking('never').digit('7');
    expect(turn.kinds).toEqual([]);
    turn.feed({ type: 'bot-finished', atMs: turn.nowMs }).quiet(2_020);
    expect(turn.asked).toEqual(['#7']);
  });
});

describe('silence and slowness', () => {
  it('counts silent turns and starts over when the caller answers', () => {
    const turn = new TurnDriver().greeted().quiet(7_000);
    expect(turn.asked).toEqual(['(no input 1)']);
    turn.feed({ type: 'bot-started', atMs: turn.nowMs, policy: 'always' }).feed({ type: 'bot-finished', atMs: turn.nowMs });
    expect(turn.quiet(7_000).asked).toEqual(['(no input 1)', '(no input 2)']);
    turn.feed({ type: 'bot-started', atMs: turn.nowMs, policy: 'always' }).feed({ type: 'bot-finished', atMs: turn.nowMs });
    turn.voice(400).quiet(660).final(0, 'yes');
    turn.feed({ type: 'bot-started', atMs: turn.nowMs, policy: 'always' }).feed({ type: 'bot-finished', atMs: turn.nowMs });
    expect(turn.quiet(7_000).asked.at(-1)).toBe('(no input 1)');
  });

  it('covers a slow dialog with a filler and reports one that never answers', () => {
    const turn = new TurnDriver().greeted().voice(400).quiet(660).final(0, 'yes').forget().quiet(10_040);
    expect(turn.kinds).toEqual(['filler', 'dialog-failed']);
  });

  it('does all of this on ticks alone, when the carrier sends nothing', () => {
    const turn = new TurnDriver().greeted().voice(400);
    for (let passed = 0; passed < 700; passed += 20) turn.feed({ type: 'tick', atMs: (turn.nowMs += 20) });
    expect(turn.kinds).toEqual(['commit']);
  });
});

describe('whatever happens', () => {
  const event = fc.oneof(
    fc.integer({ min: 20, max: 1_500 }).map((ms) => (turn: TurnDriver) => turn.voice(ms)),
    fc.integer({ min: 20, max: 1_500 }).map((ms) => (turn: TurnDriver) => turn.noise(ms)),
    fc.integer({ min: 20, max: 3_000 }).map((ms) => (turn: TurnDriver) => turn.quiet(ms)),
    fc.tuple(fc.nat(6), fc.constantFrom('', 'yes', 'tuesday at ten')).map(
      ([seg, text]) =>
        (turn: TurnDriver) =>
          turn.partial(seg, text),
    ),
    fc
      .tuple(
        fc.nat(6),
        fc.constantFrom('', 'yes', 'tuesday at ten'),
        fc.constantFrom<boolean | 'unmarked'>(true, false, 'unmarked'),
      )
      .map(
        ([seg, text, last]) =>
          (turn: TurnDriver) =>
            turn.final(seg, text, last),
      ),
    fc.constantFrom('1', '#').map((digit) => (turn: TurnDriver) => turn.digit(digit)),
    fc
      .constantFrom('always', 'keypad', 'never')
      .map((policy) => (turn: TurnDriver) => turn.feed({ type: 'bot-started', atMs: turn.nowMs, policy })),
    fc.constant((turn: TurnDriver) => turn.feed({ type: 'bot-finished', atMs: turn.nowMs })),
  );

  it('asks the dialog within a bounded time once the line is quiet: no silence without an end', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 25 }), (events) => {
        const turn = new TurnDriver();
        turn.feed({ type: 'call-started', atMs: turn.nowMs });
        for (const act of events) act(turn);
        turn.feed({ type: 'bot-finished', atMs: turn.nowMs }).forget();
        for (let passed = 0; passed < 16_000; passed += 20) {
          turn.quiet(20);
          // An interruption that was nothing is taken back; what is left of the reply is soon played.
          if (turn.state.phase.name === 'bot-speaking') turn.feed({ type: 'bot-finished', atMs: turn.nowMs });
        }
        expect(turn.kinds.some((kind) => kind === 'ask' || kind === 'dialog-failed')).toBe(true);
      }),
      { numRuns: 150 },
    );
  });

  it('never clears or holds a bot that is not speaking, and resumes only what it held', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 25 }), (events) => {
        const turn = new TurnDriver();
        turn.feed({ type: 'call-started', atMs: turn.nowMs });
        for (const act of events) {
          const before = turn.state.phase.name;
          turn.forget();
          act(turn);
          const heldAt = turn.kinds.indexOf('hold');
          if (heldAt !== -1 && !turn.kinds.slice(0, heldAt).includes('restore')) expect(before).toBe('bot-speaking');
          const holds = turn.kinds.filter((kind) => kind === 'hold').length;
          const resumes = turn.kinds.filter((kind) => kind === 'resume').length;
          expect(resumes).toBeLessThanOrEqual(holds + 1);
        }
      }),
      { numRuns: 150 },
    );
  });
});

describe('what must not get lost', () => {
  it('joins the keys pressed before the greeting could be interrupted with the ones that interrupt it', () => {
    const turn = new TurnDriver().feed({ type: 'call-started', atMs: 1_000 }).digit('1');
    turn.feed({ type: 'bot-started', atMs: 1_000, policy: 'always' });
    turn.digit('2').quiet(2_000);
    expect(turn.asked).toEqual(['(start)', '#12']);
  });

  it('takes the # after a complete keyed answer for its end, not for another answer', () => {
    const turn = new TurnDriver().greeted().feed({ type: 'expect', atMs: 0, expectation: { maxDigits: 2 } });
    turn.digit('1').quiet(100).digit('2').quiet(300).digit('#').quiet(1_000);
    expect(turn.asked).toEqual(['#12']);
    expect(turn.kinds).not.toContain('cancel-reply');
  });

  it('keeps the words that come while the bot asks whether anyone is there', () => {
    const turn = new TurnDriver().greeted().quiet(7_000).final(0, 'yes I am');
    turn.feed({ type: 'bot-started', atMs: turn.nowMs, policy: 'always' });
    turn.feed({ type: 'bot-finished', atMs: turn.nowMs });
    turn.quiet(1_000).final(1, '');
    expect(turn.asked).toEqual(['(no input 1)', 'yes I am']);
  });

  it('keeps words said too softly while the bot thinks when the caller then goes on aloud', () => {
    const turn = new TurnDriver().greeted().voice(400).quiet(640).final(0, 'on tuesday').noise(60).final(1, 'or friday', false);
    turn.quiet(300).voice(400).quiet(640).final(2, 'at ten');
    expect(turn.asked.at(-1)).toBe('on tuesday or friday at ten');
  });

  it('takes one turn back once, although a filler is cut off after it', () => {
    const turn = new TurnDriver()
      .greeted()
      .voice(200)
      .partial(0, 'on tuesday')
      .quiet(640 + 1_600);
    turn
      .voice(400)
      .quiet(640 + 800)
      .voice(200);
    const cancels = turn.effects.filter((effect) => effect.type === 'cancel-reply');
    expect(cancels.map(({ takesBack }) => takesBack)).toEqual([true, false]);
  });

  it('does not wait for ever after for the answer to a commit that was lost', () => {
    const turn = new TurnDriver().greeted().voice(400).quiet(640).final(0, 'one', false).quiet(6_000);
    turn.feed({ type: 'bot-started', atMs: turn.nowMs, policy: 'always' });
    turn.feed({ type: 'bot-finished', atMs: turn.nowMs }).forget();
    turn.quiet(1_000).voice(400).quiet(640).final(1, 'two');
    expect(turn.asked).toEqual(['two']);
  });
});

describe('a caller who thinks of an answer', () => {
  it('is asked all of it where the guess of an "um" becomes more', () => {
    const turn = new TurnDriver().greeted().voice(500).partial(0, 'um').quiet(2_400).final(0, 'Um, Tuesday at ten.').quiet(700);
    expect(turn.final(1, '').asked).toEqual(['Um, Tuesday at ten.']);
  });

  it.each(['Um.', 'uh, hmm', 'Well, let me see.', 'हम्म'])('is not asked what %j means', (text) => {
    const turn = new TurnDriver().greeted().voice(500).partial(0, text).quiet(1_300).final(0, text).quiet(1_500);
    expect(turn.asked).toEqual([]);
    turn.voice(400).quiet(660).final(1, 'on tuesday');
    expect(turn.asked).toEqual(['on tuesday']);
  });

  it('is asked again where nothing follows', () => {
    const turn = new TurnDriver().greeted().voice(500).quiet(660).final(0, 'um').quiet(7_020);
    expect(turn.asked).toEqual(['(no input 1)']);
  });

  it('stops no bot by that for good', () => {
    const turn = new TurnDriver().speaking().voice(700).partial(0, 'um').quiet(1_300).final(0, 'Um.');
    expect(turn.kinds).toEqual(['hold', 'clear', 'commit', 'restore']);
  });

  it('is understood where more is said', () => {
    expect(new TurnDriver().greeted().voice(500).quiet(660).final(0, 'um, tuesday').asked).toEqual(['um, tuesday']);
    expect(new TurnDriver({ askEarlyMs: 240 }).greeted().voice(500).partial(0, 'um').quiet(600).kinds).not.toContain('ask-early');
  });
});

describe('words of listening', () => {
  const speakingWithAQuestion = (): TurnDriver => {
    const turn = new TurnDriver().speaking();
    return turn.feed({ type: 'expect', atMs: 0, expectation: {} });
  };

  it('let the bot speak on when they come while it tells something', () => {
    const turn = new TurnDriver().speaking().voice(300).partial(0, 'Mm-hm, okay.').quiet(320);
    expect(turn.kinds).toEqual(['hold', 'clear', 'commit', 'restore']);
    expect(turn.state.phase.name).toBe('bot-speaking');
  });

  it('open no turn, however late their final comes, and the next words do', () => {
    const turn = new TurnDriver().speaking().voice(300).partial(0, 'okay').quiet(320);
    turn.feed({ type: 'bot-finished', atMs: turn.nowMs }).forget();
    turn.quiet(200).final(0, 'okay');
    expect(turn.kinds).toEqual([]);
    expect(turn.voice(400).quiet(660).final(1, 'tuesday').asked).toEqual(['tuesday']);
  });

  it('do not keep the floor when the voice alone did not take it', () => {
    const turn = new TurnDriver().speaking().voice(80).quiet(200).partial(0, 'mm hm').quiet(300);
    expect(turn.feed({ type: 'tick', atMs: turn.nowMs }).kinds).toEqual(['hold', 'resume', 'commit']);
    turn.feed({ type: 'bot-finished', atMs: turn.nowMs });
    expect(turn.state.phase.name).toBe('listening');
  });

  it('are the answer where something was asked, if they can be one', () => {
    const yes = speakingWithAQuestion().voice(300).partial(0, 'yes').quiet(660).final(0, 'yes');
    expect(yes.asked).toEqual(['yes']);
    const hm = speakingWithAQuestion().voice(300).partial(0, 'hmm').quiet(320);
    expect(hm.kinds).toContain('restore');
  });

  it('are the answer once the bot has begun to ask a question, whatever it says behind that', () => {
    const turn = new TurnDriver().speaking();
    for (const asks of [true, false]) turn.feed({ type: 'sentence-started', atMs: turn.nowMs, policy: 'always', asks });
    turn.voice(340).partial(0, 'yes').quiet(660).final(0, 'yes');
    expect(turn.asked).toEqual(['yes']);
  });

  it('are the answer to a question that follows a silence, when the dialog has ended without asking for anything', () => {
    const turn = new TurnDriver().speaking().feed({ type: 'sentence-started', atMs: 1_000, policy: 'always', asks: true });
    turn.feed({ type: 'expect', atMs: 0, expectation: undefined }).voice(340).partial(0, 'yes').quiet(660).final(0, 'yes');
    expect(turn.asked).toEqual(['yes']);
  });

  it('turn nothing any more once their time is over, or other words follow', () => {
    const late = new TurnDriver().speaking().voice(1_300).quiet(240).partial(0, 'okay').quiet(100);
    expect(late.kinds).not.toContain('restore');
    const more = new TurnDriver().speaking().voice(300).partial(0, 'okay').quiet(160).partial(0, 'okay not').quiet(500);
    expect(more.final(0, 'okay not monday').asked).toEqual(['okay not monday']);
  });
});

describe('stop phrases', () => {
  const interruption = { ...DEFAULT_TURN_SETTINGS.interruption, stopPhrases: ['stop', 'एक मिनट'] };

  it('stop the bot although no voice was loud enough to be noticed', () => {
    const turn = new TurnDriver({ interruption }).speaking().quiet(2_000).partial(0, 'Please stop!');
    expect(turn.effects).toMatchObject([{ type: 'clear', by: 'words' }]);
    expect(new TurnDriver({ interruption }).speaking().quiet(2_000).partial(0, 'ज़रा एक मिनट').kinds).toEqual(['clear']);
  });

  it('are whole words, and respect what may not be interrupted', () => {
    expect(new TurnDriver({ interruption }).speaking().quiet(2_000).partial(0, 'unstoppable').kinds).toEqual([]);
    expect(new TurnDriver({ interruption }).speaking('never').quiet(2_000).partial(0, 'stop').kinds).toEqual([]);
  });
});

it('a caller who is not there is given up after the silences that the dialog was told of', () => {
  const turn = new TurnDriver({ noInputAttempts: 2 }).greeted();
  for (let silences = 0; silences < 2; silences += 1) {
    turn.quiet(7_020);
    turn.feed({ type: 'bot-started', atMs: turn.nowMs, policy: 'always' });
    turn.feed({ type: 'bot-finished', atMs: turn.nowMs });
  }
  expect(turn.asked).toEqual(['(no input 1)', '(no input 2)']);
  expect(turn.quiet(7_020).effects.at(-1)).toEqual({ type: 'give-up', reason: 'no-input' });
});
