import { stayed } from './farewell.ts';
import { isHesitation, isUnfinished } from './spoken-cues.ts';
import { NO_WORDS, hasWords, joinWords, provisionalText, sameWords } from './transcript.ts';
import type { TurnSettings } from './turn-settings.ts';
import {
  type Asked,
  type AskedInput,
  type Expectation,
  NO_EFFECTS,
  type Recogniser,
  type Step,
  type TurnEvent,
  type TurnState,
  quietly,
} from './turn-state.ts';

/** Hands the turn to the dialog; late words of it are known by their segment. */
export function ask(state: TurnState, input: AskedInput, atMs: number, provisional: boolean): Step {
  // Keys end a turn without a silence: the words before them must not continue in the next turn's segment.
  if (!byKeys(input) || state.phase.name === 'settling' || !hasWords(state.caller.words))
    return handOver(state, input, atMs, provisional);
  const next = handOver({ ...state, recogniser: withCommit(state.recogniser, atMs) }, input, atMs, provisional);
  const lastVoicedMs = state.voice.lastVoicedMs ?? atMs;
  return { state: next.state, effects: [{ type: 'commit', reason: 'keys', lastVoicedMs }, ...next.effects] };
}

/** A commit was sent. @param sentMs when */
export function withCommit(recogniser: Recogniser, sentMs: number): Recogniser {
  return { ...recogniser, commitsOutstanding: recogniser.commitsOutstanding + 1, lastCommitMs: sentMs };
}

/** The caller has done nothing. */
function isSilence({ kind }: AskedInput): boolean {
  return kind === 'no-input' || kind === 'tool-result';
}

function byKeys(input: AskedInput): boolean {
  return input.kind === 'keyed' || (input.kind === 'spoken' && input.keys !== undefined);
}

function handOver(state: TurnState, input: AskedInput, atMs: number, provisional: boolean): Step {
  if (state.bot.muted) return keepTurn(state, input, atMs);
  const answered = input.kind === 'spoken' || input.kind === 'keyed';
  const { dialog, caller, ...taken } = withTurnTaken(state, input, atMs);
  return {
    state: {
      ...taken,
      farewell: stayed(state.farewell),
      phase: { name: 'thinking', sinceMs: atMs, fillerSaid: state.phase.name === 'settling' && state.phase.fillerSaid },
      caller: { ...caller, noInputs: input.kind === 'no-input' ? input.attempt : answered ? 0 : caller.noInputs },
      // Silence answers nothing: a caller who begins late still answers the question.
      dialog: { ...dialog, expectation: isSilence(input) ? dialog.expectation : {} },
    },
    effects: [{ type: 'ask', input, provisional, atMs }],
  };
}

/** Keeps a turn of the caller of a muted bot; the bot's question stays open. */
function keepTurn(state: TurnState, input: AskedInput, atMs: number): Step {
  return {
    state: { ...withTurnTaken(state, input, atMs), phase: { name: 'listening', sinceMs: atMs } },
    effects: input.kind === 'spoken' && input.text === '' ? NO_EFFECTS : [{ type: 'keep-turn', input, atMs }],
  };
}

/** Moves the words so far into this turn. */
function withTurnTaken(state: TurnState, input: AskedInput, atMs: number): TurnState {
  const { caller, recogniser, dialog } = state;
  const { words } = caller;
  const { askedSeg } = recogniser;
  return {
    ...state,
    caller: { ...caller, words: NO_WORDS, wordsChangedMs: undefined },
    recogniser: { ...recogniser, askedSeg: Math.max(askedSeg, words.lastSeg) },
    dialog: { ...dialog, asked: { input, words, atMs, segBefore: askedSeg, expectation: dialog.expectation }, early: undefined },
  };
}

/** The state before an unfinished turn was asked, with its words and those since. */
export function rollBackTurn(state: TurnState, asked: Asked, atMs: number): TurnState {
  const { caller, recogniser, dialog } = state;
  return {
    ...state,
    caller: { ...caller, words: joinWords(asked.words, caller.words), wordsChangedMs: atMs },
    recogniser: { ...recogniser, askedSeg: asked.segBefore },
    dialog: { ...dialog, asked: undefined, expectation: asked.expectation },
  };
}

/** The input the dialog was asked with, where that can be rolled back: not the greeting or keys. */
export function askedInWords({ dialog: { asked } }: TurnState): Asked | undefined {
  return asked !== undefined && (asked.input.kind === 'spoken' || isSilence(asked.input)) ? asked : undefined;
}

export function spokeSinceAsked({ dialog: { asked }, voice }: TurnState): boolean {
  return asked === undefined || (voice.lastVoicedMs ?? Number.NEGATIVE_INFINITY) > asked.atMs;
}

/** Words that are stable in a quiet line may be complete: the dialog is asked early, during the rest of the silence. */
export function withEarlyAsk({ askEarlyMs, endpointing }: TurnSettings, step: Step, atMs: number): Step {
  const { state, effects } = step;
  const { phase, voice, caller, dialog } = state;
  if (askEarlyMs === undefined || state.bot.muted || (phase.name !== 'caller-speaking' && phase.name !== 'settling')) return step;
  const { words, wordsChangedMs } = caller;
  const silentMs = atMs - (voice.lastVoicedMs ?? atMs);
  if (silentMs < askEarlyMs || wordsChangedMs === undefined || atMs - wordsChangedMs < endpointing.earlyStillMs) return step;
  const times = dialog.early?.times ?? 0;
  const text = provisionalText(words);
  const asked = dialog.early !== undefined && sameWords(dialog.early.text, text);
  if (text === '' || asked || times >= endpointing.mostEarly || isUnfinished(text) || isHesitation(text)) return step;
  const early = { text, times: times + 1 };
  return { state: { ...state, dialog: { ...dialog, early } }, effects: [...effects, { type: 'ask-early', text }] };
}

type EventOf<Type extends TurnEvent['type']> = TurnEvent & { readonly type: Type };

/** The dialog sets or clears its expectation; a question in the bot's own words stays open in any case. */
export function expect(_settings: TurnSettings, state: TurnState, { expectation }: EventOf<'expect'>): Step {
  return quietly({ ...state, dialog: { ...state.dialog, expectation: expected(state, expectation) } });
}

function expected({ phase, dialog }: TurnState, given: Expectation | undefined): Expectation {
  if (given !== undefined) return { ...given, asked: true };
  return phase.name === 'bot-speaking' && dialog.expectation.asked === true ? { asked: true } : {};
}

/** Other words of the bot begin: its question stays open. */
export function questionIsOpen(
  _settings: TurnSettings,
  state: TurnState,
  { asks }: EventOf<'bot-started' | 'sentence-started'>,
): Step {
  return quietly(withQuestion(state, asks));
}

/** The bot's question stays open until answered, whatever is said after it. */
export function withQuestion<State extends TurnState>(state: State, asks: boolean | undefined): State {
  const { dialog } = state;
  if (asks !== true || dialog.expectation.asked === true) return state;
  return { ...state, dialog: { ...dialog, expectation: { ...dialog.expectation, asked: true } } };
}

/**
 * While a secret value is expected, and briefly after, the caller's audio is replaced by silence downstream. Keys pressed just before the question
 * are included.
 */
export function withSecrecy({ secret, reader }: TurnSettings, before: TurnState, step: Step, event: TurnEvent): Step {
  const { dialog } = step.state;
  if (dialog === before.dialog || dialog.expectation === before.dialog.expectation) return step;
  const { value } = dialog.expectation;
  const isSecret = value !== undefined && reader.isSecret(value);
  const nowMs = cameMs(event);
  if (isSecret === keysSecret(step.state) || nowMs === undefined) return step;
  const secretUntilMs = isSecret ? Number.POSITIVE_INFINITY : nowMs + secret.tailMs;
  const state = { ...step.state, dialog: { ...dialog, secretUntilMs } };
  if (!isSecret || event.type !== 'expect') return { state, effects: step.effects };
  return { state, effects: [...step.effects, { type: 'silence-caller', fromMs: nowMs - secret.earlierMs }] };
}

/** Whether the caller is keying a secret value. */
export function keysSecret({ dialog }: TurnState): boolean {
  return dialog.secretUntilMs === Number.POSITIVE_INFINITY;
}

/** When an event arrived: later than it happened, on a late line. */
function cameMs(event: TurnEvent): number | undefined {
  if (event.type === 'frame') return event.frame.cameMs ?? event.frame.atMs;
  return 'atMs' in event ? event.atMs : undefined;
}
