// How long people pause inside a turn, from what was published of real turns of people who talk to a machine.

/**
 * Share of turns whose longest pause is longer than this: LiveKit's eot-bench (June 2026), English, "silence alone". It names three points. Between
 * them, and on to 200 ms, a log-normal distribution is drawn through each pair.
 */
const PUBLISHED = [
  { ms: 300, longer: 0.556 },
  { ms: 600, longer: 0.217 },
  { ms: 1_600, longer: 0.05 },
] as const;

/** Shorter ones are a part of speaking: a detector of voice bridges them. */
export const LEAST_PAUSE_MS = 200;

/**
 * The longest pause of a turn, in ms; undefined for a turn without one.
 * @param mostMs longer ones are drawn again
 */
export function longestPause(random: () => number, mostMs: number): number | undefined {
  for (;;) {
    const ms = pauseAt(random());
    if (ms < LEAST_PAUSE_MS) return undefined;
    if (ms <= mostMs) return Math.round(ms);
  }
}

/** The length that this share of turns exceeds. */
function pauseAt(share: number): number {
  const points = PUBLISHED.map(({ ms, longer }) => ({ log: Math.log(ms), z: -quantile(longer) }));
  const z = -quantile(share);
  const upper = Math.max(
    1,
    points.findIndex((point) => z <= point.z),
  );
  const [low, high] = z > points.at(-1)!.z ? points.slice(-2) : points.slice(upper - 1, upper + 1);
  return Math.exp(low!.log + ((z - low!.z) * (high!.log - low!.log)) / (high!.z - low!.z));
}

/** The quantile of the normal distribution, by bisection of its distribution function. */
function quantile(share: number): number {
  let [low, high] = [-6, 6];
  for (let step = 0; step < 50; step += 1) {
    const middle = (low + high) / 2;
    if (normal(middle) < share) low = middle;
    else high = middle;
  }
  return low;
}

/** The distribution function of the normal distribution (Abramowitz and Stegun, 26.2.17). */
function normal(z: number): number {
  const t = 1 / (1 + 0.2316419 * Math.abs(z));
  const tail =
    (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) *
    t *
    (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return z >= 0 ? 1 - tail : tail;
}
