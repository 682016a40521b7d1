import { seededRandom } from '../../src/audio/tone.ts';

/** Vowels by their first three formants, in Hz: from a mouth wide open to one nearly closed. */
const VOWELS = [
  [730, 1090, 2440],
  [530, 1840, 2480],
  [390, 1990, 2550],
  [570, 840, 2410],
  [440, 1020, 2240],
  [300, 870, 2240],
  [490, 1350, 1690],
] as const;
const RATE_HZ = 8000;

export interface SoundShape {
  readonly durationMs: number;
  readonly pitchHz: number;
  /** Level of the loudest parts, in dBFS. */
  readonly levelDb: number;
  /** Share of hiss in it, 0 for a hum and 1 for a whisper. */
  readonly breath: number;
  readonly seed: number;
}

/** A source with a pulse a period and three resonators behind it: a syllable or several, with natural attack and decay. */
export function voicedSound(
  { durationMs, pitchHz, levelDb, breath, seed }: SoundShape,
  envelope: (share: number) => number,
): Int16Array {
  const random = seededRandom(seed);
  const length = Math.round((durationMs * RATE_HZ) / 1000);
  const [from, to] = [VOWELS[Math.floor(random() * VOWELS.length)]!, VOWELS[Math.floor(random() * VOWELS.length)]!];
  const drift = 0.9 + 0.25 * random();
  const resonators = [0, 1, 2].map(() => ({ y1: 0, y2: 0 }));
  const out = new Float64Array(length);
  let phase = 0;
  let glottis = 0;
  for (let index = 0; index < length; index += 1) {
    const share = index / length;
    const hz = pitchHz * (1 + (drift - 1) * share) * (1 + 0.01 * (random() - 0.5));
    phase += hz / RATE_HZ;
    const pulse = phase >= 1 ? 1 : 0;
    if (phase >= 1) phase -= 1;
    // The pulse's spectrum falls by 12 dB an octave, as a throat's does.
    glottis = 0.9 * glottis + pulse;
    let sample = glottis * (1 - breath) + breath * (random() - 0.5) * 0.6;
    for (const [place, state] of resonators.entries()) {
      const centre = from[place]! + (to[place]! - from[place]!) * share;
      const width = 60 + 40 * place;
      const radius = Math.exp((-Math.PI * width) / RATE_HZ);
      const turn = 2 * radius * Math.cos((2 * Math.PI * centre) / RATE_HZ);
      const next = (1 - radius) * sample * 2 + turn * state.y1 - radius * radius * state.y2;
      state.y2 = state.y1;
      state.y1 = next;
      sample = sample * 0.3 + next;
    }
    out[index] = sample * envelope(share);
  }
  return atLevel(out, levelDb);
}

/** Scales to a level: the RMS of the loudest 20 ms is `levelDb`; what would clip is limited. */
export function atLevel(sound: Float64Array, levelDb: number): Int16Array {
  let loudest = 0;
  for (let at = 0; at < sound.length; at += 160) {
    const frame = sound.subarray(at, at + 160);
    loudest = Math.max(loudest, frame.reduce((sum, sample) => sum + sample * sample, 0) / frame.length);
  }
  const gain = loudest === 0 ? 0 : (32_768 * 10 ** (levelDb / 20)) / Math.sqrt(loudest);
  return Int16Array.from(sound, (sample) => Math.max(-32_000, Math.min(32_000, Math.round(sample * gain))));
}

/** Rises over `attack` and falls over `decay`, both shares of the whole. */
export function hump(attack: number, decay: number): (share: number) => number {
  return (share) => {
    const rise = Math.min(1, share / attack);
    const fall = Math.min(1, (1 - share) / decay);
    return Math.sin((Math.PI / 2) * rise) ** 2 * Math.sin((Math.PI / 2) * fall) ** 2;
  };
}
