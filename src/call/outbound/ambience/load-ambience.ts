import { NARROW_RATE_HZ, WIDE_RATE_HZ } from '../../../audio/format.ts';
import { MediaDecoder } from '../../../audio/media/media-decoder.ts';
import { seededRandom } from '../../../audio/tone.ts';
import { soundAudio } from '../sounds/sound-audio.ts';
import { findSound, readSound } from '../sounds/sound-place.ts';
import type { Bot } from '../../../config/bots.ts';
import { systemClock } from '../../../kernel/clock.ts';
import type { Logger } from '../../../observability/logger.ts';

/** One background loop for each call rate. */
export type AmbientLoops = ReadonlyMap<number, Int16Array>;

/** Background loops by bot name. A bot whose file is unusable gets none, and the log says so. */
export async function loadAmbiences(bots: readonly Bot[], logger: Logger): Promise<ReadonlyMap<string, AmbientLoops>> {
  const rooms = new Map<string, AmbientLoops>();
  for (const { name, folder, ambience } of bots) {
    if (ambience === undefined) continue;
    try {
      const { room, file, levelDb } = ambience;
      const loops = new Map<number, Int16Array>();
      for (const rateHz of [NARROW_RATE_HZ, WIDE_RATE_HZ]) {
        const sound = room === undefined ? await fileSound(folder, file ?? '', rateHz) : madeRoom(room, rateHz);
        loops.set(rateHz, ambientLoop(sound, levelDb, rateHz));
      }
      rooms.set(name, loops);
    } catch (error) {
      logger.warn({ bot: name, error }, 'ambience unavailable');
    }
  }
  return rooms;
}

/** Level at which a waiting caller hears hold music clearly, and speech over it stays intelligible. */
const HOLD_LEVEL_DB = -30;

/** Hold sounds by bot name. A bot whose file is unusable gets the ringing tone, and the log says so. */
export async function loadHoldSounds(bots: readonly Bot[], logger: Logger): Promise<ReadonlyMap<string, AmbientLoops>> {
  const sounds = new Map<string, AmbientLoops>();
  for (const { name, folder, transfers } of bots) {
    if (transfers.hold === undefined) continue;
    try {
      const loops = new Map<number, Int16Array>();
      for (const rateHz of [NARROW_RATE_HZ, WIDE_RATE_HZ])
        loops.set(rateHz, ambientLoop(await fileSound(folder, transfers.hold, rateHz), HOLD_LEVEL_DB, rateHz));
      sounds.set(name, loops);
    } catch (error) {
      logger.warn({ bot: name, error }, 'hold sound unavailable');
    }
  }
  return sounds;
}

async function fileSound(folder: string, name: string, rateHz: number): Promise<Int16Array> {
  const decoding = { clock: systemClock, decoder: new MediaDecoder() };
  return soundAudio(await readSound(await findSound(folder, name)), rateHz, decoding);
}

const FULL_SCALE = 32_768;
/** Cross-fade of the end into the beginning. */
const JOIN_MS = 500;

/**
 * Makes a seamless loop at a level.
 * @param sound at any level
 * @param levelDb root mean square of the result, in dBFS
 * @returns shorter than the sound by the cross-fade; silence for a silent sound
 */
export function ambientLoop(sound: ArrayLike<number>, levelDb: number, rateHz = NARROW_RATE_HZ): Int16Array {
  const join = Math.min((JOIN_MS * rateHz) / 1000, Math.floor(sound.length / 2));
  const loop = Float64Array.from({ length: sound.length - join }, (_, index) => {
    if (index >= join) return sound[index]!;
    // Two noise signals keep their power when the squares of their shares add up to one.
    const angle = ((index + 0.5) / join) * (Math.PI / 2);
    return Math.sin(angle) * sound[index]! + Math.cos(angle) * sound[sound.length - join + index]!;
  });
  const power = loop.reduce((sum, value) => sum + value * value, 0) / Math.max(1, loop.length);
  const gain = power === 0 ? 0 : (FULL_SCALE * 10 ** (levelDb / 20)) / Math.sqrt(power);
  return Int16Array.from(loop, (value) => Math.max(-FULL_SCALE, Math.min(FULL_SCALE - 1, Math.round(value * gain))));
}

/** Backgrounds synthesized from noise, so that the program ships without recordings. */
export type MadeRoom = 'office' | 'cafe';

const LENGTH_S = 20;
const SEED = 7;

/** Twenty seconds of a background, unscaled; always the same. */
export function madeRoom(room: MadeRoom, rateHz = NARROW_RATE_HZ): Float64Array {
  const random = seededRandom(SEED);
  const sound = new Float64Array(LENGTH_S * rateHz);
  switch (room) {
    case 'office':
      addNoise(sound, rateHz, random, { centreHz: 180, widthHz: 300, gain: 3, pulseHz: 0.1 });
      addNoise(sound, rateHz, random, { centreHz: 900, widthHz: 1_200, gain: 0.5, pulseHz: 0.3 });
      for (let atS = 0; atS < LENGTH_S - 1; atS += 0.1 + random() * (random() < 0.2 ? 4 : 0.3))
        addKey(sound, rateHz, random, atS);
      return sound;
    case 'cafe':
      addNoise(sound, rateHz, random, { centreHz: 200, widthHz: 300, gain: 0.6, pulseHz: 0.1 });
      // A dozen unintelligible voices.
      for (let talker = 0; talker < 12; talker += 1) {
        addNoise(sound, rateHz, random, { centreHz: 350 + 180 * talker, widthHz: 250, gain: 1, pulseHz: 3 + 2 * random() });
      }
      return sound;
  }
}

interface Band {
  readonly centreHz: number;
  readonly widthHz: number;
  readonly gain: number;
  /** About how often it swells and fades. */
  readonly pulseHz: number;
}

/** Noise through a resonator, with wandering strength. */
function addNoise(sound: Float64Array, rateHz: number, random: () => number, { centreHz, widthHz, gain, pulseHz }: Band): void {
  const radius = Math.exp((-Math.PI * widthHz) / rateHz);
  const turn = 2 * radius * Math.cos((2 * Math.PI * centreHz) / rateHz);
  const everySamples = Math.round(rateHz / (2 * pulseHz));
  let [last, before, from, to] = [0, 0, random(), random()];
  for (let index = 0; index < sound.length; index += 1) {
    const phase = (index % everySamples) / everySamples;
    if (phase === 0) [from, to] = [to, random()];
    const strength = 0.4 + 0.6 * (from + (to - from) * phase);
    const value = (1 - radius) * (random() * 2 - 1) + turn * last - radius * radius * before;
    [last, before] = [value, last];
    sound[index]! += gain * strength * value;
  }
}

/** A key stroke a few metres away. */
function addKey(sound: Float64Array, rateHz: number, random: () => number, atS: number): void {
  const strength = 0.1 + 0.15 * random();
  const first = Math.round(atS * rateHz);
  const fallSamples = (30 * rateHz) / NARROW_RATE_HZ;
  for (let index = 0; index < rateHz / 50; index += 1)
    sound[first + index]! += strength * (random() * 2 - 1) * Math.exp(-index / fallSamples);
}
