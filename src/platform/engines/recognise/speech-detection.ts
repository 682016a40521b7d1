import { frameEnergies } from './features.ts';
import { RATE_HZ, WINDOW } from '../acoustics/mel.ts';

/** Energy this far above the noise floor is sound. */
const ABOVE_FLOOR = 10 ** (9 / 10);
/** Quieter frames are no sound, however quiet the line (summed band energy; about -58 dBFS). */
const LEAST_ENERGY = 2e6;
/** Rise of the floor per frame (about 3 dB a second); it falls at once. */
const RISE = 1.011;
/** Of the last 7 frames, 5 must be sound for speech to start: a click is shorter. */
const START = { of: 7, need: 5 };
/** Start of the floor (about -50 dBFS): a line that begins with speech is detected at once. */
const FIRST_FLOOR = 1.2e6;

/** Detects where speech starts and ends, from the energy of each frame. */
export class SpeechDetector {
  #floor = FIRST_FLOOR;
  readonly #recent: boolean[] = [];
  /** Frames since speech started, or undefined before that. */
  firstFrame: number | undefined;
  /** The frame after the last one with sound. */
  endFrame = 0;
  /** Whether the last frame had sound. */
  sound = false;
  #frame = 0;

  /** @returns whether there has been speech since the last reset */
  add(energy: number): boolean {
    const sound = energy > LEAST_ENERGY && energy > this.#floor * ABOVE_FLOOR;
    this.#floor = Math.max(1, Math.min(this.#floor * RISE, sound ? this.#floor * RISE : (this.#floor * 7 + energy) / 8));
    this.sound = sound;
    this.#recent.push(sound);
    if (this.#recent.length > START.of) this.#recent.shift();
    this.#frame += 1;
    const enough = this.#recent.filter(Boolean).length >= START.need;
    if (this.firstFrame === undefined && enough) this.firstFrame = Math.max(0, this.#frame - START.of);
    if (this.firstFrame !== undefined && sound && enough) this.endFrame = this.#frame;
    return this.firstFrame !== undefined;
  }

  /** Frames since the last sound. */
  get silentFrames(): number {
    return this.#frame - this.endFrame;
  }

  /** Forgets the speech and keeps the floor; counting goes on after `kept` frames. */
  reset(kept: number): void {
    this.firstFrame = undefined;
    this.endFrame = 0;
    this.#frame = kept;
    this.#recent.length = 0;
  }

  /** Tells that the first frames were dropped. */
  dropped(frames: number): void {
    this.#frame -= frames;
    if (this.firstFrame === undefined) return;
    this.firstFrame = Math.max(0, this.firstFrame - frames);
    this.endFrame = Math.max(0, this.endFrame - frames);
  }
}

/** Pitch of human voices, as lags in samples: 400 to 75 Hz. */
const LAGS = { from: Math.floor(RATE_HZ / 400), to: Math.ceil(RATE_HZ / 75) };
/** A frame is voiced from this correlation with itself one pitch period later. */
const VOICED = 0.6;
/** Share of the frames with sound that must be voiced: speech has vowels, a cough and a click have none. */
const MIN_VOICED_SHARE = 0.2;
/** Least difference of loud and quiet parts. Speech 10 dB above white noise has it, noise and tones have not. */
const MIN_RANGE_DB = 3.5;
const SOUND_BELOW_PEAK = 0.01;

/** Whether a frame of 8 kHz samples is periodic at a pitch of human voices. */
export function isVoiced(pcm: Int16Array, at: number): boolean {
  const end = Math.min(pcm.length, at + WINDOW);
  for (let lag = LAGS.from; lag <= LAGS.to; lag += 1) {
    let both = 0;
    let first = 0;
    let second = 0;
    for (let n = at; n + lag < end; n += 1) {
      const [a, b] = [pcm[n] ?? 0, pcm[n + lag] ?? 0];
      both += a * b;
      first += a * a;
      second += b * b;
    }
    if (both > 0 && both * both > VOICED * VOICED * first * second) return true;
  }
  return false;
}

/**
 * Whether a sound can be speech, whatever the words: it has vowels, and its level varies.
 * @param mel    band energies of the utterance
 * @param voiced for each of its frames, 1 where `isVoiced`
 */
export function canBeSpeech(mel: Float32Array, voiced: Uint8Array): boolean {
  const energies = frameEnergies(mel);
  const sorted = Float64Array.from(energies).sort();
  const loud = sorted[Math.floor((sorted.length - 1) * 0.95)] ?? 0;
  const quiet = sorted[Math.floor((sorted.length - 1) * 0.1)] ?? 0;
  if (loud < quiet * 10 ** (MIN_RANGE_DB / 10)) return false;
  let sound = 0;
  let vowels = 0;
  energies.forEach((energy, frame) => {
    if (energy < loud * SOUND_BELOW_PEAK) return;
    sound += 1;
    vowels += voiced[frame] ?? 0;
  });
  return vowels >= sound * MIN_VOICED_SHARE;
}
