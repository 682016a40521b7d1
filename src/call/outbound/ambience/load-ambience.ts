import { NARROW_RATE_HZ, WIDE_RATE_HZ } from '../../../audio/format.ts';
import { MediaDecoder } from '../../../audio/media/media-decoder.ts';
import { seededRandom } from '../../../audio/tone.ts';
import { soundAudio } from '../sounds/sound-audio.ts';
import { findSound, readSound } from '../sounds/sound-place.ts';
import type { Bot } from '../../../config/bots.ts';
import { systemClock } from '../../../kernel/clock.ts';
import type { Logger } from '../../../observability/logger.ts';

/** One room, ready to be repeated, by the rate of the call. */
export type AmbientLoops = ReadonlyMap<number, Int16Array>;

/** The rooms of these bots by name. A bot whose file cannot be used is in none, and the log says so. */
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

/** A caller who waits hears it as clearly as a telephone's music, and whoever speaks over it is understood. */
const HOLD_LEVEL_DB = -30;

/** The hold sounds of bots that have one, by name. A bot whose file cannot be used has the ringing tone, and the log says so. */
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
/** The end runs into the beginning for so long. */
const JOIN_MS = 500;

/**
 * Makes a sound one that can be repeated without a click, at a level.
 * @param sound at any level
 * @param levelDb root mean square of the result, in dBFS
 * @returns shorter than the sound by its join; silence where the sound is
 */
export function ambientLoop(sound: ArrayLike<number>, levelDb: number, rateHz = NARROW_RATE_HZ): Int16Array {
  const join = Math.min((JOIN_MS * rateHz) / 1000, Math.floor(sound.length / 2));
  const loop = Float64Array.from({ length: sound.length - join }, (_, index) => {
    if (index >= join) return sound[index]!;
    // Two pieces of noise keep their power when the squares of their shares add up to one.
    const angle = ((index + 0.5) / join) * (Math.PI / 2);
    return Math.sin(angle) * sound[index]! + Math.cos(angle) * sound[sound.length - join + index]!;
  });
  const power = loop.reduce((sum, value) => sum + value * value, 0) / Math.max(1, loop.length);
  const gain = power === 0 ? 0 : (FULL_SCALE * 10 ** (levelDb / 20)) / Math.sqrt(power);
  return Int16Array.from(loop, (value) => Math.max(-FULL_SCALE, Math.min(FULL_SCALE - 1, Math.round(value * gain))));
}

/** Rooms that are made from noise here, so that no recording has to come with the program. */
export type MadeRoom = 'office' | 'cafe';

const LENGTH_S = 20;
const SEED = 7;

/** Twenty seconds of a room, at no level in particular; always the same. */
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
      // A dozen people who talk at once, of whom no word is understood.
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
  /** How often it grows louder and fades, about. */
  readonly pulseHz: number;
}

/** Noise through a resonator, its strength wandering. */
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

/** Somebody strikes a key, a few metres away. */
function addKey(sound: Float64Array, rateHz: number, random: () => number, atS: number): void {
  const strength = 0.1 + 0.15 * random();
  const first = Math.round(atS * rateHz);
  const fallSamples = (30 * rateHz) / NARROW_RATE_HZ;
  for (let index = 0; index < rateHz / 50; index += 1)
    sound[first + index]! += strength * (random() * 2 - 1) * Math.exp(-index / fallSamples);
}
