import { type Ending, endingOf } from '../call/log/outcome.ts';
import { languageOf, saysNotUnderstood } from '../language/index.ts';
import { type CallRecord, IMPORTED } from './record.ts';

/** What became of a call, for statistics: each counted call has one. */
export const RESULTS = ['contained', 'transferred', 'given-up', 'opted-out', 'failed', 'cut-short', 'not-answered'] as const;
export type Result = (typeof RESULTS)[number];

/** What one call counts as. */
interface CallFigures {
  readonly ending: Ending;
  readonly result: Result;
  /** A person answered: not a mailbox, a fax or a queue. */
  readonly answered: boolean;
  readonly optedOut: boolean;
  /** How often the bot began to speak although the caller was not done. */
  readonly cutOffs: number;
  /** Turns of the caller that the bot did not understand. */
  readonly notUnderstood: number;
}

/** A caller who speaks up so soon after the bot began had not been done, in ms. */
const CUT_OFF_WITHIN_MS = 1_000;

/** @returns undefined for a call that is not counted: a running one, one between people, a recording from elsewhere, a rehearsal */
export function figuresOf(record: CallRecord): CallFigures | undefined {
  const { endedAtMs, endReason = '', carrier, mode, rehearsal, answeredAtMs, outbound, optOut } = record;
  if (endedAtMs === undefined || carrier === IMPORTED || mode === 'listen' || rehearsal === true) return undefined;
  const ending = endingOf(endReason);
  const answered = answeredAtMs !== undefined && (outbound?.answeredBy ?? 'person') === 'person';
  return {
    ending,
    result: answered ? resultOf(ending, endReason) : 'not-answered',
    answered,
    optedOut: optOut !== undefined || ending === 'opted-out',
    cutOffs: cutOffs(record).length,
    notUnderstood: turnsNotUnderstood(record).length,
  };
}

function resultOf(ending: Ending, endReason: string): Result {
  switch (ending) {
    case 'finished':
      return 'contained';
    case 'hung-up':
      // A caller who says goodbye got what they came for.
      return endReason === 'caller-said-goodbye' ? 'contained' : 'given-up';
    case 'no-input':
    case 'not-understood':
      return 'given-up';
    case 'transferred':
    case 'opted-out':
    case 'failed':
    case 'cut-short':
      return ending;
  }
}

/** A place in a call: ms since the call's start, and the turn. */
export interface CallPlace {
  readonly atMs: number;
  readonly turn: number;
}

/** Where the bot began to speak into the caller's pause: the caller spoke up within a second, and the bot fell silent. */
export function cutOffs({ timeline, turns }: Pick<CallRecord, 'timeline' | 'turns'>): CallPlace[] {
  const spoken = new Set(turns.filter(({ inputKind }) => inputKind === 'spoken').map(({ index }) => index));
  const begunMs = new Map<number, number>();
  const found: CallPlace[] = [];
  for (const event of timeline) {
    const { type, atMs, turn } = event;
    if (typeof turn !== 'number' || !spoken.has(turn)) continue;
    if (type === 'first-frame' && !begunMs.has(turn)) begunMs.set(turn, atMs + numberOr(event['leadMs'], 0));
    const fromMs = begunMs.get(turn);
    if (type !== 'clear' || event['by'] === 'key' || fromMs === undefined) continue;
    const onsetMs = numberOr(event['onsetMs'], atMs);
    if (onsetMs - fromMs < CUT_OFF_WITHIN_MS) found.push({ atMs: Math.max(0, Math.min(onsetMs, fromMs)), turn });
  }
  return found;
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}

/** Turns of the caller in which no words were recognised, or to which the bot says so, or asks the same question once more. */
export function turnsNotUnderstood({ turns, language }: Pick<CallRecord, 'turns' | 'language'>): number[] {
  const of = languageOf(language);
  return turns.flatMap(({ index, inputKind, callerText, botText }, at) => {
    if (inputKind !== 'spoken') return [];
    // Speech that the recogniser found no words in.
    if (callerText === '') return [index];
    const asked = questionIn(turns[at - 1]?.botText ?? '');
    const isAgain = asked !== undefined && questionIn(botText) === asked;
    return isAgain || saysNotUnderstood(botText, of) ? [index] : [];
  });
}

/** The question at the end of a text. */
export function questionIn(text: string): string | undefined {
  return /(?:^|[.!?।])\s*([^.!?।]+\?)\s*$/u.exec(text)?.[1]?.trim();
}
