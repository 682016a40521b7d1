import { cosine, embedSpeaker, embedStatistics, similarity } from './embedding.ts';
import type { Diarization, SpeakerEngine, VoiceWindow } from './port.ts';

/** Speakers by cepstrum and pitch, without a model. */
export const builtInSpeakers: SpeakerEngine = {
  kind: 'built-in',
  tapeSeconds: 0,
  // Measured on people and synthetic voices (docs/platform-features.md): 9 % of either error.
  identifiesFrom: 0.85,
  embed: async (pcm16k) => embedSpeaker(pcm16k),
  similarity,
  diarise: async ({ windows }, most) => diarise(windows, most),
  [Symbol.asyncDispose]: async () => undefined,
};

/** Cost of a change of speaker, as cosine: most single windows in between are mistakes. */
const CHANGE_COST = 0.5;
/** Clusters this alike are one voice, split because more were asked for. */
const SAME_CLUSTER = 0.95;

/**
 * Diarizes a recording by the sound of the voices.
 * @param windows in order of time
 * @param most    number of speakers; fewer are found when no more can be told apart
 */
export function diarise(windows: readonly VoiceWindow[], most: number): Diarization {
  const points = windows.map(({ statistics }) => embedStatistics(statistics));
  const known = points.filter((_, index) => windows[index]?.statistics !== undefined);
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
  for (const centre of centres) if (kept.every((other) => cosine(centre, other) < SAME_CLUSTER)) kept.push(centre);
  return kept;
}

/** The most likely speaker of every window, with a cost for each change (Viterbi). */
function smoothed(windows: readonly VoiceWindow[], points: readonly Float32Array[], centres: readonly Float32Array[]): number[] {
  if (centres.length < 2) return windows.map(() => 0);
  let scores = centres.map(() => 0);
  /** For each window, the speaker of the window before on the best path to each speaker. */
  const origins: number[][] = [];
  for (const [index, point] of points.entries()) {
    // After a pause a change costs less.
    const cost = windows[index - 1]?.stretch === windows[index]?.stretch ? CHANGE_COST : CHANGE_COST / 5;
    const most = Math.max(...scores);
    const best = scores.indexOf(most);
    const reached = scores.map((score, speaker) =>
      score >= most - cost ? { origin: speaker, score } : { origin: best, score: most - cost },
    );
    origins.push(reached.map(({ origin }) => origin));
    scores = reached.map(({ score }, speaker) => score + cosine(point, centres[speaker] ?? point));
  }
  const labels: number[] = [];
  let speaker = scores.indexOf(Math.max(...scores));
  for (const reached of origins.reverse()) {
    labels.unshift(speaker);
    speaker = reached[speaker] ?? 0;
  }
  return labels;
}

function meanOf(windows: readonly VoiceWindow[]): Float64Array | undefined {
  const known = windows.flatMap(({ statistics }) => (statistics === undefined ? [] : [statistics]));
  return known[0]?.map((_, index) => known.reduce((sum, statistics) => sum + (statistics[index] ?? 0), 0) / known.length);
}

/** The first clustering takes at most this many points: its cost grows with their square. */
const MOST_POINTS = 500;
/** A cluster with a smaller share of the points is noise, not a voice. */
const LEAST_SHARE = 0.04;
const ROUNDS = 12;

/**
 * Clusters unit vectors: average linkage finds the centres, then k-means refines them.
 * @returns centres of unit length, at most `most`; fewer when no more clusters hold a fair share
 */
export function clusterCentres(points: readonly Float32Array[], most: number): Float32Array[] {
  const step = Math.max(1, points.length / MOST_POINTS);
  const sample = Array.from({ length: Math.floor(points.length / step) }, (_, index) => points[Math.floor(index * step)]);
  let centres = linked(
    sample.flatMap((point) => point ?? []),
    most,
  ).map(centreOf);
  for (let round = 0; round < ROUNDS; round += 1) {
    const members = centres.map((): Float32Array[] => []);
    for (const point of points) members[nearest(point, centres)]?.push(point);
    centres = members.filter((list) => list.length > 0).map(centreOf);
  }
  return centres;
}

function nearest(point: Float32Array, centres: readonly Float32Array[]): number {
  const alike = centres.map((centre) => cosine(point, centre));
  return Math.max(0, alike.indexOf(Math.max(...alike)));
}

function centreOf(points: readonly Float32Array[]): Float32Array {
  const sum = new Float64Array(points[0]?.length ?? 0);
  for (const point of points) for (const [index, value] of point.entries()) sum[index] = (sum[index] ?? 0) + value;
  const length = Math.hypot(...sum) || 1;
  return Float32Array.from(sum, (value) => value / length);
}

/** Merges the two clusters with the least mean distance again and again, and returns the last state with `most` large clusters. */
function linked(points: readonly Float32Array[], most: number): Float32Array[][] {
  let clusters = points.map((point) => [point]);
  const distances = points.map((a) => points.map((b) => 1 - cosine(a, b)));
  const least = Math.max(1, Math.floor(points.length * LEAST_SHARE));
  const large = (): Float32Array[][] => clusters.filter((cluster) => cluster.length >= least).sort((a, b) => b.length - a.length);
  let kept = large().slice(0, most);
  while (clusters.length > most) {
    const [a, b] = closest(distances);
    const [left = [], right = []] = [clusters[a], clusters[b]];
    const merged = distances.map(
      (row) => ((row[a] ?? 0) * left.length + (row[b] ?? 0) * right.length) / (left.length + right.length),
    );
    for (const [index, row] of distances.entries()) row[a] = merged[index] ?? 0;
    distances[a] = merged;
    for (const row of distances) row.splice(b, 1);
    distances.splice(b, 1);
    clusters = clusters.map((cluster, index) => (index === a ? [...left, ...right] : cluster)).filter((_, index) => index !== b);
    const now = large().slice(0, most);
    // A later state is better, unless a voice is lost in it.
    if (now.length >= kept.length) kept = now;
  }
  return kept;
}

function closest(distances: readonly (readonly number[])[]): [number, number] {
  let [best, a, b] = [Number.POSITIVE_INFINITY, 0, 1];
  for (const [row, columns] of distances.entries()) {
    for (let column = row + 1; column < columns.length; column += 1) {
      const distance = columns[column] ?? Number.POSITIVE_INFINITY;
      if (distance < best) [best, a, b] = [distance, row, column];
    }
  }
  return [a, b];
}
