import { BANDS } from '../acoustics/mel.ts';
import { resample } from '../../../audio/resample.ts';
import { SHAPE, VOICE_FRAME_S, type VoiceFrame, voiceFrames, voiceStatistics } from '../speakers/voice-features.ts';
import type { VoiceLikeness } from './port.ts';
import { OWN_RATE_HZ, type VoiceSound } from './voices.ts';

/** The range of `MelBank`: not exported there, since the shipped models carry a hash of that file. */
const [LOWEST_HZ, HIGHEST_HZ] = [150, 3_700];

/** The middle of a mel band, in Hz. */
function bandCentreHz(band: number): number {
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

/** A sound that is like a reference. */
export interface LikeSound extends VoiceSound {
  readonly gender: 'female' | 'male';
  /** As heard. */
  readonly pitchHz: number;
  /** Pitch range, 0 to 99. */
  readonly range: number;
  /** Gain of each mel band. */
  readonly gainsDb: readonly number[];
}

/** With fewer voiced frames (0.2 s) there is no voice. */
const LEAST_VOICED = 14;
/** Values further from the median are octave errors of the measurement. */
const WITHIN_SEMITONES = 7;

/**
 * @param transcript what is said in the clip; '' when it is not known
 * @returns undefined when nothing in the clip sounds like a voice of 60 to 420 Hz
 */
export function likenessOf(pcm: Int16Array, rateHz: number, transcript = ''): VoiceLikeness | undefined {
  const frames = voiceFrames(resample(pcm, rateHz, 16_000));
  const statistics = voiceStatistics(frames);
  const pitches = frames.flatMap(({ pitchHz }) => (pitchHz === undefined ? [] : [pitchHz])).toSorted((a, b) => a - b);
  if (statistics === undefined || pitches.length < LEAST_VOICED) return undefined;
  const pitchHz = pitches[pitches.length >> 1] ?? 0;
  const near = pitches.map((hz) => 12 * Math.log2(hz / pitchHz)).filter((semitones) => Math.abs(semitones) < WITHIN_SEMITONES);
  const part = (share: number): number => near[Math.floor(share * (near.length - 1))] ?? 0;
  return {
    pitchHz,
    rangeSemitones: part(0.9) - part(0.1),
    shape: [...statistics.subarray(0, SHAPE)],
    pace: paceOf(frames, transcript),
  };
}

/** Frames this much below the loudest are pauses. */
const PAUSE_DB = 18;
/** Seconds that the built-in voices take for a letter without pauses: measured in English and Hindi. */
const LETTER_S = { latin: 0.041, other: 0.055 };
/** A shorter transcript says nothing about the pace. */
const LEAST_LETTERS = 8;

/** How much faster the transcript was spoken than the built-in voices would. */
function paceOf(frames: readonly VoiceFrame[], transcript: string): number | undefined {
  const latin = transcript.match(/\p{Script=Latin}/gu)?.length ?? 0;
  const other = (transcript.match(/[\p{L}\p{M}]/gu)?.length ?? 0) - latin;
  if (latin + other < LEAST_LETTERS) return undefined;
  const loud = frames.map(({ level }) => level).toSorted((a, b) => a - b)[Math.floor(frames.length * 0.95)] ?? 0;
  const spokenS = frames.filter(({ level }) => level > loud - PAUSE_DB).length * VOICE_FRAME_S;
  return (latin * LETTER_S.latin + other * LETTER_S.other) / Math.max(spokenS, VOICE_FRAME_S);
}

/** A voice that others are made from. */
interface Base {
  readonly gender: 'female' | 'male';
  readonly variant: string;
  /** The median pitch in Hz at the settings 0, 25, 50, 75 and 99, measured in English and Hindi, which agree within 3 %. */
  readonly scale: readonly { readonly setting: number; readonly hz: number }[];
  /** As of a likeness, measured in the same way. */
  readonly shape: readonly number[];
}

const man: Base = {
  gender: 'male',
  variant: 'm3',
  scale: scaleOf(71, 81, 101, 129, 169),
  shape: [-10.2, 23.5, -4.5, -1.3, -3.2, -8.7, -1.6, 2.3, -3.9, 2, -1.7, -0.3, 1.6, -2.4, 1.7, -1.7],
};
const woman: Base = {
  gender: 'female',
  variant: 'f2',
  scale: scaleOf(121, 148, 187, 241, 313),
  shape: [2.9, 10.2, -8.9, -4.6, -3.7, -5.9, 4.5, -4.1, 2, -0.9, 1.1, 1.1, -0.1, 2.7, 1, 2.4],
};

/** The pitch at which both voices fit about equally well. */
const WOMAN_FROM_HZ = 150;
/** Semitones of range per step of the setting, measured likewise. */
const SEMITONES_A_STEP = 0.12;
/** Rates that formants may be played at: 8 % lower to 10 % higher. */
const PLAYED_HZ = [20_250, 20_700, 21_150, 21_600, OWN_RATE_HZ, 22_500, 23_100, 23_400, 24_300];
/** A larger gain would bring up noise. */
const MOST_GAIN_DB = 15;
const PACE = { slowest: 0.8, fastest: 1.25 };

/** The sound nearest to a likeness; pitches outside 71 to 313 Hz get the nearest end. */
export function soundLike(likeness: VoiceLikeness): LikeSound {
  const { gender, variant, scale, shape } = likeness.pitchHz < WOMAN_FROM_HZ ? man : woman;
  const wanted = bandsOf(likeness.shape);
  const own = bandsOf(shape);
  const differences = PLAYED_HZ.map((rateHz) => {
    const played = warped(own, rateHz / OWN_RATE_HZ);
    return { rateHz, gainsDb: wanted.map((level, band) => level - (played[band] ?? 0)) };
  });
  const { rateHz, gainsDb } = differences.reduce((best, each) => (unlike(each.gainsDb) < unlike(best.gainsDb) ? each : best));
  return {
    gender,
    variant,
    pitch: pitchSetting((likeness.pitchHz * OWN_RATE_HZ) / rateHz, scale),
    range: Math.round(Math.max(0, Math.min(99, likeness.rangeSemitones / SEMITONES_A_STEP))),
    pitchHz: likeness.pitchHz,
    rateHz,
    gainsDb: gainsDb.map((gainDb) => Math.max(-MOST_GAIN_DB, Math.min(MOST_GAIN_DB, gainDb))),
    pace: Math.max(PACE.slowest, Math.min(PACE.fastest, likeness.pace ?? 1)),
  };
}

function pitchSetting(pitchHz: number, scale: Base['scale']): number {
  const above = scale.findIndex(({ hz }) => hz >= pitchHz);
  const [low, high] = [scale[above - 1], scale[above]];
  if (low === undefined || high === undefined) return above === 0 ? 0 : 99;
  return Math.round(low.setting + (high.setting - low.setting) * (Math.log(pitchHz / low.hz) / Math.log(high.hz / low.hz)));
}

/** dB of each band, from cepstral coefficients. */
function bandsOf(shape: readonly number[]): number[] {
  return Array.from({ length: BANDS }, (_, band) =>
    shape.reduce((sum, value, k) => sum + value * Math.cos((Math.PI * (k + 1) * (band + 0.5)) / BANDS) * Math.sqrt(2 / BANDS), 0),
  );
}

/** The bands of a spectrum with all frequencies multiplied. */
function warped(bands: readonly number[], factor: number): number[] {
  return bands.map((_, band) => {
    const hz = bandCentreHz(band) / factor;
    const above = bands.findIndex((__, index) => bandCentreHz(index) > hz);
    const [low, high] = above === 0 ? [0, 0] : above === -1 ? [BANDS - 1, BANDS - 1] : [above - 1, above];
    const [from, to] = [bandCentreHz(low), bandCentreHz(high)];
    const share = to === from ? 0 : (hz - from) / (to - from);
    return (1 - share) * (bands[low] ?? 0) + share * (bands[high] ?? 0);
  });
}

/** How much two spectra differ beyond level and tilt: what is left is where their formants are. */
function unlike(differences: readonly number[]): number {
  const middle = (differences.length - 1) / 2;
  const mean = differences.reduce((sum, value) => sum + value, 0) / differences.length;
  const along = differences.reduce((sum, value, band) => sum + (value - mean) * (band - middle), 0);
  const tilt = along / differences.reduce((sum, _, band) => sum + (band - middle) ** 2, 0);
  return differences.reduce((sum, value, band) => sum + (value - mean - tilt * (band - middle)) ** 2, 0);
}

function scaleOf(...pitchesHz: readonly [number, number, number, number, number]): Base['scale'] {
  return pitchesHz.map((hz, index) => ({ setting: Math.min(99, 25 * index), hz }));
}
