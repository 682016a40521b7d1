import { embedStatistics } from '../speaker/embedding.ts';
import { clusterCentres, cosine } from './cluster.ts';
import type { VoiceWindow } from './voice-track.ts';

/** A change of speaker must be worth this much cosine: single windows in between are mistakes mostly. */
const CHANGE_COST = 0.5;
/** Groups this alike are one voice that was split because two were asked for. */
const SAME_GROUP = 0.95;

export interface SpokenTurn {
  readonly startS: number;
  readonly endS: number;
  /** From 0 in the order of first appearance. */
  readonly speaker: number;
}

export interface Diarization {
  /** In order of time; none overlap. */
  readonly turns: readonly SpokenTurn[];
  /** One a speaker, from all of what it said. */
  readonly embeddings: readonly Float32Array[];
}

/**
 * Tells who spoke when, from the sound of the voices alone.
 * @param windows in order of time
 * @param most    speakers there are; fewer are found when no more can be told apart
 */
export function diarise(windows: readonly VoiceWindow[], most: number): Diarization {
  const points = windows.map(({ statistics }) => embedStatistics(statistics));
  const known = points.filter((_, index) => windows[index]!.statistics !== undefined);
  const centres = distinct(clusterCentres(known, most));
  const labels = smoothed(windows, points, centres);
  const order = [...new Set(labels)];
  const turns: { startS: number; endS: number; speaker: number }[] = [];
  for (const [index, { startS, endS, stretch }] of windows.entries()) {
    const speaker = order.indexOf(labels[index]!);
    const last = turns.at(-1);
    if (last !== undefined && last.speaker === speaker && windows[index - 1]?.stretch === stretch) last.endS = endS;
    else turns.push({ startS, endS, speaker });
  }
  const embeddings = order.map((label) => embedStatistics(meanOf(windows.filter((_, index) => labels[index] === label))));
  return { turns, embeddings };
}

function distinct(centres: readonly Float32Array[]): Float32Array[] {
  const kept: Float32Array[] = [];
  for (const centre of centres) if (kept.every((other) => cosine(centre, other) < SAME_GROUP)) kept.push(centre);
  return kept;
}

/** The most likely speaker of every window, where changing costs something (Viterbi). */
function smoothed(windows: readonly VoiceWindow[], points: readonly Float32Array[], centres: readonly Float32Array[]): number[] {
  if (centres.length < 2) return windows.map(() => 0);
  let scores = centres.map(() => 0);
  const cameFrom: number[][] = [];
  for (const [index, point] of points.entries()) {
    // After a pause anyone may go on.
    const cost = windows[index - 1]?.stretch === windows[index]!.stretch ? CHANGE_COST : CHANGE_COST / 5;
    const best = scores.indexOf(Math.max(...scores));
    const from = scores.map((score, speaker) => (score >= scores[best]! - cost ? speaker : best));
    cameFrom.push(from);
    scores = centres.map((centre, speaker) => {
      const origin = from[speaker]!;
      return scores[origin]! - (origin === speaker ? 0 : cost) + cosine(point, centre);
    });
  }
  const labels: number[] = [];
  let speaker = scores.indexOf(Math.max(...scores));
  for (let index = points.length - 1; index >= 0; index -= 1) {
    labels[index] = speaker;
    speaker = cameFrom[index]![speaker]!;
  }
  return labels;
}

function meanOf(windows: readonly VoiceWindow[]): Float64Array | undefined {
  const known = windows.flatMap(({ statistics }) => (statistics === undefined ? [] : [statistics]));
  return known[0]?.map((_, index) => known.reduce((sum, statistics) => sum + statistics[index]!, 0) / known.length);
}
