// Learnt from the synthetic voices by scripts/learn-voice-scale.ts: for each of the voice's statistics, in their order.

/** What it is on average over all voices. */
export const average: readonly number[] = [
  -5.703, 13.68, -3.643, -1.422, -4.258, -4.941, 1.193, -1.314, 0.1178, 0.2587, 0.5153, 0.5232, 0.7147, 0.336, 1.009, -0.002563,
  15.38, 22.16, 16.44, 13.81, 10.55, 9.164, 8.792, 6.58, 5.862, 4.871, 4.351, 4.085, 3.638, 3.284, 3.081, 2.963, 5.636, 1.963,
  0.7556,
];

/** How far it strays from clip to clip of one voice (standard deviation). */
export const wavering: readonly number[] = [
  5.527, 6.356, 4.189, 2.015, 1.971, 1.993, 1.454, 1.046, 0.934, 0.9009, 0.759, 0.7276, 0.6133, 0.6251, 0.6487, 0.5608, 2.961,
  5.878, 3.61, 3.709, 2.413, 1.98, 1.695, 1.124, 1.067, 0.8188, 0.7347, 0.6173, 0.4913, 0.404, 0.3221, 0.2741, 0.3459, 0.8351,
  0.1001,
];
