import { embedSpeaker, similarity, embedStatistics } from './embedding.ts';
import type { Diarization, SpeakerEngine } from './port.ts';
import type { VoiceWindow } from './voice-track.ts';

/** A change of speaker must be worth this much cosine: single windows in between are mistakes mostly. */
const CHANGE_COST = 0.5;
/** Groups this alike are one voice that was split because two were asked for. */
const SAME_GROUP = 0.95;

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
    const speaker = order.indexOf(labels[index] ?? 0);
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
    const from = scores.map((score, speaker) => (score >= (scores[best] ?? 0) - cost ? speaker : best));
    cameFrom.push(from);
    scores = centres.map((centre, speaker) => {
      const origin = from[speaker] ?? 0;
      return (scores[origin] ?? 0) - (origin === speaker ? 0 : cost) + cosine(point, centre);
    });
  }
  const labels: number[] = [];
  let speaker = scores.indexOf(Math.max(...scores));
  for (let index = points.length - 1; index >= 0; index -= 1) {
    labels[index] = speaker;
    speaker = cameFrom[index]![speaker] ?? 0;
  }
  return labels;
}

function meanOf(windows: readonly VoiceWindow[]): Float64Array | undefined {
  const known = windows.flatMap(({ statistics }) => (statistics === undefined ? [] : [statistics]));
  return known[0]?.map((_, index) => known.reduce((sum, statistics) => sum + (statistics[index] ?? 0), 0) / known.length);
}

/** Voices by their cepstrum and pitch; needs no model. */
export const builtInSpeakers: SpeakerEngine = {
  kind: 'built-in',
  tapeSeconds: 0,
  embed: async (pcm16k) => embedSpeaker(pcm16k),
  similarity,
  diarise: async ({ windows }, most) => diarise(windows, most),
  [Symbol.asyncDispose]: async () => undefined,
};

/** More points than this are thinned out for the first grouping, whose cost grows with their square. */
const MOST_POINTS = 500;
/** A group with a smaller share of the points is noise, not a voice. */
const LEAST_SHARE = 0.04;
const ROUNDS = 12;

/**
 * Sorts unit vectors into at most so many groups: average-linkage clustering finds the centres, and every point then goes
 * to the nearest one until nothing moves. Fewer groups come back when there are not as many that hold a fair share.
 * @returns centres of unit length
 */
export function clusterCentres(points: readonly Float32Array[], groups: number): Float32Array[] {
  const step = Math.max(1, points.length / MOST_POINTS);
  const sample = Array.from({ length: Math.floor(points.length / step) }, (_, index) => points[Math.floor(index * step)]!);
  let centres = linked(sample, groups).map(centreOf);
  for (let round = 0; round < ROUNDS; round += 1) {
    const members = centres.map((): Float32Array[] => []);
    for (const point of points) members[nearest(point, centres)]?.push(point);
    centres = members.filter((list) => list.length > 0).map(centreOf);
  }
  return centres;
}

export function cosine(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < a.length; index += 1) sum += (a[index] ?? 0) * (b[index] ?? 0);
  return sum;
}

function nearest(point: Float32Array, centres: readonly Float32Array[]): number {
  let best = 0;
  for (let index = 1; index < centres.length; index += 1) {
    if (cosine(point, centres[index]!) > cosine(point, centres[best]!)) best = index;
  }
  return best;
}

function centreOf(points: readonly Float32Array[]): Float32Array {
  const sum = new Float64Array(points[0]!.length);
  for (const point of points)
    for (let index = 0; index < sum.length; index += 1) sum[index] = (sum[index] ?? 0) + (point[index] ?? 0);
  const length = Math.hypot(...sum) || 1;
  return Float32Array.from(sum, (value) => value / length);
}

/** Joins the two groups with the least mean distance again and again, as long as `groups` large ones are left. */
function linked(points: readonly Float32Array[], groups: number): Float32Array[][] {
  let clusters = points.map((point) => [point]);
  const distances = points.map((a) => points.map((b) => 1 - cosine(a, b)));
  const least = Math.max(1, Math.floor(points.length * LEAST_SHARE));
  const large = (): Float32Array[][] => clusters.filter((cluster) => cluster.length >= least).sort((a, b) => b.length - a.length);
  let kept = large().slice(0, groups);
  while (clusters.length > groups) {
    const [a, b] = closest(distances);
    const [left, right] = [clusters[a]!, clusters[b]!];
    for (const [index, row] of distances.entries()) {
      const mean = ((row[a] ?? 0) * left.length + (row[b] ?? 0) * right.length) / (left.length + right.length);
      row[a] = mean;
      distances[a]![index] = mean;
    }
    for (const row of distances) row.splice(b, 1);
    distances.splice(b, 1);
    clusters = clusters.map((cluster, index) => (index === a ? [...left, ...right] : cluster)).filter((_, index) => index !== b);
    const now = large().slice(0, groups);
    // Later groupings are better ones, until a voice would be lost.
    if (now.length >= kept.length) kept = now;
  }
  return kept;
}

function closest(distances: readonly (readonly number[])[]): [number, number] {
  let [best, a, b] = [Number.POSITIVE_INFINITY, 0, 1];
  for (let row = 0; row < distances.length; row += 1) {
    for (let column = row + 1; column < distances.length; column += 1) {
      if ((distances[row]![column] ?? 0) < best) [best, a, b] = [distances[row]![column] ?? 0, row, column];
    }
  }
  return [a, b];
}
