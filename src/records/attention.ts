import { z } from 'zod';
import { endingOf } from '../call/log/outcome.ts';
import { isAngry, languageOf } from '../language/index.ts';
import type { CallAnalysis } from './analysis/document.ts';
import { type CallPlace, cutOffs, figuresOf, questionIn, turnsNotUnderstood } from './figures.ts';
import type { CallRecord } from './record.ts';

/** Why a call deserves a look, most urgent first. */
export const REASONS = ['failed', 'angry', 'cut-off', 'not-understood', 'hung-up', 'dead-air', 'judged-wrong', 'slow'] as const;
export type Reason = (typeof REASONS)[number];

/** A reason with the place at which to listen: ms since the call's start, and the turn; null where no turn is meant. */
export const finding = z.object({ reason: z.enum(REASONS), atMs: z.int().nonnegative(), turn: z.int().nullable() });
export type Finding = z.output<typeof finding>;

/** A caller who hears nothing for longer takes the line for dead, in ms. */
const DEAD_AIR_MS = 3_000;
/** Half of the replies as late as this are slow, in ms: the console's limit for one reply. */
const SLOW_MS = 1_500;
const MISUNDERSTANDINGS = 2;
/** For the time at which a caller began to speak, where the record has only the end. */
const CHARACTERS_PER_S = 14;
/** Begins to play so long before what is to be heard, in ms. */
const LEAD_MS = 1_000;
/** Who hangs up here has what they came for. */
const CLOSING = /anything else|something else|और कुछ|कुछ और/iu;

/**
 * Why an ended call deserves a look, each reason once, most urgent first. Reads words: what it found is erased with them.
 * @returns nothing for calls that statistics do not count either
 */
export function attentionOf(record: CallRecord): Finding[] {
  if (figuresOf(record) === undefined) return [];
  const places: Readonly<Record<Exclude<Reason, 'judged-wrong'>, CallPlace | undefined>> = {
    failed: failedAt(record),
    angry: angryAt(record),
    'cut-off': cutOffs(record)[0],
    'not-understood': misunderstoodAt(record),
    'hung-up': hungUpAt(record),
    'dead-air': deadAirAt(record),
    slow: slowAt(record),
  };
  return REASONS.flatMap((reason) => {
    const place = reason === 'judged-wrong' ? undefined : places[reason];
    return place === undefined ? [] : [findingAt(reason, place.atMs - LEAD_MS, place.turn)];
  });
}

/**
 * A failed item of an analysis' checklist, with the words it rests on.
 * @param recordingStartsMs since the call's start
 */
export function judgedWrong({ quality }: Pick<CallAnalysis, 'quality'>, recordingStartsMs: number): Finding[] {
  const items = quality?.items ?? [];
  const failed = items.find(({ result }) => result === 'fail');
  if (failed === undefined) return [];
  const words = failed.grounds.find((ground) => ground.kind === 'words');
  return [findingAt('judged-wrong', words === undefined ? 0 : words.startS * 1000 + recordingStartsMs - LEAD_MS, -1)];
}

function findingAt(reason: Reason, atMs: number, turn: number): Finding {
  return { reason, atMs: Math.max(0, Math.round(atMs)), turn: turn < 0 ? null : turn };
}

function failedAt({ timeline, turns, endReason = '', startedAtMs, endedAtMs = startedAtMs }: CallRecord): CallPlace | undefined {
  const problem = timeline.find(({ type, detail }) => type === 'problem' && String(detail).startsWith('dialog:'));
  if (problem === undefined && endingOf(endReason) !== 'failed') return undefined;
  return { atMs: problem?.atMs ?? endedAtMs - startedAtMs, turn: turns.at(-1)?.index ?? -1 };
}

function angryAt(record: CallRecord): CallPlace | undefined {
  const language = languageOf(record.language);
  const turn = record.turns.find(({ callerText }) => isAngry(callerText, language));
  return turn && spokenAt(record, turn);
}

function misunderstoodAt(record: CallRecord): CallPlace | undefined {
  const missed = turnsNotUnderstood(record);
  const turn = record.turns.find(({ index }) => index === missed[MISUNDERSTANDINGS - 1]);
  return turn && spokenAt(record, turn);
}

/** The caller hung up on an open question. */
function hungUpAt({ turns, endReason, startedAtMs }: CallRecord): CallPlace | undefined {
  const last = turns.at(-1);
  if (endReason !== 'caller-hangup' || last === undefined) return undefined;
  const question = questionIn(last.botText);
  if (question === undefined || CLOSING.test(question)) return undefined;
  return { atMs: (last.botStartedAtMs ?? last.startedAtMs) - startedAtMs, turn: last.index };
}

/** The longest wait in which nothing was heard. */
function deadAirAt(record: CallRecord): CallPlace | undefined {
  const covered = new Set(record.timeline.filter(({ type }) => type === 'filler').map(({ turn }) => turn));
  const waits = waitsOf(record).filter(({ waitedMs, turn }) => waitedMs > DEAD_AIR_MS && !covered.has(turn.index));
  const [longest] = waits.toSorted((one, other) => other.waitedMs - one.waitedMs);
  return longest && waitedAt(record, longest.turn);
}

function slowAt(record: CallRecord): CallPlace | undefined {
  const waits = waitsOf(record).toSorted((one, other) => one.waitedMs - other.waitedMs);
  const [median, worst] = [waits[Math.floor((waits.length - 1) / 2)], waits.at(-1)];
  return worst !== undefined && median !== undefined && median.waitedMs >= SLOW_MS ? waitedAt(record, worst.turn) : undefined;
}

type Turn = CallRecord['turns'][number];

function waitsOf({ turns }: CallRecord): { readonly turn: Turn; readonly waitedMs: number }[] {
  return turns.flatMap((turn) => {
    const { inputKind, latencies } = turn;
    const isReply = inputKind === 'spoken' || inputKind === 'keyed';
    return isReply && latencies.total !== undefined ? [{ turn, waitedMs: latencies.total }] : [];
  });
}

/** The beginning of a wait: its reply less the wait. */
function waitedAt({ startedAtMs }: CallRecord, turn: Turn): CallPlace {
  const repliedMs = turn.botStartedAtMs;
  const atMs = repliedMs === undefined ? turn.startedAtMs : repliedMs - (turn.latencies.total ?? 0);
  return { atMs: atMs - startedAtMs, turn: turn.index };
}

/** About when the caller began to say the words of a turn. */
function spokenAt({ startedAtMs }: CallRecord, { index, startedAtMs: endedMs, callerText, latencies }: Turn): CallPlace {
  const spokenMs = (callerText.length / CHARACTERS_PER_S) * 1000 + (latencies.endpointing ?? 0);
  return { atMs: endedMs - startedAtMs - spokenMs, turn: index };
}
