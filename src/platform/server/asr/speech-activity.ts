import { rmsLevelDb } from '../../../audio/level.ts';

/** Length of the frames that activity is decided on. */
export const activityFrameMs = 20;

const floorStartDb = -60;
/** Digital silence would otherwise pull the floor down without end. */
const floorLeastDb = -70;
/** How fast the floor follows a line that got louder: slow beside a syllable, quick beside a call. */
const floorRiseDbPerFrame = 0.04;
const aboveFloorDb = 9;
/** Nothing quieter is taken for speech, whatever the floor. */
const quietestSpeechDb = -52;
/** Loud frames of the last five that make speech: 60 ms, longer than a click. */
const loudOfFive = 3;

/** Tells speech from silence by energy over a floor that follows the line's noise. State of one audio stream. */
export class SpeechActivity {
  #floorDb = floorStartDb;
  /** One bit a frame, the latest lowest. */
  #recent = 0;

  /** @param frame 20 ms of samples; @returns whether speech is going on at its end */
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
