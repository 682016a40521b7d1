import { describe, expect, it } from 'vitest';
import { stepTurn, TURN_RULES, type TurnRules } from '../../../../src/call/turn/turn.ts';
import type { TurnEvent, TurnState } from '../../../../src/call/turn/turn-state.ts';
import { TurnDriver } from '../turn-driver.ts';

type Row = keyof TurnRules;
type EventType = TurnEvent['type'];

const rows: { readonly [Name in Row]: () => TurnDriver } = {
  listening: () => new TurnDriver().greeted(),
  'caller-speaking': () => new TurnDriver().greeted().voice(400),
  settling: () => new TurnDriver().greeted().voice(400).partial(0, 'tuesday').quiet(660),
  keying: () => new TurnDriver().greeted().digit('1'),
  thinking: () => new TurnDriver().greeted().voice(400).quiet(660).final(0, 'tuesday'),
  'bot-speaking': () => new TurnDriver().speaking(),
  answering: () => new TurnDriver().feed({ type: 'dialled-answered', atMs: 0 }),
  leaving: () =>
    new TurnDriver().speaking().feed({ type: 'last-words', phrase: 'goodbye', reason: 'done', transferTo: undefined }),
};
const phases = ['listening', 'caller-speaking', 'settling', 'keying', 'thinking', 'bot-speaking'] as const;
/** Where the bot may be told what to do, and the end of the call may come. */
const open = [...phases, 'answering'] as const;
const everyRow = [...open, 'leaving'] as const;

const every: { readonly [Type in EventType]: true } = {
  frame: true,
  tick: true,
  partial: true,
  final: true,
  'model-answered': true,
  'turn-over': true,
  digit: true,
  expect: true,
  reattached: true,
  'call-started': true,
  'dialled-answered': true,
  'person-answered': true,
  'machine-answered': true,
  'message-due': true,
  'bot-started': true,
  'sentence-started': true,
  'reply-played': true,
  'bot-finished': true,
  'leave-after-reply': true,
  'last-words': true,
  apologise: true,
  'time-over': true,
  'bot-sound': true,
  'heard-out': true,
  'hang-up-due': true,
  'line-wait-over': true,
  'line-lost': true,
  transferred: true,
  connecting: true,
  'transfer-over': true,
  'consult-cancelled': true,
  'agent-accepted': true,
  'answer-optional': true,
  muted: true,
  'asked-again': true,
  'dialog-due': true,
};
const events = Object.keys(every) as readonly EventType[];

/** Events that mean something in one phase alone. */
const ELSEWHERE = ['dialog-due', 'model-answered', 'turn-over', 'person-answered', 'message-due'] as const;
/** Events that mean nothing in a phase, on purpose. */
const ignored: { readonly [Name in Row]: readonly EventType[] } = {
  listening: ['model-answered', 'turn-over', 'person-answered', 'message-due', 'bot-finished', 'answer-optional', 'asked-again'],
  'caller-speaking': ['dialog-due', 'person-answered', 'message-due', 'bot-finished', 'answer-optional', 'asked-again'],
  settling: [...ELSEWHERE, 'bot-finished', 'answer-optional', 'asked-again'],
  keying: [...ELSEWHERE, 'bot-finished', 'answer-optional', 'asked-again'],
  thinking: ELSEWHERE,
  'bot-speaking': [...ELSEWHERE, 'answer-optional'],
  answering: ['dialog-due', 'model-answered', 'turn-over', 'tick', 'digit', 'bot-finished', 'answer-optional', 'asked-again'],
  leaving: [
    'dialog-due',
    'answer-optional',
    'model-answered',
    'turn-over',
    'frame',
    'tick',
    'partial',
    'final',
    'digit',
    'expect',
    'call-started',
    'dialled-answered',
    'person-answered',
    'machine-answered',
    'message-due',
    'bot-started',
    'sentence-started',
    'bot-finished',
    'leave-after-reply',
    'time-over',
    'consult-cancelled',
    'agent-accepted',
    'muted',
    'asked-again',
  ],
};

interface Case {
  readonly in: readonly Row[];
  /** What came before, in this phase. */
  readonly given?: (turn: TurnDriver) => TurnDriver;
  readonly on: (atMs: number) => TurnEvent;
  /** The phase after it; the same where absent. */
  readonly next?: TurnState['phase']['name'];
  readonly effects?: readonly string[];
}

const frame = (voiced: boolean) => (atMs: number) =>
  ({ type: 'frame', frame: { atMs: atMs + 20, cameMs: atMs + 20, voiced, speechLike: voiced ? 1 : 0 } }) as const;
const [voice, quiet] = [frame(true), frame(false)];
const tick = (atMs: number) => ({ type: 'tick', atMs: atMs + 20 }) as const;
const partial =
  (text: string, seg = 7) =>
  (atMs: number) =>
    ({ type: 'partial', atMs, seg, text }) as const;
const final =
  (text: string, seg = 7) =>
  (atMs: number) =>
    ({ type: 'final', atMs, seg, text, endOfUtterance: true }) as const;
const digit = (key: string) => (atMs: number) => ({ type: 'digit', atMs, digit: key }) as const;
const botSays = (type: 'bot-started' | 'sentence-started') => (atMs: number) =>
  ({ type, atMs, policy: 'always', asks: true }) as const;
const timed =
  <
    Type extends
      | 'reattached'
      | 'call-started'
      | 'dialled-answered'
      | 'machine-answered'
      | 'message-due'
      | 'reply-played'
      | 'bot-finished'
      | 'heard-out'
      | 'hang-up-due'
      | 'line-wait-over'
      | 'consult-cancelled'
      | 'asked-again',
  >(
    type: Type,
  ) =>
  (atMs: number) => ({ type, atMs });
const noAgent = (atMs: number) => ({ type: 'transfer-over', atMs, result: { outcome: 'busy', to: '+15550100' } }) as const;
const leave = { type: 'leave-after-reply', reason: 'done' } as const;
const lost = { type: 'line-lost', reason: 'carrier-lost', graceMs: 10_000, awayMs: 0 } as const;
const lastWords = { type: 'last-words', phrase: 'goodbye', reason: 'done', transferTo: undefined } as const;
const played = (turn: TurnDriver) => turn.feed({ type: 'reply-played', atMs: turn.nowMs });
const heard = (turn: TurnDriver) => played(turn).feed({ type: 'heard-out', atMs: turn.nowMs });

const cases: Readonly<Record<string, Case>> = {
  // A caller may begin.
  'a voice takes the floor': { in: ['listening'], given: (turn) => turn.voice(40), on: voice, next: 'caller-speaking' },
  'a silence is told to the dialog': {
    in: ['listening'],
    given: (turn) => turn.quiet(6_980),
    on: quiet,
    next: 'thinking',
    effects: ['ask'],
  },
  'a silence is noticed by time alone': {
    in: ['listening'],
    given: (turn) => turn.quiet(6_980),
    on: tick,
    next: 'thinking',
    effects: ['ask'],
  },
  'a partial takes the floor': { in: ['listening'], on: partial('hello'), next: 'caller-speaking' },
  'a final takes the floor': { in: ['listening'], on: final('hello'), next: 'caller-speaking' },
  'the bot begins to speak': { in: ['listening'], on: botSays('bot-started'), next: 'bot-speaking' },

  // A caller speaks.
  'a model has heard whether the turn is over': {
    in: ['caller-speaking'],
    on: () => ({ type: 'model-answered', lastVoicedMs: 0, likelihood: 1 }),
  },
  'a dialog that hears the caller finds the turn over': {
    in: ['caller-speaking'],
    given: (turn) => turn.voice(400),
    on: (atMs) => ({ type: 'turn-over', atMs }),
    next: 'settling',
    effects: ['commit'],
  },
  'a silence ends the turn': {
    in: ['caller-speaking'],
    given: (turn) => turn.quiet(580),
    on: quiet,
    next: 'settling',
    effects: ['commit'],
  },
  'time alone ends the turn': {
    in: ['caller-speaking'],
    given: (turn) => turn.quiet(580),
    on: tick,
    next: 'settling',
    effects: ['commit'],
  },
  'a caller goes on after the commit': { in: ['settling'], given: (turn) => turn.voice(40), on: voice, next: 'caller-speaking' },
  'the wait for a final ends': {
    in: ['settling'],
    given: (turn) => turn.quiet(1_420),
    on: tick,
    next: 'thinking',
    effects: ['ask'],
  },
  'the last final completes the turn': { in: ['settling'], on: final('tuesday', 0), next: 'thinking', effects: ['ask'] },
  'a partial is noted': { in: ['caller-speaking', 'settling', 'keying', 'thinking'], on: partial('and more') },
  'a final is noted': { in: ['caller-speaking', 'keying'], on: final('and more') },

  // Keys.
  'a key begins an answer': { in: ['listening', 'caller-speaking', 'settling'], on: digit('5'), next: 'keying' },
  'a # ends the keys': { in: ['keying'], on: digit('#'), next: 'thinking', effects: ['ask'] },
  'a pause ends the keys': { in: ['keying'], given: (turn) => turn.quiet(1_980), on: quiet, next: 'thinking', effects: ['ask'] },
  'time alone ends the keys': {
    in: ['keying'],
    given: (turn) => turn.quiet(1_980),
    on: tick,
    next: 'thinking',
    effects: ['ask'],
  },
  'a key replaces what was asked': { in: ['thinking'], on: digit('5'), next: 'keying', effects: ['cancel-reply'] },
  'a caller is told to wait when the dialog is asked once more': {
    in: ['thinking', 'bot-speaking'],
    on: timed('asked-again'),
    effects: ['filler'],
  },
  'a key clears the bot': { in: ['bot-speaking'], on: digit('5'), next: 'keying', effects: ['clear'] },

  // The dialog thinks.
  'a voice takes the turn back': {
    in: ['thinking'],
    given: (turn) => turn.voice(100),
    on: voice,
    next: 'caller-speaking',
    effects: ['cancel-reply'],
  },
  'a long wait is covered': { in: ['thinking'], given: (turn) => turn.quiet(1_480), on: tick, effects: ['filler'] },
  'what was asked need not be answered': { in: ['thinking'], on: () => ({ type: 'answer-optional' }) },
  'a wait for what need not come is not covered': {
    in: ['thinking'],
    given: (turn) => turn.feed({ type: 'answer-optional' }).quiet(20_000),
    on: tick,
  },
  'a voice takes the floor where no answer need come': {
    in: ['thinking'],
    given: (turn) => turn.feed({ type: 'answer-optional' }).voice(100),
    on: voice,
    next: 'caller-speaking',
    effects: ['cancel-reply'],
  },
  'better words ask again': { in: ['thinking'], on: final('tuesday at ten', 0), effects: ['ask-again'] },
  'the reply begins': { in: ['thinking'], on: botSays('sentence-started'), next: 'bot-speaking' },
  'words that nobody asked for begin': { in: ['thinking'], on: botSays('bot-started'), next: 'bot-speaking' },

  // The bot speaks.
  'a voice holds the bot': { in: ['bot-speaking'], given: (turn) => turn.voice(20), on: voice, effects: ['hold'] },
  'more voice clears the bot': {
    in: ['bot-speaking'],
    given: (turn) => turn.voice(100),
    on: voice,
    next: 'caller-speaking',
    effects: ['clear'],
  },
  'a "mm-hm" is over': {
    in: ['bot-speaking'],
    given: (turn) => turn.voice(40).partial(0, 'mm hm').quiet(200),
    on: tick,
    effects: ['commit'],
  },
  'a partial decides': {
    in: ['bot-speaking'],
    given: (turn) => turn.voice(40),
    on: partial('stop that'),
    next: 'caller-speaking',
    effects: ['clear'],
  },
  'a final decides': {
    in: ['bot-speaking'],
    given: (turn) => turn.voice(40),
    on: final('stop that'),
    next: 'caller-speaking',
    effects: ['clear'],
  },
  'a sentence has its own policy': { in: ['bot-speaking'], on: botSays('sentence-started') },
  'a question is open': { in: ['caller-speaking', 'settling', 'keying', 'bot-speaking'], on: botSays('bot-started') },
  'a question of another sentence is open': {
    in: ['listening', 'caller-speaking', 'settling', 'keying'],
    on: botSays('sentence-started'),
  },
  'the caller is expected to speak': { in: ['thinking', 'bot-speaking'], on: timed('reply-played'), next: 'listening' },
  'the bot has nothing left to say': { in: ['thinking', 'bot-speaking'], on: timed('bot-finished'), next: 'listening' },
  'a reply that was cut is over': { in: ['listening', 'caller-speaking', 'settling', 'keying'], on: timed('reply-played') },

  // Who answered a call that we placed.
  'a call that we placed is answered': { in: phases, on: timed('dialled-answered'), next: 'listening' },
  'a call that we placed is answered once': { in: ['answering'], on: timed('dialled-answered') },
  'a machine answered after all': { in: phases, on: timed('machine-answered'), next: 'listening', effects: ['silence'] },
  'another machine answered': { in: ['answering'], on: timed('machine-answered'), effects: ['silence'] },
  'a person who said nothing is greeted': {
    in: ['answering'],
    on: (atMs) => ({ type: 'person-answered', atMs, afterSeg: -1, silences: false }),
    next: 'thinking',
    effects: ['ask'],
  },
  'a person who said hello is greeted': {
    in: ['answering'],
    given: (turn) => turn.voice(400).partial(0, 'hello').quiet(400),
    on: (atMs) => ({ type: 'person-answered', atMs, afterSeg: -1, silences: false }),
    next: 'thinking',
    effects: ['commit', 'ask'],
  },
  'a person comes on while a machine is told something': {
    in: ['answering'],
    given: (turn) => turn.voice(400),
    on: (atMs) => ({ type: 'person-answered', atMs, afterSeg: 2, silences: true }),
    next: 'thinking',
    effects: ['silence', 'commit', 'ask'],
  },
  'the dialog says what is left on a mailbox': {
    in: ['answering'],
    on: timed('message-due'),
    next: 'thinking',
    effects: ['ask'],
  },
  'what is said as the call is answered is noted': { in: ['answering'], on: partial('hello') },
  'a voice is noted as the call is answered': { in: ['answering'], on: voice },
  'all that is said as the call is answered is noted': { in: ['answering'], on: final('hello') },
  'something is said to a machine': { in: ['answering'], on: botSays('bot-started'), next: 'bot-speaking' },
  'another sentence is said to a machine': { in: ['answering'], on: botSays('sentence-started'), next: 'bot-speaking' },
  'what is said to a machine was played': {
    in: ['answering'],
    given: (turn) => turn.feed(botSays('bot-started')(turn.nowMs)),
    on: timed('reply-played'),
    next: 'listening',
  },

  // Whatever the phase.
  'the call asks for its greeting': { in: ['listening'], on: timed('call-started'), next: 'thinking', effects: ['ask'] },
  'the dialog says what it expects': { in: open, on: (atMs) => ({ type: 'expect', atMs, expectation: { maxDigits: 4 } }) },
  'a mute silences the bot': {
    in: ['thinking', 'bot-speaking'],
    on: (atMs) => ({ type: 'muted', atMs, on: true }),
    next: 'listening',
    effects: ['silence'],
  },
  'a mute lets the caller go on': {
    in: ['listening', 'caller-speaking', 'settling', 'keying', 'answering'],
    on: (atMs) => ({ type: 'muted', atMs, on: true }),
    effects: ['silence'],
  },
  'the line is back': { in: everyRow, given: (turn) => turn.feed(lost), on: timed('reattached') },

  // The end of the call.
  'the bot means to leave': { in: open, on: () => leave },
  'last words are said': { in: open, on: () => lastWords, effects: ['say-last'] },
  'last words are said once': { in: ['leaving'], on: () => lastWords },
  'an apology is said': {
    in: open,
    on: () => ({ type: 'apologise', phrase: 'apology', reason: 'broken' }),
    effects: ['say-last'],
  },
  'last words that break are cut short': {
    in: ['leaving'],
    on: () => ({ type: 'apologise', phrase: 'apology', reason: 'broken' }),
    effects: ['hang-up'],
  },
  'the goodbye of a call that is too long': { in: open, on: () => ({ type: 'time-over' }), effects: ['say-last'] },
  'a goodbye was played': { in: ['leaving'], on: timed('reply-played') },
  'a goodbye was heard out': { in: ['leaving'], given: played, on: timed('heard-out'), effects: ['start-timer'] },
  'a reply that ends the call was heard out': {
    in: open,
    given: (turn) => played(turn.feed(leave)),
    on: timed('heard-out'),
    effects: ['start-timer'],
  },
  'nothing is heard out that ends no call': { in: open, on: timed('heard-out') },
  'the bot hangs up': {
    in: ['leaving', 'bot-speaking', 'listening', 'answering'],
    given: (turn) => heard(turn.feed(leave)),
    on: timed('hang-up-due'),
    effects: ['hang-up'],
  },
  'nobody is hung up on who speaks': {
    in: ['caller-speaking', 'settling', 'keying'],
    given: (turn) => heard(turn.feed(leave)),
    on: timed('hang-up-due'),
    effects: ['start-timer'],
  },
  'nobody is hung up on who was answered': { in: ['thinking'], on: timed('hang-up-due') },
  'a sound that does not come': {
    in: ['thinking', 'bot-speaking'],
    given: (turn) => turn.feed({ type: 'bot-sound', atMs: turn.nowMs - 5_000, sound: 'synthesizing' }),
    on: (atMs) => ({ type: 'bot-sound', atMs, sound: 'synthesizing' }),
    effects: ['stalled'],
  },
  'last words that do not come': {
    in: ['leaving'],
    given: (turn) => turn.feed({ type: 'bot-sound', atMs: turn.nowMs - 5_000, sound: 'awaited' }),
    on: (atMs) => ({ type: 'bot-sound', atMs, sound: 'awaited' }),
    effects: ['hang-up'],
  },
  'a silence of the bot while the caller has the floor': {
    in: ['listening', 'caller-speaking', 'settling', 'keying', 'answering'],
    given: (turn) => turn.feed({ type: 'bot-sound', atMs: turn.nowMs - 20_000, sound: 'awaited' }),
    on: (atMs) => ({ type: 'bot-sound', atMs, sound: 'awaited' }),
  },
  'a line that is lost is waited for': { in: open, on: () => lost, effects: ['start-timer'] },
  'a line that is lost after last words ends the call': { in: ['leaving'], on: () => lost, effects: ['end-call'] },
  'a line that stays away ends the call': {
    in: open,
    given: (turn) => turn.feed(lost),
    on: timed('line-wait-over'),
    effects: ['end-call'],
  },
  'a wait for a line that is there': { in: ['leaving'], on: timed('line-wait-over') },
  'the carrier has the caller': { in: everyRow, on: () => ({ type: 'transferred', graceMs: 1_500 }), effects: ['start-timer'] },
  'an agent who is not wanted any more': { in: open, on: timed('consult-cancelled') },
  'an agent who takes a call that nobody passes on': { in: open, on: () => ({ type: 'agent-accepted' }) },
  'an agent who takes the call': {
    in: ['listening'],
    given: (turn) =>
      turn
        .feed({ ...leave, transferTo: '+15550100', warm: true })
        .feed({ type: 'bot-started', atMs: turn.nowMs, policy: 'always' })
        .feed({ type: 'reply-played', atMs: turn.nowMs }),
    on: () => ({ type: 'agent-accepted' }),
    effects: ['silence'],
  },
  'the dialog has something to tell': {
    in: ['listening'],
    on: (atMs) => ({ type: 'dialog-due', atMs, tool: 'check_stock' }),
    next: 'thinking',
    effects: ['ask'],
  },
  'what came of a transfer': { in: ['listening'], on: noAgent, next: 'thinking', effects: ['ask'] },
  'what came of a transfer waits until nobody else has the floor': {
    in: everyRow.filter((row) => row !== 'listening'),
    on: noAgent,
  },
  'a supervisor has the caller connected': { in: everyRow, on: () => ({ type: 'connecting', on: true }) },
};

const walked = Object.entries(cases).flatMap(([note, one]) => one.in.map((row) => ({ note, row, ...one })));

describe('the table of phases and events', () => {
  it.each(everyRow)('has a rule for each event that is not ignored on purpose in %s', (row) => {
    const without = events.filter((type) => TURN_RULES[row][type] === undefined);
    expect(without).toEqual(events.filter((type) => ignored[row].includes(type)));
  });

  it('is walked whole: each rule has a case', () => {
    const seen = new Set(walked.map(({ row, on }) => `${row} ${on(0).type}`));
    // The greeting is asked for in whatever phase a call is started, which is one of them only.
    const started = open.map((row) => `${row} call-started`);
    const rules = everyRow.flatMap((row) =>
      events.filter((type) => TURN_RULES[row][type] !== undefined).map((type) => `${row} ${type}`),
    );
    expect(rules.filter((pair) => !seen.has(pair) && !started.includes(pair))).toEqual([]);
  });

  it.each(walked)('in $row: $note', ({ row, given, on, next, effects = [] }) => {
    const turn = rows[row]();
    given?.(turn);
    const before = turn.state.phase.name;
    turn.forget().feed(on(turn.nowMs));
    expect([turn.state.phase.name, turn.kinds]).toEqual([next ?? before, effects]);
  });

  it.each(everyRow.flatMap((row) => ignored[row].map((type) => ({ row, type }))))('ignores $type in $row', ({ row, type }) => {
    const { state, settings, nowMs } = rows[row]();
    const sample = [voice, tick, partial('x'), final('x'), digit('1'), ...walked.map(({ on }) => on)].find(
      (on) => on(0).type === type,
    );
    expect(sample).toBeDefined();
    if (sample === undefined) return;
    const { state: after, effects } = stepTurn(settings, state, sample(nowMs));
    // Opt-outs are listened for in every phase; they come before the table.
    expect([{ ...after, optOut: state.optOut }, effects]).toEqual([state, []]);
  });
});
