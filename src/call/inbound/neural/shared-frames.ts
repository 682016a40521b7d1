import { FRAME_SAMPLES_8K } from '../../../audio/format.ts';

/** Frames of one line that can wait; more are dropped. */
const RING_FRAMES = 32;
/** With more frames waiting the reader skips to the last few: it is behind, and late answers are useless. */
const MOST_WAITING = 16;
const LAST_FEW = 3;
/** Scale of a likelihood as a whole number, and the value of a skipped frame. */
const CERTAIN = 1000;
const PASSED_OVER = -1;

/** Places of the header, in whole numbers of 32 bits. */
const WAKE = 0;
const SLEEPING = 1;
const STOPPED = 2;
const HEADER = 3;
/** Places of what is kept for each line: its use (odd while it is open), and how many frames it has had in all lines it was. */
const USE = 0;
const FROM = 1;
const WRITTEN = 2;
const JUDGED = 3;
const LINE = 4;

/**
 * Memory shared by two threads: frames go one way, likelihoods the other. Each line is a ring with one writer and one reader, so there are no locks
 * or messages: a frame costs a copy, an answer a read.
 */
export class SharedFrames {
  readonly memory: SharedArrayBuffer;
  readonly lines: number;
  readonly #numbers: Int32Array<SharedArrayBuffer>;
  readonly #answersAt: number;
  readonly #audio: Int16Array<SharedArrayBuffer>;

  /** @param memory the other thread's memory; allocated here when absent */
  constructor(lines: number, memory?: SharedArrayBuffer) {
    const numbers = HEADER + lines * (LINE + RING_FRAMES);
    this.memory = memory ?? new SharedArrayBuffer(4 * numbers + 2 * lines * RING_FRAMES * FRAME_SAMPLES_8K);
    this.lines = lines;
    this.#numbers = new Int32Array(this.memory, 0, numbers);
    this.#answersAt = HEADER + lines * LINE;
    this.#audio = new Int16Array(this.memory, 4 * numbers);
  }

  /** The writer's side of one line. It must not be open. */
  open(line: number): FrameWriter {
    const numbers = this.#numbers;
    const base = HEADER + line * LINE;
    Atomics.store(numbers, base + FROM, Atomics.load(numbers, base + WRITTEN));
    Atomics.add(numbers, base + USE, 1);
    let asked = Atomics.load(numbers, base + FROM);
    return {
      write: (frame) => {
        const written = Atomics.load(numbers, base + WRITTEN);
        if (((written - Atomics.load(numbers, base + JUDGED)) | 0) >= RING_FRAMES) return false;
        this.#audio.set(frame, (line * RING_FRAMES + place(written)) * FRAME_SAMPLES_8K);
        Atomics.store(numbers, base + WRITTEN, (written + 1) | 0);
        this.#wake();
        return true;
      },
      read: () => {
        if (((Atomics.load(numbers, base + JUDGED) - asked) | 0) <= 0) return undefined;
        const answer = Atomics.load(numbers, this.#answersAt + line * RING_FRAMES + place(asked));
        asked = (asked + 1) | 0;
        return answer === PASSED_OVER ? 'none' : answer / CERTAIN;
      },
      close: () => {
        Atomics.add(numbers, base + USE, 1);
        this.#wake();
      },
    };
  }

  /** The reader's side of all lines. */
  reader(line: number): FrameReader {
    const numbers = this.#numbers;
    const base = HEADER + line * LINE;
    const frame = new Int16Array(FRAME_SAMPLES_8K);
    let use = 0;
    const answer = (value: number): void => {
      const judged = Atomics.load(numbers, base + JUDGED);
      Atomics.store(numbers, this.#answersAt + line * RING_FRAMES + place(judged), value);
      Atomics.store(numbers, base + JUDGED, (judged + 1) | 0);
    };
    return {
      use: () => {
        const now = Atomics.load(numbers, base + USE);
        if (now === use) return 'same';
        use = now;
        // Drops answers for the line's earlier use.
        Atomics.store(numbers, base + JUDGED, Atomics.load(numbers, base + (now % 2 === 0 ? WRITTEN : FROM)));
        return now % 2 === 0 ? 'closed' : 'opened';
      },
      next: () => {
        if (use % 2 === 0) return undefined;
        let waiting = (Atomics.load(numbers, base + WRITTEN) - Atomics.load(numbers, base + JUDGED)) | 0;
        for (const few = waiting > MOST_WAITING ? LAST_FEW : waiting; waiting > few; waiting -= 1) answer(PASSED_OVER);
        if (waiting <= 0) return undefined;
        const judged = Atomics.load(numbers, base + JUDGED);
        const from = (line * RING_FRAMES + place(judged)) * FRAME_SAMPLES_8K;
        frame.set(this.#audio.subarray(from, from + FRAME_SAMPLES_8K));
        return frame;
      },
      answer: (likelihood) => answer(Math.round(likelihood * CERTAIN)),
    };
  }

  get stopped(): boolean {
    return Atomics.load(this.#numbers, STOPPED) === 1;
  }

  /** Tells the reader to end. */
  stop(): void {
    Atomics.store(this.#numbers, STOPPED, 1);
    this.#wake();
  }

  /** How often something was written or changed, to be given to `sleep`. */
  changes(): number {
    return Atomics.load(this.#numbers, WAKE);
  }

  /** Blocks this thread until there have been more changes than these. Never on the main thread. */
  sleep(changes: number): void {
    Atomics.store(this.#numbers, SLEEPING, 1);
    Atomics.wait(this.#numbers, WAKE, changes);
    Atomics.store(this.#numbers, SLEEPING, 0);
  }

  #wake(): void {
    Atomics.add(this.#numbers, WAKE, 1);
    if (Atomics.load(this.#numbers, SLEEPING) === 1) Atomics.notify(this.#numbers, WAKE);
  }
}

/** What the thread of the calls does with one line. */
export interface FrameWriter {
  /** @param frame 160 samples at 8 kHz, copied @returns false when too many wait: the frame is dropped */
  write(frame: Int16Array): boolean;
  /** Answers in frame order: likelihood of speech, 0 to 1, or `none` for a skipped frame; undefined while the next is not known. */
  read(): number | 'none' | undefined;
  close(): void;
}

/** What the judging thread does with one line. */
export interface FrameReader {
  /** Whether the line was reopened or closed since the last query. */
  use(): 'same' | 'opened' | 'closed';
  /** The oldest waiting frame; valid until the next call. */
  next(): Int16Array | undefined;
  /** Sets the frame's likelihood of speech, 0 to 1. */
  answer(likelihood: number): void;
}

function place(count: number): number {
  return (count >>> 0) % RING_FRAMES;
}
