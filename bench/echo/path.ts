import { decodeMulaw, encodeMulaw } from '../../src/audio/g711.ts';

const RATE_HZ = 8_000;

/** How the bot's voice comes back on the caller's side of the line. */
export interface EchoPath {
  /** Of the echo against what was played, in dB. */
  readonly gainDb: number;
  readonly delayMs: number;
  /** Reverberation time of the caller's room (60 dB), in ms; undefined for a single reflection. */
  readonly roomMs?: number;
  /** The loudspeaker limits at this share of the sound's peak. */
  readonly clipAt?: number;
  /** The handset mutes what is quieter than this, in dBFS, after a hold of 100 ms. */
  readonly gateDb?: number;
  /** Another mu-law leg on the way. */
  readonly codec?: boolean;
  /** When the delay changes and by how much, oldest first. */
  readonly jumps?: readonly { readonly atMs: number; readonly byMs: number }[];
  readonly driftPpm?: number;
}

/** What returns of a whole call's played audio; as long as that, in units of 16-bit samples. */
export function echoOf(played: Int16Array, path: EchoPath, random: () => number): Float64Array {
  let sound: Float64Array = Float64Array.from(path.codec === true ? recoded(played) : played);
  if (path.clipAt !== undefined) sound = clipped(sound, path.clipAt);
  if (path.roomMs !== undefined) sound = inRoom(sound, path.roomMs, random);
  const gain = 10 ** (path.gainDb / 20);
  let echo: Float64Array = delayed(sound, path).map((sample) => sample * gain);
  if (path.gateDb !== undefined) echo = gated(echo, path.gateDb);
  return path.codec === true ? Float64Array.from(recoded(Int16Array.from(echo, Math.round))) : echo;
}

function recoded(pcm: Int16Array): Int16Array {
  return decodeMulaw(encodeMulaw(pcm));
}

/** A loudspeaker driven too hard: straight up to two thirds of the limit, bent above. */
function clipped(sound: Float64Array, clipAt: number): Float64Array {
  let peak = 1;
  for (const sample of sound) peak = Math.max(peak, Math.abs(sample));
  const limit = peak * clipAt;
  return sound.map((sample) => limit * Math.tanh(sample / limit));
}

/** Direct sound, a few early reflections, and a tail of noise that decays by 60 dB in `roomMs`; energy is kept. */
function inRoom(sound: Float64Array, roomMs: number, random: () => number): Float64Array {
  const taps: { at: number; gain: number }[] = [{ at: 0, gain: 1 }];
  const perMs = RATE_HZ / 1_000;
  for (let reflection = 0; reflection < 6; reflection += 1) {
    const atMs = 1 + random() * 12;
    taps.push({ at: Math.round(atMs * perMs), gain: (random() < 0.5 ? -0.45 : 0.45) * 10 ** ((-3 * atMs) / roomMs) });
  }
  for (let tap = 0; tap < 120; tap += 1) {
    const atMs = 10 + random() * roomMs * 0.6;
    taps.push({ at: Math.round(atMs * perMs), gain: (random() * 2 - 1) * 0.22 * 10 ** ((-3 * atMs) / roomMs) });
  }
  const energy = taps.reduce((sum, { gain }) => sum + gain * gain, 0);
  const out = new Float64Array(sound.length);
  for (const { at, gain } of taps) {
    const scaled = gain / Math.sqrt(energy);
    for (let index = at; index < out.length; index += 1) out[index]! += scaled * sound[index - at]!;
  }
  return out;
}

/** Reads the sound at a moving place between samples. */
function delayed(sound: Float64Array, { delayMs, jumps = [], driftPpm = 0 }: EchoPath): Float64Array {
  let jump = 0;
  let delay = (delayMs * RATE_HZ) / 1_000;
  return sound.map((_, index) => {
    while (jumps[jump] !== undefined && (index * 1_000) / RATE_HZ >= jumps[jump]!.atMs) {
      delay += (jumps[jump]!.byMs * RATE_HZ) / 1_000;
      jump += 1;
    }
    const at = index - delay - index * driftPpm * 1e-6;
    const whole = Math.floor(at);
    if (whole < 1 || whole + 2 >= sound.length) return 0;
    return cubic(sound[whole - 1]!, sound[whole]!, sound[whole + 1]!, sound[whole + 2]!, at - whole);
  });
}

function cubic(a: number, b: number, c: number, d: number, at: number): number {
  return b + 0.5 * at * (c - a + at * (2 * a - 5 * b + 4 * c - d + at * (3 * (b - c) + d - a)));
}

function gated(sound: Float64Array, gateDb: number): Float64Array {
  const open = 32_768 * 10 ** (gateDb / 20);
  let level = 0;
  let openUntil = 0;
  let gain = 0;
  return sound.map((sample, index) => {
    level += 0.01 * (Math.abs(sample) - level);
    if (level > open) openUntil = index + 0.1 * RATE_HZ;
    gain += 0.02 * ((index < openUntil ? 1 : 0) - gain);
    return sample * gain;
  });
}
