import { BANDS } from '../acoustics/mel.ts';

/** The range of `MelBank`: not exported there, since the shipped models carry a hash of that file. */
const [LOWEST_HZ, HIGHEST_HZ] = [150, 3_700];

/** The middle of a mel band, in Hz. */
export function bandCentreHz(band: number): number {
  const mel = (hz: number): number => 2_595 * Math.log10(1 + hz / 700);
  const [low, high] = [mel(LOWEST_HZ), mel(HIGHEST_HZ)];
  return 700 * (10 ** ((low + ((high - low) * (band + 1)) / (BANDS + 1)) / 2_595) - 1);
}

/** Taps on each side: enough for the widths of the lowest bands. */
const HALF_TAPS = 64;
/** Points of the gain curve that the filter is made from. */
const POINTS = 256;

/**
 * Speech with another spectrum.
 * @param gainsDb of each mel band; sounds outside the bands get the nearest band's gain
 */
export function equalised(pcm: Int16Array, rateHz: number, gainsDb: readonly number[]): Int16Array {
  const taps = filterTaps(rateHz, gainsDb);
  return Int16Array.from(pcm, (_, at) => {
    let sum = 0;
    for (let tap = 0; tap < taps.length; tap += 1) sum += (taps[tap] ?? 0) * (pcm[at + HALF_TAPS - tap] ?? 0);
    return Math.max(-32_768, Math.min(32_767, Math.round(sum)));
  });
}

/** A linear-phase filter by frequency sampling, under a Hann window. */
function filterTaps(rateHz: number, gainsDb: readonly number[]): Float64Array {
  const gains = Float64Array.from(
    { length: POINTS + 1 },
    (_, point) => 10 ** (gainAt((point * rateHz) / 2 / POINTS, gainsDb) / 20),
  );
  return Float64Array.from({ length: 2 * HALF_TAPS + 1 }, (_, tap) => {
    const distance = tap - HALF_TAPS;
    let sum = 0;
    for (let point = 0; point <= POINTS; point += 1) {
      const share = point === 0 || point === POINTS ? 0.5 : 1;
      sum += share * (gains[point] ?? 0) * Math.cos((Math.PI * point * distance) / POINTS);
    }
    return (sum / POINTS) * (0.5 + 0.5 * Math.cos((Math.PI * distance) / (HALF_TAPS + 1)));
  });
}

function gainAt(hz: number, gainsDb: readonly number[]): number {
  for (let band = 0; band < BANDS; band += 1) {
    const [here, next] = [bandCentreHz(band), bandCentreHz(band + 1)];
    if (hz < here) return gainsDb[band] ?? 0;
    if (hz < next && band + 1 < BANDS) {
      const share = (hz - here) / (next - here);
      return (1 - share) * (gainsDb[band] ?? 0) + share * (gainsDb[band + 1] ?? 0);
    }
  }
  return gainsDb.at(-1) ?? 0;
}
