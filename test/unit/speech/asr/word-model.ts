import type { DrivenSocket } from './protocol-driver.ts';

export const WORD_MS = 300;
const RATE = 8;

/** Word number `index` as sound: its loudness is its name. */
export function wordSound(index: number): Int16Array {
  const level = 2_000 + 200 * index;
  return Int16Array.from({ length: WORD_MS * RATE }, (_, at) => (at % 2 === 0 ? level : -level));
}

export interface ModelProfile {
  /** Mark the last final of a commit. */
  readonly marks: boolean;
  /** Say where a final ends. */
  readonly places: boolean;
  /** Silence at which a final is made without a commit; undefined: never. */
  readonly endpointMs: number | undefined;
  /** Time between a final's making and its sending. */
  readonly lateMs: number;
  /** Variant B: nothing but silence ends a segment, and finals have other names. */
  readonly isAlt?: boolean;
}

interface Pending {
  readonly dueMs: number;
  readonly event: Record<string, unknown>;
}

/**
 * A recogniser of one socket that hears words by their loudness; a word of which only a piece comes in is heard as that
 * word too when the piece is 100 ms or longer, as a real recogniser would guess.
 */
export class WordModel {
  readonly #socket: DrivenSocket;
  readonly #profile: ModelProfile;
  readonly #send: (event: Record<string, unknown>) => void;
  #pending: Pending[] = [];
  #heardTo = 0;
  #commands = 0;
  #seg = 0;
  #words: number[] = [];
  #run = { level: 0, samples: 0 };
  #wordEnd = 0;
  #silent = 0;

  constructor(socket: DrivenSocket, profile: ModelProfile, send: (event: Record<string, unknown>) => void) {
    this.#socket = socket;
    this.#profile = profile;
    this.#send = send;
  }

  step(nowMs: number): void {
    const { samples, commands } = this.#socket;
    for (;;) {
      const command = commands[this.#commands];
      const until = Math.min(command?.afterSamples ?? samples.length, samples.length);
      while (this.#heardTo < until) this.#sample(samples[this.#heardTo]!, nowMs);
      if (command === undefined) break;
      this.#commands += 1;
      this.#wordOver();
      this.#final(nowMs, true);
    }
    while (this.#pending[0] !== undefined && this.#pending[0].dueMs <= nowMs) this.#send(this.#pending.shift()!.event);
  }

  #sample(sample: number, nowMs: number): void {
    this.#heardTo += 1;
    const level = Math.abs(sample);
    if (level !== this.#run.level) {
      this.#wordOver();
      this.#run = { level, samples: 0 };
    }
    this.#run.samples += 1;
    this.#silent = level === 0 ? this.#silent + 1 : 0;
    const { endpointMs } = this.#profile;
    if (endpointMs !== undefined && this.#words.length > 0 && this.#silent >= endpointMs * RATE) this.#final(nowMs, false);
  }

  #wordOver(): void {
    const { level, samples } = this.#run;
    if (level > 0 && samples >= 100 * RATE) {
      this.#words.push((level - 2_000) / 200);
      this.#wordEnd = this.#heardTo - (this.#silent > 0 ? 1 : 0);
    }
    this.#run = { level: 0, samples: 0 };
  }

  #final(nowMs: number, endOfUtterance: boolean): void {
    const { marks, places, lateMs, isAlt = false } = this.#profile;
    const seg = this.#seg++;
    const end = this.#words.length > 0 ? this.#wordEnd : this.#heardTo;
    this.#pending.push({
      dueMs: nowMs + lateMs,
      event: {
        ...(isAlt ? { type: 'final_segment', segment_id: seg } : { type: 'final', seg }),
        text: this.#words.join(' '),
        ...(marks ? { end_of_utterance: endOfUtterance } : {}),
        ...(places ? { end: end / (RATE * 1000) } : {}),
      },
    });
    this.#words = [];
  }
}
