import type { CarrierWitness } from '../../carriers/port.ts';
import { ANSWERED_BY, type AnsweredBy } from '../../config/answered-by.ts';
import { addFinal, addPartial, NO_WORDS, provisionalText, type TurnWords } from '../turn/transcript.ts';
import { endMs, type HeardFrame, hearFrame, type Hearing, lengthMs, nothingHeard, quietMs, toneMs } from './hearing.ts';
import { type Cue, cuesIn, GREETING_CUE } from './phrases.ts';

/** What happens on the line of an answered call. Times count from the answer. */
export type AnswerEvent =
  | { readonly type: 'frame'; readonly frame: HeardFrame }
  | { readonly type: 'partial' | 'final'; readonly atMs: number; readonly seg: number; readonly text: string }
  | { readonly type: 'witness'; readonly atMs: number; readonly witness: CarrierWitness }
  | { readonly type: 'digit' | 'time'; readonly atMs: number }
  /** The bot starts or stops being heard. */
  | { readonly type: 'bot'; readonly atMs: number; readonly speaks: boolean };

export interface Opinion {
  readonly by: AnsweredBy;
  readonly atMs: number;
  /** Probability of this class, 0 to 1. */
  readonly confidence: number;
}

/** All that the classifier keeps of an answer; bounded. */
export interface AnswerState {
  readonly hearing: Hearing;
  readonly words: TurnWords;
  /** Cues in the words of this episode. */
  readonly cues: readonly Cue[];
  readonly witness: CarrierWitness | undefined;
  readonly digits: number;
  readonly bot: { readonly speaks: boolean; readonly sinceMs: number | undefined; readonly untilMs: number | undefined };
  /** Runs that answered the bot: begun after the bot began, and over. Machines do not wait for their turn. */
  readonly responses: number;
  readonly episode: Episode;
  /** Probability of each class; sums to 1. */
  readonly shares: Shares;
  readonly opinion: Opinion | undefined;
}

type Shares = Readonly<Record<AnsweredBy, number>>;

/**
 * A stretch of the answer in which one party is assumed to speak. A beep, a long pause, or the bot's words to a machine begin a new one, in which
 * earlier evidence counts less.
 */
interface Episode {
  readonly sinceMs: number;
  readonly scores: Shares;
  readonly kind: 'answer' | 'after-pause' | 'after-beep';
  /** Hearing counters as the episode began. */
  readonly runs: number;
  readonly voicedMs: number;
  readonly beeps: number;
  readonly asked: number;
}

/** How often each class answers, as log probabilities over calls to private numbers. */
const PRIOR: Shares = {
  person: Math.log(0.6),
  mailbox: Math.log(0.25),
  'mailbox-full': Math.log(0.01),
  screening: Math.log(0.04),
  ivr: Math.log(0.04),
  hold: Math.log(0.015),
  fax: Math.log(0.005),
  bot: Math.log(0.03),
  silence: Math.log(0.01),
};

/** Certainty needed to call it a machine: a person taken for one is left without an answer. */
const MACHINE_SHARE = 0.88;
const PERSON_SHARE = 0.75;
/** Lead that one machine class needs to replace another. */
const MARGIN = 0.15;
/** Weight of evidence from an earlier episode. */
const CARRIED = 0.4;
const MOST_CARRIED = 7;
/** Quiet after which the next speaker may be another party. */
const OTHER_PARTY_MS = 1_400;
/** Quiet since the answer that counts as silence. */
const SILENCE_MS = 1_800;
/** Below this share the opinion "person" is withdrawn. */
const LAPSED_SHARE = 0.5;
/** Speech after a sentence counts as a speech once it is longer than a word. */
const SENTENCE_MS = 800;
const INTO_BOT_MS = 600;
/** Quiet that ends a response, and the longest speech that still is one. */
const RESPONSE_OVER_MS = 500;
const MOST_RESPONSE_MS = 7_000;

export function answered(): AnswerState {
  return {
    hearing: nothingHeard(),
    words: NO_WORDS,
    cues: [],
    witness: undefined,
    digits: 0,
    bot: { speaks: false, sinceMs: undefined, untilMs: undefined },
    responses: 0,
    episode: { sinceMs: 0, scores: PRIOR, kind: 'answer', runs: 0, voicedMs: 0, beeps: 0, asked: -1 },
    shares: sharesOf(PRIOR),
    opinion: undefined,
  };
}

/**
 * Takes in one event. Pure; the opinion changes only with evidence, and times never go back.
 * @returns the state, which includes the opinion of who answered
 */
export function stepAnswer(before: AnswerState, event: AnswerEvent): AnswerState {
  return judged(withEvent(before, event));
}

/** Probability that a machine of any kind answered. */
export function machineShare({ shares }: AnswerState): number {
  return 1 - shares.person - shares.silence;
}

function withEvent(state: AnswerState, event: AnswerEvent): AnswerState {
  switch (event.type) {
    case 'frame':
      return withFrame(state, event.frame);
    case 'partial':
    case 'final':
      return withWords(state, event);
    case 'witness':
      return { ...withTime(state, event.atMs), witness: stronger(state.witness, event.witness) };
    case 'time':
      return withTime(state, event.atMs);
    case 'digit':
      return { ...withTime(state, event.atMs), digits: Math.min(state.digits + 1, 9) };
    case 'bot': {
      const { bot } = state;
      const atMs = Math.max(state.hearing.atMs, event.atMs);
      const sinceMs = event.speaks ? (bot.sinceMs ?? atMs) : bot.sinceMs;
      return { ...withTime(state, atMs), bot: { speaks: event.speaks, sinceMs, untilMs: event.speaks ? undefined : atMs } };
    }
  }
}

function withTime(state: AnswerState, atMs: number): AnswerState {
  return atMs <= state.hearing.atMs ? state : { ...state, hearing: { ...state.hearing, atMs } };
}

/** A carrier's certain finding is not replaced by a later doubt. */
function stronger(before: CarrierWitness | undefined, now: CarrierWitness): CarrierWitness {
  return now === 'unknown' && before !== undefined ? before : now;
}

function withFrame(before: AnswerState, frame: HeardFrame): AnswerState {
  const hearing = hearFrame(before.hearing, frame);
  const state = withResponse({ ...before, hearing }, before.hearing);
  const kind = newEpisode(before, hearing);
  return kind === undefined ? state : inEpisode(state, kind, before.hearing);
}

/** The bot was answered. */
function withResponse(state: AnswerState, before: Hearing): AnswerState {
  const { bot, hearing } = state;
  const { run } = hearing;
  if (bot.sinceMs === undefined || run === undefined || run.sinceMs < bot.sinceMs + 200) return state;
  const wasQuiet = before.run === run && before.atMs - run.lastMs >= RESPONSE_OVER_MS;
  const isOver = hearing.atMs - run.lastMs >= RESPONSE_OVER_MS && !wasQuiet && lengthMs(run) <= MOST_RESPONSE_MS;
  return isOver ? { ...state, responses: Math.min(state.responses + 1, 9) } : state;
}

function newEpisode({ opinion, hearing: before }: AnswerState, hearing: Hearing): Episode['kind'] | undefined {
  if (opinion === undefined || opinion.by === 'person' || opinion.by === 'silence') return undefined;
  if (hearing.signals.beeps > before.signals.beeps) return 'after-beep';
  const isNew = hearing.runs > before.runs && before.run !== undefined && hearing.run !== undefined;
  return isNew && hearing.run.sinceMs - before.run.lastMs >= OTHER_PARTY_MS ? 'after-pause' : undefined;
}

function inEpisode(state: AnswerState, kind: Episode['kind'], before: Hearing): AnswerState {
  const scores = scoresOf(state);
  const { hearing, words, cues } = state;
  const carried = mapShares((by) => {
    const over = scores[by] - PRIOR[by];
    return PRIOR[by] + Math.max(-MOST_CARRIED, Math.min(MOST_CARRIED, over * CARRIED));
  });
  const runs = kind === 'after-pause' ? before.runs : hearing.runs;
  const voicedMs = kind === 'after-pause' ? before.voicedMs : hearing.voicedMs;
  return {
    ...state,
    words: NO_WORDS,
    cues: cues.length === 0 ? cues : [],
    episode: { sinceMs: hearing.atMs, scores: carried, kind, runs, voicedMs, beeps: hearing.signals.beeps, asked: words.lastSeg },
  };
}

function withWords(before: AnswerState, event: AnswerEvent & { readonly type: 'partial' | 'final' }): AnswerState {
  const state = withTime(before, event.atMs);
  const { seg, text } = event;
  // Late words belong to the earlier speaker.
  if (seg <= state.episode.asked) return state;
  const words = event.type === 'partial' ? addPartial(state.words, seg, text) : addFinal(state.words, seg, text);
  return { ...state, words, cues: cuesIn(provisionalText(words).slice(-1_000)) };
}

function judged(state: AnswerState): AnswerState {
  const shares = sharesOf(scoresOf(state));
  const opinion = opinionOf({ ...state, shares });
  return { ...state, shares, opinion };
}

function opinionOf(state: AnswerState): Opinion | undefined {
  const { opinion: held, shares, hearing } = state;
  const { atMs } = hearing;
  const by = likeliest(state);
  if (by === undefined) return held?.by === 'person' && shares.person < LAPSED_SHARE ? undefined : held;
  if (by === held?.by) return held;
  // Silence never replaces an opinion that was already formed.
  if (by === 'silence' && held !== undefined) return held;
  const isMachine = by !== 'person' && by !== 'silence';
  const wasMachine = held !== undefined && held.by !== 'person' && held.by !== 'silence';
  if (isMachine && wasMachine && shares[by] < shares[held.by] + MARGIN) return held;
  return { by, atMs, confidence: Math.round(100 * shares[by]) / 100 };
}

function likeliest(state: AnswerState): AnsweredBy | undefined {
  const { shares } = state;
  if (isSilent(state)) return 'silence';
  if (shares.person >= PERSON_SHARE) return 'person';
  if (machineShare(state) < MACHINE_SHARE) return undefined;
  const machines = ANSWERED_BY.filter((by) => by !== 'person' && by !== 'silence');
  return machines.reduce((best, by) => (shares[by] > shares[best] ? by : best), 'mailbox');
}

/** No speech, words or keys yet, and the line no longer rings. */
function isSilent({ hearing, words, digits }: AnswerState): boolean {
  if (hearing.runs > 0 || words.lastSeg >= 0 || digits > 0 || hearing.tone !== undefined) return false;
  const { beeps, faxAnswers, faxCalls, announcing } = hearing.signals;
  if (beeps + faxAnswers + faxCalls + announcing > 0 || hearing.mostMusicMs > 0) return false;
  return hearing.atMs - hearing.ringingUntilMs >= SILENCE_MS;
}

/** Log weights of the classes. Each rule adds what its evidence says for a class, in nats. */
function scoresOf(state: AnswerState): Shares {
  const scores: Record<AnsweredBy, number> = { ...state.episode.scores };
  scores.person += personBySound(state);
  addSignals(scores, state);
  addWords(scores, state);
  addWitness(scores, state.witness);
  scores.person += 2 * Math.min(state.digits, 1);
  if (isSilent(state)) scores.silence += Math.min(9, 5 + (state.hearing.atMs - SILENCE_MS) / 1_000);
  return scores;
}

/** Evidence for a person from the lengths of speech and quiet. */
function personBySound(state: AnswerState): number {
  const { hearing, episode, responses, bot } = state;
  const { run } = hearing;
  if (run === undefined || hearing.runs <= episode.runs) return 0;
  if (hearing.lastMusicMs !== undefined && hearing.lastMusicMs > run.lastMs) return 0;
  const quiet = quietMs(hearing) ?? 0;
  // Speech over the bot's first words had begun before them.
  const goesOn = bot.sinceMs === undefined || run.sinceMs < bot.sinceMs + INTO_BOT_MS;
  const saidMs = lengthMs(run) + (goesOn && run.beforeMs > 0 && lengthMs(run) >= SENTENCE_MS ? run.beforeMs : 0);
  const ended = quiet >= endMs(lengthMs(run));
  // A party that answered the bot may speak at any length.
  const byLength = responses > 0 ? 0 : ended ? shortIsPerson(saidMs) : longIsMachine(saidMs);
  const byQuiet = ended ? Math.min(saidMs < 2_600 ? 2.5 : 1.2, (quiet - 300) / 400) : 0;
  const earlier = hearing.longestMs > 6_000 && saidMs < hearing.longestMs && episode.kind === 'answer' ? -1.5 : 0;
  const spokenMs = hearing.voicedMs - episode.voicedMs;
  const byAmount = responses > 0 || hearing.runs - episode.runs < 2 ? 0 : spokenMs > 9_000 ? -2 : spokenMs > 6_000 ? -1 : 0;
  const byTurns = hearing.runs - episode.runs > 1 && saidMs < 2_000 && ended ? 0.5 : 0;
  // A mailbox that records says nothing.
  const afterBeep = episode.kind === 'after-beep' && ended ? 1.5 : 0;
  return byLength + byQuiet + earlier + byAmount + byTurns + afterBeep + Math.min(responses, 2) * 2;
}

function shortIsPerson(saidMs: number): number {
  return byLimits(
    saidMs,
    [
      [1_000, 1.6],
      [1_500, 1.2],
      [2_000, 0.7],
      [2_600, 0.1],
      [3_500, -0.4],
      [4_500, -1.1],
      [6_000, -1.9],
    ],
    -3.5,
  );
}

function longIsMachine(saidMs: number): number {
  return byLimits(
    saidMs,
    [
      [1_000, 0],
      [1_800, -0.2],
      [2_600, -0.6],
      [3_500, -1.2],
      [4_500, -1.5],
      [6_000, -2],
      [7_500, -3],
    ],
    -4,
  );
}

/** The value of the first limit that is not reached. */
function byLimits(value: number, limits: readonly (readonly [below: number, is: number])[], beyond: number): number {
  return limits.find(([below]) => value < below)?.[1] ?? beyond;
}

function addSignals(scores: Record<AnsweredBy, number>, { hearing, episode, responses }: AnswerState): void {
  const { beeps, voicedBeforeBeepMs, faxAnswers, faxCalls, announcing } = hearing.signals;
  if (beeps > episode.beeps)
    scores.mailbox += responses > 0 ? 1 : voicedBeforeBeepMs > 1_200 ? 7 : voicedBeforeBeepMs > 0 ? 4 : 2;
  if (episode.kind === 'after-beep' && hearing.runs <= episode.runs) scores.mailbox += 4;
  scores.fax += faxAnswers > 0 ? 9 : 0;
  scores.fax += faxCalls > 1 ? 8 : faxCalls === 1 ? 5 : 0;
  if (announcing >= 2) scores.bot += 7;
  if (hearing.mostMusicMs > 0) scores.hold += Math.min(responses > 0 ? 2 : 8, (hearing.mostMusicMs - 800) / 250);
  if (toneMs(hearing) > 3_000) scores.fax += 3;
}

function addWords(scores: Record<AnsweredBy, number>, { cues, hearing, words, responses }: AnswerState): void {
  // A person in conversation may mention mailboxes.
  const trust = responses > 1 ? 0.4 : 1;
  const quiet = quietMs(hearing) ?? 0;
  if (responses === 0 && !cues.some(({ by }) => by === 'person')) scores.person += manyWords(provisionalText(words));
  for (const { id, by, weight } of cues) {
    // Machines also begin with "hello": it counts once nothing follows it.
    const counts = id !== GREETING_CUE || (quiet >= 240 && words.lastSeg >= 0);
    if (counts) scores[by] += by === 'person' ? weight : weight * trust;
  }
}

/** People say little when they pick up, unless they ask something. */
function manyWords(text: string): number {
  const words = text.split(/\s+/u).length;
  return words < 8 ? 0 : words < 12 ? -0.3 : -0.6;
}

function addWitness(scores: Record<AnsweredBy, number>, witness: CarrierWitness | undefined): void {
  switch (witness) {
    case 'person':
      scores.person += 1;
      return;
    case 'machine':
      scores.person -= 1.5;
      return;
    case 'machine-done':
      scores.mailbox += 2.5;
      return;
    case 'fax':
      scores.fax += 7;
      return;
    case 'unknown':
    case undefined:
      return;
  }
}

function sharesOf(scores: Shares): Shares {
  const most = Math.max(...ANSWERED_BY.map((by) => scores[by]));
  const total = ANSWERED_BY.reduce((sum, by) => sum + Math.exp(scores[by] - most), 0);
  return mapShares((by) => Math.exp(scores[by] - most) / total);
}

function mapShares(value: (by: AnsweredBy) => number): Shares {
  return {
    person: value('person'),
    mailbox: value('mailbox'),
    'mailbox-full': value('mailbox-full'),
    screening: value('screening'),
    ivr: value('ivr'),
    hold: value('hold'),
    fax: value('fax'),
    bot: value('bot'),
    silence: value('silence'),
  };
}
