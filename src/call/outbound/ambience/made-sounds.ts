import { seededRandom } from '../../../audio/tone.ts';

/** Rooms that are made from noise here, so that no recording has to come with the program. */
export type MadeRoom = 'office' | 'cafe';

const RATE_HZ = 8_000;
const LENGTH_S = 20;
const SEED = 7;

/** Twenty seconds of a room at 8 kHz, at no level in particular; always the same. */
export function madeRoom(room: MadeRoom): Float64Array {
  const random = seededRandom(SEED);
  const sound = new Float64Array(LENGTH_S * RATE_HZ);
  switch (room) {
    case 'office':
      addNoise(sound, random, { centreHz: 180, widthHz: 300, gain: 3, pulseHz: 0.1 });
      addNoise(sound, random, { centreHz: 900, widthHz: 1_200, gain: 0.5, pulseHz: 0.3 });
      for (let atS = 0; atS < LENGTH_S - 1; atS += 0.1 + random() * (random() < 0.2 ? 4 : 0.3)) addKey(sound, random, atS);
      return sound;
    case 'cafe':
      addNoise(sound, random, { centreHz: 200, widthHz: 300, gain: 0.6, pulseHz: 0.1 });
      // A dozen people who talk at once, of whom no word is understood.
      for (let talker = 0; talker < 12; talker += 1) {
        addNoise(sound, random, { centreHz: 350 + 180 * talker, widthHz: 250, gain: 1, pulseHz: 3 + 2 * random() });
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
function addNoise(sound: Float64Array, random: () => number, { centreHz, widthHz, gain, pulseHz }: Band): void {
  const radius = Math.exp((-Math.PI * widthHz) / RATE_HZ);
  const turn = 2 * radius * Math.cos((2 * Math.PI * centreHz) / RATE_HZ);
  const everySamples = Math.round(RATE_HZ / (2 * pulseHz));
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
function addKey(sound: Float64Array, random: () => number, atS: number): void {
  const strength = 0.1 + 0.15 * random();
  const first = Math.round(atS * RATE_HZ);
  for (let index = 0; index < 160; index += 1) sound[first + index]! += strength * (random() * 2 - 1) * Math.exp(-index / 30);
}
