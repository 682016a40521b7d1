import type { z } from 'zod';
import type { callView } from '../../../http/api/calls/call-views.ts';

export type Call = z.output<typeof callView>;
export type CallTurn = Call['turns'][number];
export type CallEvent = Call['timeline'][number];

/** Part of the call, in ms since its recording's first sample; since the call's start without a recording. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** `half`: the caller cut in during the word. */
export type Heard = 'heard' | 'half' | 'unheard';

export interface Word {
  readonly text: string;
  readonly heard: Heard;
  /** Absent where unknown, as for words that were never heard. */
  readonly span?: Span;
}

export interface Utterance {
  readonly side: 'caller' | 'bot';
  readonly turn: number;
  readonly span: Span | undefined;
  readonly words: readonly Word[];
}

/** A word of an analysis, in seconds since the recording's first sample. */
export interface RecognisedWord {
  readonly word: string;
  readonly startS: number;
  readonly endS: number;
}

/** What is known of the sound of the call; `level` says how loud a side was at a moment, 0 to 1. */
export interface Sound {
  readonly durationMs: number;
  readonly intervalMs: number;
  readonly caller: Float32Array;
  readonly bot: Float32Array;
}

/** Speaking rate assumed where times are unknown. */
const CHARACTERS_PER_SECOND = 14;
/** Sound above this share of full scale is voice. */
const VOICE = 0.02;
/** Longer silence ends what the caller was saying. */
const PAUSE_MS = 1_500;

/** Position on the drawing of a moment of the timeline. @param atMs since the call's start */
export function drawnAt({ recordingStartsMs }: Pick<Call, 'recordingStartsMs'>, atMs: number): number {
  return atMs - (recordingStartsMs ?? 0);
}

/** Position on the drawing of a wall time. */
export function drawnAtWall(call: Pick<Call, 'recordingStartsMs' | 'startedAt'>, wallMs: number): number {
  return drawnAt(call, wallMs - Date.parse(call.startedAt));
}

/** Length of the drawing: the recording's, or else the call's. */
export function lengthOf(call: Call, sound?: Pick<Sound, 'durationMs'>): number {
  if (sound !== undefined) return sound.durationMs;
  const endMs = call.endedAt === null ? 0 : drawnAtWall(call, Date.parse(call.endedAt));
  return Math.max(1_000, endMs, ...call.timeline.map(({ atMs }) => drawnAt(call, atMs)));
}

/** Whether the words and numbers of the call were erased. */
export function isErased({ from, to, turns }: Pick<Call, 'from' | 'to' | 'turns'>): boolean {
  return from === '' && to === '' && turns.every(({ callerText, botText }) => callerText + botText === '');
}

/** Everything that was said, in order of turns, each word with the time at which it was said as far as that is known. */
export function utterancesOf(call: Call, sound: Sound | undefined, recognised: readonly RecognisedWord[] = []): Utterance[] {
  if (isErased(call)) return [];
  let afterMs = 0;
  return call.turns
    .toSorted((a, b) => a.index - b.index)
    .flatMap((turn) => {
      const callerSpan = callerSpanOf(call, turn, sound, afterMs);
      const botSpan = botSpanOf(call, turn);
      afterMs = callerSpan?.toMs ?? afterMs;
      const caller: Utterance = {
        side: 'caller',
        turn: turn.index,
        span: callerSpan,
        words: callerWords(turn, callerSpan, sound, recognised),
      };
      const bot: Utterance = { side: 'bot', turn: turn.index, span: botSpan, words: botWords(turn, botSpan, sound) };
      // Speech that was not understood has a place, and no words.
      return [caller, bot].filter(({ words, span }) => words.length > 0 || span !== undefined);
    });
}

/** Why a commit ends no turn: what was said was listening, or waiting. */
const NO_TURN: ReadonlySet<unknown> = new Set(['backchannel', 'waiting']);

/** The end of what the caller said in a turn. */
export function commitOf({ timeline }: Pick<Call, 'timeline'>, turn: number): CallEvent | undefined {
  return timeline.findLast(({ type, turn: of, reason }) => type === 'caller-committed' && of === turn && !NO_TURN.has(reason));
}

/** When the caller's voice was heard last in a turn, on the timeline. */
export function lastVoicedMs(commit: CallEvent, { latencies }: Pick<CallTurn, 'latencies'>): number | undefined {
  if (latencies.endpointing !== undefined) return commit.atMs - latencies.endpointing;
  const { lastVoicedMs: at } = commit;
  // Records of older versions have it on another clock.
  return typeof at === 'number' && at <= commit.atMs ? at : undefined;
}

function callerSpanOf(call: Call, turn: CallTurn, sound: Sound | undefined, afterMs: number): Span | undefined {
  if (turn.callerText === '' && (turn.inputKind !== 'spoken' || call.mode === 'listen')) return undefined;
  if (turn.inputKind === 'keyed') {
    const keys = call.timeline
      .filter(({ type, turn: of }) => type === 'digit' && of === turn.index - 1)
      .map(({ atMs }) => drawnAt(call, atMs));
    const toMs = drawnAtWall(call, turn.startedAtMs);
    return { fromMs: Math.max(0, Math.min(toMs, ...keys)), toMs };
  }
  const commit = commitOf(call, turn.index);
  const voicedMs = commit === undefined ? undefined : lastVoicedMs(commit, turn);
  const toMs = voicedMs === undefined ? drawnAtWall(call, turn.startedAtMs) : drawnAt(call, voicedMs);
  // What the bot spoke on through was no part of it: a cough, a word of assent.
  const resumedMs = call.timeline.findLast(({ type, atMs }) => type === 'resume' && drawnAt(call, atMs) < toMs)?.atMs;
  const earliestMs = Math.max(0, afterMs, resumedMs === undefined ? 0 : drawnAt(call, resumedMs));
  const spokenMs = Math.max(1, turn.callerText.length / CHARACTERS_PER_SECOND) * 1000;
  const fromMs = sound === undefined ? undefined : beginningOf(stretches(sound, 'caller', { fromMs: earliestMs, toMs }));
  return { fromMs: Math.max(earliestMs, fromMs ?? toMs - spokenMs), toMs: Math.max(toMs, 0) };
}

/** Where the last speech without a long pause in it began. */
function beginningOf(spoken: readonly Span[]): number | undefined {
  let first = spoken.at(-1);
  for (const stretch of spoken.toReversed()) {
    if (first !== undefined && first.fromMs - stretch.toMs > PAUSE_MS) break;
    first = stretch;
  }
  return first?.fromMs;
}

function botSpanOf(call: Call, { botStartedAtMs, botEndedAtMs, botHeardText, startedAtMs }: CallTurn): Span | undefined {
  if (botHeardText === '') return undefined;
  const fromMs = Math.max(0, drawnAtWall(call, botStartedAtMs ?? startedAtMs));
  const guessedMs = fromMs + (botHeardText.length / CHARACTERS_PER_SECOND) * 1000;
  return { fromMs, toMs: Math.max(fromMs, botEndedAtMs === undefined ? guessedMs : drawnAtWall(call, botEndedAtMs)) };
}

/** What the bot was to say, word for word, beside what was heard of it. */
export function heardWords(sent: string, heard: string): Omit<Word, 'span'>[] {
  const words = textWords(sent);
  const states: Heard[] = words.map(() => 'unheard');
  let from = 0;
  for (const word of textWords(heard)) {
    const isHalf = word.endsWith('—') && !words.includes(word, from);
    const at = words.indexOf(isHalf ? word.slice(0, -1) : word, from);
    if (at === -1) continue;
    states[at] = isHalf ? 'half' : 'heard';
    from = at + 1;
  }
  return words.map((text, index) => ({ text, heard: states[index] ?? 'unheard' }));
}

function botWords(turn: CallTurn, span: Span | undefined, sound: Sound | undefined): Word[] {
  const words = heardWords(turn.botText, turn.botHeardText);
  const played = words.filter(({ heard }) => heard !== 'unheard');
  const spans =
    span === undefined
      ? []
      : spread(
          played.map(({ text }) => text),
          span,
          sound,
          'bot',
        );
  let next = 0;
  return words.map((word) => {
    if (word.heard === 'unheard') return word;
    const at = spans[next];
    next += 1;
    return at === undefined ? word : { ...word, span: at };
  });
}

function callerWords(
  turn: CallTurn,
  span: Span | undefined,
  sound: Sound | undefined,
  recognised: readonly RecognisedWord[],
): Word[] {
  const texts = textWords(turn.callerText);
  if (span === undefined) return texts.map((text) => ({ text, heard: 'heard' }));
  const guessed = spread(texts, span, sound, 'caller');
  // Recognised again after the call, words have times of their own.
  const near = recognised.filter(
    ({ startS, endS }) => endS * 1000 > span.fromMs - PAUSE_MS && startS * 1000 < span.toMs + PAUSE_MS,
  );
  let from = 0;
  return texts.map((text, index) => {
    const at = near.findIndex(({ word }, place) => place >= from && plain(word) === plain(text));
    const found = near[at];
    if (found === undefined) return { text, heard: 'heard', ...(guessed[index] && { span: guessed[index] }) };
    from = at + 1;
    return { text, heard: 'heard', span: { fromMs: found.startS * 1000, toMs: found.endS * 1000 } };
  });
}

/** Distributes a side's voiced time over its words, by their length, without the silence between. */
export function spread(words: readonly string[], span: Span, sound: Sound | undefined, side: 'caller' | 'bot'): Span[] {
  const voiced = sound === undefined ? [] : stretches(sound, side, span);
  const parts = voiced.length === 0 ? [span] : voiced;
  const wholeMs = parts.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0);
  const letters = words.reduce((sum, word) => sum + word.length + 1, 0);
  let done = 0;
  return words.map((word) => {
    const [fromMs, toMs] = [(done / letters) * wholeMs, ((done + word.length + 1) / letters) * wholeMs];
    done += word.length + 1;
    return { fromMs: momentAt(parts, fromMs, 'begin'), toMs: momentAt(parts, toMs, 'end') };
  });
}

/** The moment at which this much of the parts has passed. */
function momentAt(parts: readonly Span[], passedMs: number, edge: 'begin' | 'end'): number {
  let leftMs = passedMs;
  for (const { fromMs, toMs } of parts) {
    const isInside = edge === 'begin' ? leftMs < toMs - fromMs : leftMs <= toMs - fromMs;
    if (isInside) return fromMs + leftMs;
    leftMs -= toMs - fromMs;
  }
  return parts.at(-1)?.toMs ?? 0;
}

/** Stretches of voice of one side within a part of the call, with pauses of less than a quarter of a second in them. */
export function stretches(sound: Sound, side: 'caller' | 'bot', { fromMs, toMs }: Span): Span[] {
  const { intervalMs, [side]: levels } = sound;
  const found: { fromMs: number; toMs: number }[] = [];
  const end = Math.min(levels.length, Math.ceil(toMs / intervalMs));
  for (let at = Math.max(0, Math.floor(fromMs / intervalMs)); at < end; at += 1) {
    if ((levels[at] ?? 0) < VOICE) continue;
    const last = found.at(-1);
    const endsMs = Math.min(toMs, (at + 1) * intervalMs);
    if (last !== undefined && at * intervalMs - last.toMs < 250) last.toMs = endsMs;
    else found.push({ fromMs: Math.max(fromMs, at * intervalMs), toMs: endsMs });
  }
  return found;
}

function textWords(text: string): string[] {
  return text.split(/\s+/u).filter((word) => word !== '');
}

function plain(word: string): string {
  return word.toLocaleLowerCase().replaceAll(/[^\p{L}\p{N}\p{M}]/gu, '');
}

/** The call as text for pasting: speaker, time and words, with unheard ones in brackets. */
export function transcriptText(
  utterances: readonly Utterance[],
  names: { readonly caller: string; readonly bot: string; readonly unheard: string },
  clock: (ms: number) => string,
): string {
  return utterances
    .map(({ side, span, words }) => {
      const heard = words
        .filter((word) => word.heard !== 'unheard')
        .map(({ text, heard: how }) => (how === 'half' ? `${text}—` : text));
      const unheard = words.filter((word) => word.heard === 'unheard').map(({ text }) => text);
      const rest = unheard.length === 0 ? [] : [`[${names.unheard}: ${unheard.join(' ')}]`];
      return `${span === undefined ? '' : `${clock(span.fromMs)} `}${names[side]}: ${[...heard, ...rest].join(' ')}`;
    })
    .join('\n');
}

/** Drawn in place of a missing recording: who was speaking, from the record. */
export function drawnFromRecord(call: Call, durationMs: number): Sound {
  const intervalMs = Math.max(20, Math.ceil(durationMs / 24_000));
  const points = Math.ceil(durationMs / intervalMs);
  const [caller, bot] = [new Float32Array(points), new Float32Array(points)];
  for (const { side, span } of utterancesOf(call, undefined)) {
    if (span === undefined) continue;
    (side === 'caller' ? caller : bot).fill(0.4, Math.floor(span.fromMs / intervalMs), Math.ceil(span.toMs / intervalMs));
  }
  return { durationMs, intervalMs, caller, bot };
}
