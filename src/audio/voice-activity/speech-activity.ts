import { rmsLevelDb } from '../level.ts';

/** Length of a frame of the detector. */
export const activityFrameMs = 20;

const floorStartDb = -60;
/** Lower bound of the floor, reached in digital silence. */
const floorLeastDb = -70;
/** Rise of the floor on a line that got louder: slow compared with a syllable, fast compared with a call. */
const floorRiseDbPerFrame = 0.04;
const aboveFloorDb = 9;
/** Quieter frames are no speech, whatever the floor. */
const quietestSpeechDb = -52;
/** Loud frames of the last five needed for speech: 60 ms, longer than a click. */
const loudOfFive = 3;

/** Detects speech by energy above an adaptive noise floor. State of one audio stream. */
export class SpeechActivity {
  #floorDb = floorStartDb;
  /** One bit per frame, the latest lowest. */
  #recent = 0;

  /** @param pcm 20 ms of samples. @returns whether there is speech at its end */
  frame(pcm: Int16Array): boolean {
    const levelDb = rmsLevelDb(pcm);
    this.#floorDb =
      levelDb < this.#floorDb ? Math.max(floorLeastDb, levelDb) : Math.min(levelDb, this.#floorDb + floorRiseDbPerFrame);
    const loud = levelDb > Math.max(quietestSpeechDb, this.#floorDb + aboveFloorDb);
    this.#recent = ((this.#recent << 1) | (loud ? 1 : 0)) & 0b11111;
    return bitCount(this.#recent) >= loudOfFive;
  }
}

function bitCount(bits: number): number {
  let count = 0;
  for (let rest = bits; rest !== 0; rest >>= 1) count += rest & 1;
  return count;
}
