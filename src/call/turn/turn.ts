import { waitingWords } from './backchannel.ts';
import { DEFAULT_ENDPOINTING } from './endpointing.ts';
import { onFrame } from './turn-hearing.ts';
import { onFinal, onPartial } from './turn-words.ts';
import { afterTime, ask, dropBackchannel, keyed, NO_EFFECTS } from './turn-steps.ts';
import { DEFAULT_INTERRUPTION, type Interruptible, mayInterrupt, NO_EVIDENCE } from './interruption.ts';
import { hasWords, NO_WORDS, provisionalText } from './transcript.ts';
import type { Expectation, Phase, Step, TurnEvent, TurnSettings, TurnState } from './turn-state.ts';
import { NO_VALUES } from './value-reader.ts';

/** The product's numbers; whoever asks for values brings a reader for them. */
export const DEFAULT_TURN_SETTINGS: TurnSettings = {
  endpointing: DEFAULT_ENDPOINTING,
  interruption: DEFAULT_INTERRUPTION,
  noInputMs: 7_000,
  noInputAttempts: 4,
  interDigitMs: 2_000,
  settlingFillerMs: 700,
  thinkingFillerMs: 1_500,
  thinkingLimitMs: 10_000,
  askEarlyMs: undefined,
  reader: NO_VALUES,
};

/** The state before the call has started: nothing heard, nothing asked. */
export function initialTurn(): TurnState {
  return {
    phase: { name: 'listening', sinceMs: Number.POSITIVE_INFINITY },
    hearing: {
      recent: 0,
      burst: NO_EVIDENCE,
      burstSinceMs: undefined,
      lastVoicedMs: undefined,
      lastPitchedMs: undefined,
      pauseMs: undefined,
    },
    words: NO_WORDS,
    wordsChangedMs: undefined,
    early: undefined,
    asked: undefined,
    askedSeg: -1,
    droppedSeg: -1,
    noInputs: 0,
    commitsOutstanding: 0,
    lastCommitMs: undefined,
    marksEndOfUtterance: false,
    pendingDigits: '',
    expectation: {},
    muted: false,
    pauses: [],
    settlings: [],
  };
}

/**
 * The turn machine: who has the floor, and what follows from what just happened. Pure: times come with the events, and
 * everything to be done comes back as effects, in order.
 */
export function stepTurn(settings: TurnSettings, state: TurnState, event: TurnEvent): Step {
  switch (event.type) {
    case 'frame':
      return onFrame(settings, state, event.frame);
    case 'tick':
      return afterTime(settings, state, event.atMs);
    case 'partial':
      return onPartial(settings, state, event);
    case 'final':
      return onFinal(settings, state, event);
    case 'digit':
      return onDigit(settings, state, event.atMs, event.digit);
    case 'expect':
      return { state: { ...state, expectation: expected(state, event.expectation) }, effects: NO_EFFECTS };
    case 'call-started':
      return ask(state, { kind: 'start' }, event.atMs, false);
    case 'reattached':
      return state.phase.name === 'listening'
        ? { state: { ...state, phase: { ...state.phase, sinceMs: event.atMs } }, effects: NO_EFFECTS }
        : { state, effects: NO_EFFECTS };
    case 'bot-started':
      return onBotStarted(saying(state, event), event.policy, event.atMs);
    case 'bot-policy':
      return onBotPolicy(saying(state, event), event.policy);
    case 'bot-finished':
      return onBotFinished(settings, state, event.atMs);
    case 'muted':
      return event.on ? mute(settings, state, event.atMs) : unmute(state, event.atMs);
  }
}

/** Whether the caller is quiet and no words of theirs are outstanding. */
export function nothingIsSaid({ phase, words, commitsOutstanding, marksEndOfUtterance, hearing }: TurnState): boolean {
  // Where no final is marked as a commit's last, nothing tells that a commit was answered.
  const outstanding = marksEndOfUtterance && commitsOutstanding > 0;
  return !isCallers(phase) && hearing.burstSinceMs === undefined && !outstanding && !hasWords(words);
}

/** Whether the caller speaks, has spoken or pressed keys and was not answered yet, or makes a sound that may become speech. */
export function callerHasFloor({ phase }: TurnState): boolean {
  return isCallers(phase) || (phase.name === 'bot-speaking' && phase.contest !== undefined);
}

function isCallers({ name }: Phase): boolean {
  return name === 'caller-speaking' || name === 'settling' || name === 'keying';
}

/** @param given undefined where the dialog asked for nothing: a question that the bot is asking in its own words is open all the same */
function expected({ phase, expectation }: TurnState, given: Expectation | undefined): Expectation {
  if (given !== undefined) return { ...given, asked: true };
  return phase.name === 'bot-speaking' && expectation.asked === true ? { asked: true } : {};
}

/** A question of the bot's stays open until it is answered, whatever is said behind it. */
function saying(state: TurnState, { asks }: { readonly asks?: boolean }): TurnState {
  return asks === true && state.expectation.asked !== true
    ? { ...state, expectation: { ...state.expectation, asked: true } }
    : state;
}

function onBotPolicy(state: TurnState, policy: Interruptible): Step {
  const { phase } = state;
  if (phase.name !== 'bot-speaking') return { state, effects: NO_EFFECTS };
  return { state: { ...state, phase: { ...phase, policy } }, effects: NO_EFFECTS };
}

function onBotStarted(state: TurnState, policy: Interruptible, atMs: number): Step {
  const { phase } = state;
  if (phase.name !== 'thinking' && phase.name !== 'listening') return { state, effects: NO_EFFECTS };
  const speaking = { name: 'bot-speaking', policy, contest: undefined } as const;
  const waited = phase.name === 'thinking' && phase.fillerSaid && waitingWords(provisionalText(state.words)) !== undefined;
  if (!waited) return { state: { ...state, phase: speaking }, effects: NO_EFFECTS };
  // A "hello?" into the wait is answered by this. What a guess of one goes on to say belongs to the turn that was asked.
  const { state: dropped, effects } = dropBackchannel(state, atMs, atMs);
  const droppedSeg = state.words.partial === undefined ? dropped.droppedSeg : state.droppedSeg;
  return { state: { ...dropped, droppedSeg, phase: speaking }, effects };
}

function onBotFinished(settings: TurnSettings, state: TurnState, atMs: number): Step {
  const { phase } = state;
  if (phase.name !== 'bot-speaking' && phase.name !== 'thinking') return { state, effects: NO_EFFECTS };
  if (state.pendingDigits !== '') return keyed(settings, { ...state, pendingDigits: '' }, state.pendingDigits, atMs);
  const contest = phase.name === 'bot-speaking' ? phase.contest : undefined;
  if (contest !== undefined || hasWords(state.words)) {
    const sinceMs = contest?.sinceMs ?? atMs;
    const lastVoicedMs = state.hearing.lastVoicedMs ?? atMs;
    return {
      state: {
        ...state,
        hearing: { ...state.hearing, lastVoicedMs },
        phase: {
          name: 'caller-speaking',
          sinceMs,
          voicedMs: contest?.evidenceMs ?? 0,
          evidenceMs: contest?.evidenceMs ?? 0,
          interrupted: false,
        },
      },
      effects: NO_EFFECTS,
    };
  }
  return { state: { ...state, phase: { name: 'listening', sinceMs: atMs } }, effects: NO_EFFECTS };
}

/** The bot falls silent at once; a caller who is speaking goes on. */
function mute(settings: TurnSettings, before: TurnState, atMs: number): Step {
  if (before.muted) return { state: before, effects: NO_EFFECTS };
  const { phase } = before;
  const state: TurnState = { ...before, muted: true };
  const silenced: Step =
    phase.name === 'caller-speaking' || phase.name === 'settling'
      ? { state: { ...state, phase: { ...phase, interrupted: false } }, effects: NO_EFFECTS }
      : onBotFinished(settings, state, atMs);
  return { state: silenced.state, effects: [{ type: 'silence' }, ...silenced.effects] };
}

/** The bot listens again: the caller has all the time to speak, as after a reply. */
function unmute(state: TurnState, atMs: number): Step {
  const { phase } = state;
  const waiting = phase.name === 'listening' ? { ...phase, sinceMs: atMs } : phase;
  return { state: { ...state, muted: false, noInputs: 0, phase: waiting }, effects: NO_EFFECTS };
}

function onDigit(settings: TurnSettings, before: TurnState, atMs: number, key: string): Step {
  const { phase, asked } = before;
  // Many callers end a number with # although its last digit had completed it.
  const trails = key === '#' && asked?.input.kind === 'keyed' && atMs - asked.atMs < settings.interDigitMs;
  if (trails && phase.name !== 'keying') return { state: before, effects: NO_EFFECTS };
  const digit = before.pendingDigits + key;
  const state: TurnState = { ...before, pendingDigits: '' };
  switch (phase.name) {
    case 'listening':
    case 'caller-speaking':
    case 'settling':
      return keyed(settings, state, digit, atMs);
    case 'keying':
      return keyed(settings, state, phase.digits + digit, atMs);
    case 'thinking': {
      if (state.asked?.input.kind === 'start') return { state: { ...state, pendingDigits: digit }, effects: NO_EFFECTS };
      const next = keyed(settings, state, digit, atMs);
      return { state: next.state, effects: [{ type: 'cancel-reply', takesBack: false, atMs }, ...next.effects] };
    }
    case 'bot-speaking': {
      if (!mayInterrupt(phase.policy, 'key')) {
        return { state: { ...state, pendingDigits: digit }, effects: NO_EFFECTS };
      }
      const next = keyed(settings, state, digit, atMs);
      return { state: next.state, effects: [{ type: 'clear', by: 'key', onsetMs: atMs, atMs }, ...next.effects] };
    }
  }
}
