import { isBackchannel, isHesitation, waitingWords } from './backchannel.ts';
import { commitReason, percentile, settleLimitMs } from './endpointing.ts';
import { NO_EVIDENCE } from './interruption.ts';
import { askedInWords, spokeSinceAsked, rollBackTurn } from './turn-rollback.ts';
import { finalText, hasWords, NO_WORDS, plainWords, provisionalText, sameWords } from './transcript.ts';
import type { AskedInput, Phase, Step, TurnEffect, TurnSettings, TurnState } from './turn-state.ts';
import { isUnfinished } from './unfinished.ts';

export const NO_EFFECTS: readonly TurnEffect[] = [];

/** Voice shorter than this without a word was no utterance: a click, a knock, a breath. */
const BLIP_MS = 100;
/** A sound this short that the recogniser has no word for is not taken for an unclear answer. */
const UNCLEAR_SPEECH_MS = 300;
/** An interruption this short without a word was none: the bot speaks on. */
const MEANT_INTERRUPTION_MS = 600;
/** Quiet after the last voiced frame before a final without an end mark counts as covering it. */
const COVERED_MS = 120;
/** Quiet after a "mm-hm" that shows that nothing follows it. */
const BACKCHANNEL_OVER_MS = 180;
/** An interruption with less evidence for speech than this, and not a word, may have been a cough or a "mm-hm", … */
const DOUBTFUL_EVIDENCE_MS = 480;
/** … and was one when it is quiet for so long, or has had no pitch for so long: the bot speaks on, until words come. */
const DOUBTFUL_OVER_MS = 180;
const TONELESS_MS = 400;
/** How many times longer the next key is waited for while the value is incomplete. */
const INCOMPLETE_PATIENCE = 2.5;
/** Words that have not changed for this long are asked about early, and so often in a turn. */
const EARLY_STILL_MS = 120;
const MOST_EARLY = 3;
/** So many words into a wait that have not changed for so long are what was said. */
const MEANT_WORDS = 3;
const MEANT_STILL_MS = 300;
/** A guess of words that only wait may go on ("okay, Tuesday please") until it has not changed for so long. */
const WAITING_STILL_MS = 500;
/** Quiet after which a blip is over. */
const BLIP_OVER_MS = 300;

/**
 * What time alone changes; called for each frame and each tick.
 * @param atMs when what has been heard so far was said
 * @param nowMs when it came: what is sent now is answered after that
 */
export function afterTime(settings: TurnSettings, state: TurnState, atMs: number, nowMs = atMs): Step {
  const { phase } = state;
  switch (phase.name) {
    case 'listening': {
      if (state.muted) return { state, effects: NO_EFFECTS };
      const limitMs = state.expectation.noInputMs ?? settings.noInputMs;
      if (atMs - phase.sinceMs < limitMs) return { state, effects: NO_EFFECTS };
      const attempt = state.noInputs + 1;
      if (attempt > settings.noInputAttempts) return { state, effects: [{ type: 'give-up', reason: 'no-input' }] };
      return ask(state, { kind: 'no-input', attempt }, atMs, false);
    }
    case 'caller-speaking':
      return early(settings, afterSpeech(settings, state, phase, atMs, nowMs), atMs);
    case 'settling':
      return early(settings, afterCommit(settings, state, phase, atMs, nowMs), atMs);
    case 'keying':
      if (stillKeying(settings, state, phase, atMs)) return { state, effects: NO_EFFECTS };
      return ask(state, keyedInput(settings, state, phase.digits), atMs, false);
    case 'thinking':
      return whileThinking(settings, state, phase, atMs, nowMs);
    case 'bot-speaking': {
      if (phase.contest === undefined && onlyListens(state, atMs)) return dropBackchannel(state, atMs, nowMs);
      const overdue = phase.contest !== undefined && atMs - phase.contest.sinceMs >= settings.interruption.decideWithinMs + 200;
      if (!overdue) return { state, effects: NO_EFFECTS };
      return { state: { ...state, phase: { ...phase, contest: undefined } }, effects: [{ type: 'resume' }] };
    }
  }
}

function afterSpeech(
  settings: TurnSettings,
  state: TurnState,
  phase: Phase & { name: 'caller-speaking' },
  atMs: number,
  nowMs: number,
): Step {
  const lastVoicedMs = state.hearing.lastVoicedMs ?? phase.sinceMs;
  const wordless = provisionalText(state.words) === '';
  if (wordless && phase.voicedMs < BLIP_MS && atMs - lastVoicedMs >= BLIP_OVER_MS)
    return nothingSaid(state, phase.interrupted, atMs);
  const reversible = phase.interrupted && atMs - phase.sinceMs <= settings.interruption.reverseWithinMs;
  if (reversible && onlyListens(state, atMs)) {
    const dropped = dropBackchannel(state, atMs, nowMs);
    const next = nothingSaid(dropped.state, true, atMs);
    return { state: next.state, effects: [...dropped.effects, ...next.effects] };
  }
  if (wordless && isDoubtful(state, phase, atMs)) return speakOn(state, lastVoicedMs, atMs, nowMs);
  const endpointing =
    state.expectation.endpointingMs === undefined
      ? settings.endpointing
      : { ...settings.endpointing, endpointingMs: state.expectation.endpointingMs };
  const spoken = {
    startedMs: phase.sinceMs,
    lastVoicedMs,
    wordsChangedMs: wordless ? undefined : state.wordsChangedMs,
    text: () => provisionalText(state.words),
    valueMs: wordless ? undefined : silenceOfValue(settings, state, endpointing.endpointingMs, atMs - lastVoicedMs),
    pauses: state.pauses,
  };
  const reason = commitReason(endpointing, spoken, atMs);
  if (reason === undefined) return { state, effects: NO_EFFECTS };
  const settling: Phase = {
    name: 'settling',
    committedAtMs: atMs,
    sentAtMs: nowMs,
    voicedMs: phase.voicedMs,
    interrupted: phase.interrupted,
    fillerSaid: false,
  };
  // A commit not answered by now was lost with its socket: nothing waits for it any more.
  const lost = state.lastCommitMs !== undefined && nowMs - state.lastCommitMs >= settings.endpointing.settleAbandonMs;
  const commitsOutstanding = (lost ? 0 : state.commitsOutstanding) + 1;
  const committed: TurnState = { ...state, phase: settling, commitsOutstanding, lastCommitMs: nowMs };
  const next = afterCommit(settings, committed, settling, atMs, nowMs);
  return { state: next.state, effects: [{ type: 'commit', reason, lastVoicedMs }, ...next.effects] };
}

/** The silence that ends the value which was asked for; undefined while the line is not quiet, or nothing of it was said. */
function silenceOfValue(
  { reader }: TurnSettings,
  { words, expectation: { value } }: TurnState,
  baseMs: number,
  quietMs: number,
): number | undefined {
  if (value === undefined || quietMs < reader.leastSilenceMs) return undefined;
  return reader.silenceMs(value, provisionalText(words), baseMs);
}

/** Words that stand still in a quiet line may be all: the dialog can be asked while the rest of the silence is waited for. */
function early(settings: TurnSettings, step: Step, atMs: number): Step {
  const { state, effects } = step;
  const { phase, hearing, wordsChangedMs } = state;
  if (settings.askEarlyMs === undefined || state.muted || (phase.name !== 'caller-speaking' && phase.name !== 'settling'))
    return step;
  const quietMs = atMs - (hearing.lastVoicedMs ?? atMs);
  if (quietMs < settings.askEarlyMs || wordsChangedMs === undefined || atMs - wordsChangedMs < EARLY_STILL_MS) return step;
  const times = state.early?.times ?? 0;
  const text = provisionalText(state.words);
  const asked = state.early !== undefined && sameWords(state.early.text, text);
  if (text === '' || asked || times >= MOST_EARLY || isUnfinished(text) || isHesitation(text)) return step;
  return { state: { ...state, early: { text, times: times + 1 } }, effects: [...effects, { type: 'ask-early', text }] };
}

/** Whether the caller said nothing but a "mm-hm", and has fallen silent. */
function onlyListens(state: TurnState, atMs: number): boolean {
  const quietMs = atMs - (state.hearing.lastVoicedMs ?? Number.NEGATIVE_INFINITY);
  return quietMs >= BACKCHANNEL_OVER_MS && isBackchannel(provisionalText(state.words), state.expectation.asked === true);
}

function isDoubtful({ hearing }: TurnState, phase: Phase & { name: 'caller-speaking' }, atMs: number): boolean {
  if (!phase.interrupted || phase.evidenceMs >= DOUBTFUL_EVIDENCE_MS) return false;
  const since = (lastMs: number | undefined): number => atMs - (lastMs ?? phase.sinceMs);
  return since(hearing.lastVoicedMs) >= DOUBTFUL_OVER_MS || since(hearing.lastPitchedMs) >= TONELESS_MS;
}

/** What was taken for an interruption is committed all the same: a recogniser may tell of a word on a commit alone. */
function speakOn(state: TurnState, lastVoicedMs: number, atMs: number, nowMs: number): Step {
  // What did not convince does not count again.
  const hearing = { ...state.hearing, burst: NO_EVIDENCE, burstSinceMs: undefined };
  const asked = { ...state, hearing, commitsOutstanding: state.commitsOutstanding + 1, lastCommitMs: nowMs };
  const next = nothingSaid(asked, true, atMs);
  return { state: next.state, effects: [{ type: 'commit', reason: 'doubtful', lastVoicedMs }, ...next.effects] };
}

/** The sound of listening, or of waiting, is nobody's turn: committed, so that no later words join its segment. */
export function dropBackchannel(state: TurnState, atMs: number, nowMs: number): Step {
  return {
    state: { ...withoutWords(state), commitsOutstanding: state.commitsOutstanding + 1, lastCommitMs: nowMs },
    effects: [{ type: 'commit', reason: 'backchannel', lastVoicedMs: state.hearing.lastVoicedMs ?? atMs }],
  };
}

/** Whether the committed turn is complete, by the rules of the design in their order. */
function afterCommit(
  settings: TurnSettings,
  state: TurnState,
  phase: Phase & { name: 'settling' },
  atMs: number,
  nowMs: number,
): Step {
  const waitedMs = nowMs - phase.sentAtMs;
  const quietMs = atMs - (state.hearing.lastVoicedMs ?? phase.committedAtMs);
  const covered = finalText(state.words) !== '' && state.words.partial === undefined && quietMs >= COVERED_MS;
  if (covered && !state.marksEndOfUtterance) return completeTurn(state, phase, finalText(state.words), false, atMs);
  const text = provisionalText(state.words);
  if (text !== '' && waitedMs >= settleLimitMs(settings.endpointing, percentile(state.settlings, 0.95))) {
    return completeTurn(state, phase, text, true, atMs);
  }
  if (waitedMs >= settings.endpointing.settleAbandonMs) return completeTurn(state, phase, text, true, atMs);
  // What an interruption cut may go on yet: nothing is said into it.
  const silent = phase.fillerSaid || phase.interrupted || state.muted;
  if (!silent && waitedMs >= settings.settlingFillerMs && phase.voicedMs >= UNCLEAR_SPEECH_MS) {
    return { state: { ...state, phase: { ...phase, fillerSaid: true } }, effects: [{ type: 'filler', waitingFor: 'words' }] };
  }
  return { state, effects: NO_EFFECTS };
}

/** Ends the caller's turn with these words, which may be none. */
export function completeTurn(
  state: TurnState,
  phase: { readonly voicedMs: number; readonly interrupted: boolean },
  text: string,
  provisional: boolean,
  atMs: number,
): Step {
  if (isHesitation(text)) {
    // A guess may yet become more than that.
    const heard = state.words.partial === undefined ? withoutWords(state) : { ...state, early: undefined };
    return nothingSaid(heard, phase.interrupted, atMs);
  }
  const enoughMs = phase.interrupted ? MEANT_INTERRUPTION_MS : UNCLEAR_SPEECH_MS;
  if (text === '' && phase.voicedMs < enoughMs) return nothingSaid(state, phase.interrupted, atMs);
  return ask(state, { kind: 'spoken', text }, atMs, provisional);
}

/** These words are nobody's turn, however late their final comes. */
function withoutWords(state: TurnState): TurnState {
  const dropped = Math.max(state.askedSeg, state.words.lastSeg);
  return { ...state, words: NO_WORDS, wordsChangedMs: undefined, early: undefined, askedSeg: dropped, droppedSeg: dropped };
}

/** What sounded like the caller was nothing: the bot speaks on, or waits on. */
function nothingSaid(state: TurnState, interrupted: boolean, atMs: number): Step {
  const quiet: TurnState = { ...state, words: NO_WORDS, wordsChangedMs: undefined };
  if (!interrupted) return { state: { ...quiet, phase: { name: 'listening', sinceMs: atMs } }, effects: NO_EFFECTS };
  return {
    state: { ...quiet, phase: { name: 'bot-speaking', policy: 'always', contest: undefined } },
    effects: [{ type: 'restore' }],
  };
}

/** A guess of one or two words may yet become a "hello"; more than that do not once they stand still. */
function isMeant({ words, wordsChangedMs }: TurnState, atMs: number): boolean {
  if (words.partial === undefined) return true;
  const isLong = plainWords(provisionalText(words)).split(' ').length >= MEANT_WORDS;
  return isLong && atMs - (wordsChangedMs ?? atMs) >= MEANT_STILL_MS;
}

/** Words of a caller who was asked to wait, and does more than that: they go with the turn, which was not over. */
function takeBackByWords(state: TurnState, atMs: number): Step {
  const asked = askedInWords(state);
  if (asked === undefined) return { state, effects: NO_EFFECTS };
  const { hearing } = state;
  const sinceMs = hearing.burstSinceMs ?? hearing.lastVoicedMs ?? atMs;
  const { evidenceMs } = hearing.burst;
  const phase = { name: 'caller-speaking', sinceMs, voicedMs: atMs - sinceMs, evidenceMs, interrupted: false } as const;
  return {
    state: { ...rollBackTurn(state, asked, atMs), hearing: { ...hearing, pauseMs: undefined }, phase },
    effects: [{ type: 'cancel-reply', takesBack: true, atMs }],
  };
}

/** Words of one who waits are nobody's turn; who asks whether anybody is there is told to wait once more. */
function waitOn(
  state: TurnState,
  phase: Phase & { name: 'thinking' },
  said: 'patient' | 'asking',
  atMs: number,
  nowMs: number,
): Step {
  const dropped = dropBackchannel({ ...state, phase: { ...phase, spokenInto: false } }, atMs, nowMs);
  if (said === 'patient') return dropped;
  return { state: dropped.state, effects: [...dropped.effects, { type: 'filler', waitingFor: 'dialog' }] };
}

function whileThinking(
  settings: TurnSettings,
  state: TurnState,
  phase: Phase & { name: 'thinking' },
  atMs: number,
  nowMs: number,
): Step {
  const waitedMs = atMs - phase.sinceMs;
  const quietMs = atMs - (state.hearing.lastVoicedMs ?? Number.NEGATIVE_INFINITY);
  if (phase.fillerSaid && hasWords(state.words) && spokeSinceAsked(state)) {
    const said = waitingWords(provisionalText(state.words));
    const isStill = state.words.partial === undefined || atMs - (state.wordsChangedMs ?? atMs) >= WAITING_STILL_MS;
    if (said !== undefined && isStill && quietMs >= BACKCHANNEL_OVER_MS) return waitOn(state, phase, said, atMs, nowMs);
    if (said === undefined && isMeant(state, atMs)) return takeBackByWords(state, atMs);
  }
  if (phase.spokenInto === true && quietMs >= settings.endpointing.endpointingMs) {
    const asked: TurnState = { ...state, commitsOutstanding: state.commitsOutstanding + 1, lastCommitMs: nowMs };
    return {
      state: { ...asked, phase: { ...phase, spokenInto: false } },
      effects: [{ type: 'commit', reason: 'waiting', lastVoicedMs: state.hearing.lastVoicedMs ?? atMs }],
    };
  }
  if (waitedMs >= settings.thinkingLimitMs) {
    return {
      state: { ...state, phase: { ...phase, sinceMs: atMs } },
      effects: [{ type: 'dialog-failed', reason: `the dialog said nothing for ${settings.thinkingLimitMs} ms` }],
    };
  }
  if (phase.fillerSaid || waitedMs < settings.thinkingFillerMs) return { state, effects: NO_EFFECTS };
  return { state: { ...state, phase: { ...phase, fillerSaid: true } }, effects: [{ type: 'filler', waitingFor: 'dialog' }] };
}

/** Hands the turn to the dialog; words that come late for it are known by their segment. */
export function ask(state: TurnState, input: AskedInput, atMs: number, provisional: boolean): Step {
  // Keys end a turn without a silence: the words before them must not go on in the next one's segment.
  if (!byKeys(input) || state.phase.name === 'settling' || !hasWords(state.words))
    return handOver(state, input, atMs, provisional);
  const committed = { ...state, commitsOutstanding: state.commitsOutstanding + 1, lastCommitMs: atMs };
  const next = handOver(committed, input, atMs, provisional);
  const lastVoicedMs = state.hearing.lastVoicedMs ?? atMs;
  return { state: next.state, effects: [{ type: 'commit', reason: 'keys', lastVoicedMs }, ...next.effects] };
}

function handOver(state: TurnState, input: AskedInput, atMs: number, provisional: boolean): Step {
  if (state.muted) return keepTurn(state, input, atMs);
  const answered = input.kind === 'spoken' || input.kind === 'keyed';
  return {
    state: {
      ...withTurnTaken(state, input, atMs),
      phase: { name: 'thinking', sinceMs: atMs, fillerSaid: state.phase.name === 'settling' && state.phase.fillerSaid },
      noInputs: input.kind === 'no-input' ? input.attempt : answered ? 0 : state.noInputs,
      // Silence answers nothing: a caller who begins at last is still giving what was asked for.
      expectation: input.kind === 'no-input' ? state.expectation : {},
    },
    effects: [{ type: 'ask', input, provisional, atMs }],
  };
}

function byKeys(input: AskedInput): boolean {
  return input.kind === 'keyed' || (input.kind === 'spoken' && input.keys !== undefined);
}

/** The words so far are this turn's, and no longer the next one's. */
function withTurnTaken(state: TurnState, input: AskedInput, atMs: number): TurnState {
  return {
    ...state,
    asked: { input, words: state.words, atMs, segBefore: state.askedSeg, expectation: state.expectation },
    askedSeg: Math.max(state.askedSeg, state.words.lastSeg),
    words: NO_WORDS,
    wordsChangedMs: undefined,
    early: undefined,
  };
}

/** The turn of a caller whose bot is muted; what the bot had asked for is still expected once it is not. */
function keepTurn(state: TurnState, input: AskedInput, atMs: number): Step {
  return {
    state: { ...withTurnTaken(state, input, atMs), phase: { name: 'listening', sinceMs: atMs } },
    effects: input.kind === 'spoken' && input.text === '' ? NO_EFFECTS : [{ type: 'keep-turn', input, atMs }],
  };
}

/** The keys so far: complete on `#` or at the expected length, else waiting for the next one. */
export function keyed(settings: TurnSettings, state: TurnState, digits: string, atMs: number): Step {
  const complete = digits.endsWith('#') && digits.length > 1;
  const kept = complete ? digits.slice(0, -1) : digits;
  const { maxDigits } = state.expectation;
  if (complete || (maxDigits !== undefined && kept.length >= maxDigits) || isWhole(settings, state, kept)) {
    return ask(state, keyedInput(settings, state, kept), atMs, false);
  }
  return { state: { ...state, phase: { name: 'keying', digits: kept, lastMs: atMs } }, effects: NO_EFFECTS };
}

/** Keys alone, or behind the words of the same value. */
function keyedInput(settings: TurnSettings, state: TurnState, digits: string): AskedInput {
  const text = wordsOfValue(settings, state);
  return text === '' ? { kind: 'keyed', digits } : { kind: 'spoken', text, keys: digits };
}

/** What has been said of the value that was asked for; of a secret nothing is heard, so that words are of before. */
function wordsOfValue({ reader }: TurnSettings, { words, expectation: { value } }: TurnState): string {
  return value === undefined || reader.isSecret(value) ? '' : provisionalText(words);
}

/** Whether the value that was asked for is there, and nothing can follow. */
function isWhole(settings: TurnSettings, state: TurnState, digits: string): boolean {
  const { value } = state.expectation;
  return value !== undefined && settings.reader.progress(value, wordsOfValue(settings, state), digits) === 'whole';
}

/** Whether another key may come: people look the next ones up where a value is incomplete, and may go on aloud. */
function stillKeying(settings: TurnSettings, state: TurnState, phase: Phase & { name: 'keying' }, atMs: number): boolean {
  const { value } = state.expectation;
  if (value === undefined) return atMs - phase.lastMs < settings.interDigitMs;
  const quietMs = atMs - Math.max(phase.lastMs, state.hearing.lastVoicedMs ?? 0);
  const progress = settings.reader.progress(value, wordsOfValue(settings, state), phase.digits);
  return quietMs < settings.interDigitMs * (progress === 'missing' ? INCOMPLETE_PATIENCE : 1);
}
