import type { Stretch } from './speech-meter.ts';
import type { AnalysisProfile } from './profile.ts';

/** One person's speech, in order of time, without overlaps. */
export interface Talker {
  readonly role: string;
  readonly stretches: readonly Stretch[];
}

export interface RoleMeasures {
  readonly role: string;
  readonly speechS: number;
  /** Share of all speech, 0 to 1. */
  readonly talkRatio: number;
  readonly turns: number;
  readonly longestMonologueS: number;
  /** How often this role cut another one short. */
  readonly interruptions: number;
  /** Gap from the other's last sound to this role's first; undefined without gaps. */
  readonly replyGapP50S: number | undefined;
  readonly replyGapP95S: number | undefined;
}

export interface TalkMeasures {
  readonly totalS: number;
  /** Time in which anybody speaks. */
  readonly speechS: number;
  readonly roles: readonly RoleMeasures[];
  readonly overlaps: readonly Stretch[];
  readonly overlapS: number;
  /** Also before the first and after the last word. */
  readonly silences: readonly Stretch[];
  readonly silenceS: number;
  readonly longestSilenceS: number;
  readonly interruptions: readonly { readonly atS: number; readonly by: string; readonly of: string }[];
}

/** Role of speech on a shared channel without separated speakers. */
export const UNKNOWN_ROLE = 'unknown';

/** Longest word of assent, and pause, that keep the other's floor. */
const ASSENT_S = 1;
const THINKING_S = 2;

/**
 * Measures a conversation by its sound alone.
 * @param talkers one for each role; a silent role may be absent
 */
export function measureTalk(
  talkers: readonly Talker[],
  totalS: number,
  { silenceMs, overlapMs, interruptionMs }: AnalysisProfile['measures'],
): TalkMeasures {
  const anybody = union(talkers.flatMap(({ stretches }) => stretches));
  const overlaps = overlapsOf(talkers).filter(({ startS, endS }) => rounded(endS - startS) >= overlapMs / 1000);
  const silences = gapsIn(anybody, totalS).filter(({ startS, endS }) => rounded(endS - startS) >= silenceMs / 1000);
  const interruptions = interruptionsOf(talkers, interruptionMs / 1000);
  const turns = turnsOf(talkers);
  const allS = talkers.reduce((sum, { stretches }) => sum + lengthOf(stretches), 0);
  const roles = talkers.map(({ role, stretches }): RoleMeasures => {
    const speechS = lengthOf(stretches);
    const own = turns.filter((turn) => turn.role === role);
    const gaps = replyGaps(talkers, role, own);
    return {
      role,
      speechS: rounded(speechS),
      talkRatio: allS === 0 ? 0 : rounded(speechS / allS),
      turns: own.length,
      longestMonologueS: rounded(Math.max(0, ...own.map(({ startS, endS }) => endS - startS))),
      interruptions: interruptions.filter(({ by }) => by === role).length,
      replyGapP50S: percentile(gaps, 0.5),
      replyGapP95S: percentile(gaps, 0.95),
    };
  });
  return {
    totalS: rounded(totalS),
    speechS: rounded(lengthOf(anybody)),
    roles,
    overlaps: overlaps.map(roundedStretch),
    overlapS: rounded(lengthOf(overlaps)),
    silences: silences.map(roundedStretch),
    silenceS: rounded(lengthOf(silences)),
    longestSilenceS: rounded(Math.max(0, ...silences.map(({ startS, endS }) => endS - startS))),
    interruptions: interruptions.map((each) => ({ ...each, atS: rounded(each.atS) })),
  };
}

/** Stretches put together where they touch or overlap. */
export function union(stretches: readonly Stretch[]): Stretch[] {
  const joined: { startS: number; endS: number }[] = [];
  for (const { startS, endS } of stretches.toSorted((left, right) => left.startS - right.startS)) {
    const last = joined.at(-1);
    if (last !== undefined && startS <= last.endS) last.endS = Math.max(last.endS, endS);
    else joined.push({ startS, endS });
  }
  return joined;
}

function gapsIn(stretches: readonly Stretch[], totalS: number): Stretch[] {
  const ends = [0, ...stretches.map(({ endS }) => endS)];
  const starts = [...stretches.map(({ startS }) => startS), totalS];
  return ends.map((startS, index) => ({ startS, endS: Math.max(startS, starts[index] ?? totalS) }));
}

/** Where two or more speak at once. */
function overlapsOf(talkers: readonly Talker[]): Stretch[] {
  const edges = talkers
    .flatMap(({ stretches }) => stretches.flatMap(({ startS, endS }) => [[startS, 1] as const, [endS, -1] as const]))
    // An end at the same time as a start is no overlap.
    .sort(([left, leftStep], [right, rightStep]) => left - right || leftStep - rightStep);
  const found: Stretch[] = [];
  let speaking = 0;
  let since = 0;
  for (const [atS, step] of edges) {
    if (speaking === 1 && step === 1) since = atS;
    if (speaking === 2 && step === -1 && atS > since) found.push({ startS: since, endS: atS });
    speaking += step;
  }
  return found;
}

function interruptionsOf(talkers: readonly Talker[], leastS: number): { atS: number; by: string; of: string }[] {
  const pairs = talkers.flatMap((one) => talkers.filter((other) => other !== one).map((other) => [one, other] as const));
  return pairs
    .flatMap(([by, of]) => {
      const found: { atS: number; by: string; of: string }[] = [];
      let index = 0;
      for (const { startS, endS } of by.stretches) {
        while ((of.stretches[index]?.endS ?? Number.POSITIVE_INFINITY) <= startS) index += 1;
        const other = of.stretches[index];
        // A speaker who had just begun, perhaps with a word of assent, was not cut short.
        const wasSpeaking = other !== undefined && startS - other.startS >= leastS;
        if (wasSpeaking && other.endS <= endS && endS - startS >= leastS) found.push({ atS: startS, by: by.role, of: of.role });
      }
      return found;
    })
    .sort((left, right) => left.atS - right.atS);
}

interface Turn extends Stretch {
  readonly role: string;
}

/** Turns: a word of assent does not take the floor, a pause of more than two seconds ends it. */
function turnsOf(talkers: readonly Talker[]): Turn[] {
  const all = talkers
    .flatMap(({ role, stretches }) => stretches.map((stretch) => ({ ...stretch, role })))
    .sort((left, right) => left.startS - right.startS);
  const turns: { startS: number; endS: number; role: string }[] = [];
  for (const stretch of all) {
    const last = turns.at(-1);
    if (last === undefined) turns.push({ ...stretch });
    else if (stretch.role === last.role && stretch.startS - last.endS <= THINKING_S)
      last.endS = Math.max(last.endS, stretch.endS);
    else {
      const before = turns.at(-2);
      const isShort = ({ startS, endS }: Stretch): boolean => endS - startS < ASSENT_S;
      if (stretch.role !== last.role && isShort(stretch) && stretch.endS <= last.endS) continue;
      if (
        stretch.role !== last.role &&
        isShort(last) &&
        before?.role === stretch.role &&
        stretch.startS - before.endS <= ASSENT_S
      ) {
        turns.pop();
        before.endS = Math.max(before.endS, stretch.endS);
      } else turns.push({ ...stretch });
    }
  }
  return turns;
}

/** From the last sound before a turn to its first one, where that sound was another's and was over by then. */
function replyGaps(talkers: readonly Talker[], role: string, turns: readonly Turn[]): number[] {
  return turns.flatMap(({ startS }) => {
    const before = talkers.map((talker) => {
      const earlier = talker.stretches.findLast((stretch) => stretch.startS < startS);
      return { role: talker.role, endS: earlier?.endS ?? -1 };
    });
    const last = before.reduce((latest, each) => (each.endS > latest.endS ? each : latest), { role, endS: -1 });
    return last.role === role || last.endS > startS ? [] : [startS - last.endS];
  });
}

/** Seconds of all stretches together. */
export function lengthOf(stretches: readonly Stretch[]): number {
  return stretches.reduce((sum, { startS, endS }) => sum + endS - startS, 0);
}

/** Nearest rank. */
function percentile(values: readonly number[], share: number): number | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  const value = sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
  return value === undefined ? undefined : rounded(value);
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}

function roundedStretch({ startS, endS }: Stretch): Stretch {
  return { startS: rounded(startS), endS: rounded(endS) };
}
