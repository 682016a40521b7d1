import { pcm16Bytes } from '../../audio/codec.ts';
import { energyOf } from '../../audio/level.ts';
import { SampleTape } from '../../audio/samples.ts';
import type { RecognitionEvent } from '../port.ts';

const BLOCK_MS = 20;
/** About -42 dBFS: above the noise of most lines, below any voice. */
const VOICE_RMS = 260;
/** The shortest silence at which a recogniser ends a segment by itself. */
const PAUSE_MS = 400;
/** Dropped samples with less voice than this hold no word. */
const WORD_MS = 100;

/** Samples that will be in no final: position of the first, and their number. */
export interface LostAudio {
  readonly fromSample: number;
  readonly samples: number;
}

/** The event that reports it. */
export function lostEvent(
  { fromSample, samples }: LostAudio,
  rateHz: number,
  reason: string,
): Extract<RecognitionEvent, { type: 'audio-lost' }> {
  const ms = (count: number): number => Math.round((count / rateHz) * 1000);
  return { type: 'audio-lost', fromMs: ms(fromSample), lostMs: ms(samples), reason };
}

/**
 * The caller's audio since the last final, by a sample position that never restarts: audio to send, and audio to send again when the
 * session dies. Above a limit the oldest samples are dropped, and reported once as lost when they had speech.
 */
export class ReplayBuffer {
  readonly #tape = new SampleTape();
  readonly #capacity: number;
  readonly #blockSamples: number;
  /** Energy (sum of squares) of each 20 ms block. */
  readonly #energies: Float32Array;
  /** Everything before this is in a final. */
  #settled = 0;
  /** Oldest sample kept, and next sample to send. */
  #start = 0;
  #next = 0;
  /** Dropped samples before this are reported, or in a final. */
  #countedTo = 0;
  #lostFrom = 0;
  #lostSamples = 0;
  #lostVoiceSamples = 0;
  #overwrittenVoiceSamples = 0;

  /** @param capacitySamples most samples that are kept */
  constructor(capacitySamples: number, rateHz: number) {
    this.#blockSamples = Math.round((BLOCK_MS * rateHz) / 1000);
    this.#capacity = capacitySamples;
    this.#energies = new Float32Array(Math.ceil(capacitySamples / this.#blockSamples) + 2);
  }

  get settled(): number {
    return this.#settled;
  }

  get next(): number {
    return this.#next;
  }

  /** One past the last sample. */
  get end(): number {
    return this.#tape.end;
  }

  /** Copies samples in. */
  push(pcm: Int16Array): void {
    const capacity = this.#capacity;
    if (pcm.length <= capacity) this.#append(pcm);
    else for (let from = 0; from < pcm.length; from += capacity) this.#append(pcm.subarray(from, from + capacity));
  }

  /** Takes the next samples to send, at most up to `untilSample`, as little-endian bytes of their own. */
  take(untilSample: number): Uint8Array {
    return pcm16Bytes(this.takeSamples(untilSample));
  }

  /** The same as a copy of the samples. */
  takeSamples(untilSample: number): Int16Array<ArrayBuffer> {
    const until = Math.min(untilSample, this.end);
    const count = Math.max(0, until - this.#next);
    const pcm = this.#tape.copy(this.#next, count);
    this.#next += count;
    return pcm;
  }

  /** Everything up to here was sent, or need not be. */
  skip(untilSample: number): void {
    this.#next = Math.max(this.#next, Math.min(untilSample, this.end));
  }

  /** Start of the first unsent voice; the end where there is none. */
  get nextVoice(): number {
    for (let at = this.#next; at < this.end; at += this.#blockSamples) if (this.#isVoiced(at)) return at;
    return this.end;
  }

  /** Marks everything before this sample as covered by a final. */
  settle(beforeSample: number): void {
    this.#settled = Math.max(this.#settled, Math.min(beforeSample, this.#next));
    if (this.#settled >= this.#start) this.#overwrittenVoiceSamples = 0;
    this.#tape.forgetBefore(Math.max(this.#settled, this.#start));
  }

  /** The session died: unsettled audio is sent again; the part that was dropped counts as lost. */
  rewind(): void {
    const from = Math.max(this.#settled, this.#countedTo);
    if (this.#start > from) this.#count(this.#start - from, this.#overwrittenVoiceSamples);
    this.#overwrittenVoiceSamples = 0;
    this.#next = Math.max(this.#settled, this.#start);
  }

  /** Ends all use. */
  close(): void {
    this.#tape.close();
  }

  /** Nothing more will be sent: unsettled audio counts as lost, and is dropped. */
  abandon(): void {
    this.rewind();
    const from = this.#next;
    const voiceSamples = (this.#voicedMs(from, this.end) / BLOCK_MS) * this.#blockSamples;
    this.#start = this.end;
    this.#next = this.end;
    this.#count(this.end - from, voiceSamples);
  }

  /** @returns the audio lost since the last call; undefined when it had no speech */
  takeLost(): LostAudio | undefined {
    if (this.#lostSamples === 0) return undefined;
    const hasWord = this.#lostVoiceSamples >= (WORD_MS / BLOCK_MS) * this.#blockSamples;
    const lost = { fromSample: this.#lostFrom, samples: this.#lostSamples };
    this.#lostSamples = 0;
    this.#lostVoiceSamples = 0;
    return hasWord ? lost : undefined;
  }

  /** Whether the kept samples between these positions have speech. @param leastMs as much of it; a word when absent */
  hasVoice(fromSample: number, untilSample: number, leastMs = WORD_MS): boolean {
    return this.#voicedMs(fromSample, untilSample) >= leastMs;
  }

  /**
   * The likely end of a segment whose position the platform did not state: the pause in the sent audio before which about this much
   * was spoken. One segment may contain several short pauses.
   * @param spokenMs speaking time of the segment's words
   * @returns undefined when no pause followed speech
   */
  segmentEnd(spokenMs: number): number | undefined {
    let silentBlocks = 0;
    let voicedMs = 0;
    let end: number | undefined;
    let leastOffMs = Infinity;
    const pauseOver = (at: number): void => {
      const offMs = Math.abs(voicedMs - spokenMs);
      if (voicedMs === 0 || silentBlocks * BLOCK_MS < PAUSE_MS || offMs >= leastOffMs) return;
      leastOffMs = offMs;
      end = at;
    };
    for (let at = Math.max(this.#settled, this.#start); at < this.#next; at += this.#blockSamples) {
      const voiced = this.#isVoiced(at);
      if (voiced) pauseOver(at);
      silentBlocks = voiced ? 0 : silentBlocks + 1;
      if (voiced) voicedMs += BLOCK_MS;
    }
    pauseOver(this.#next);
    return end;
  }

  #voicedMs(fromSample: number, untilSample: number): number {
    let voicedMs = 0;
    const until = Math.min(untilSample, this.end);
    for (let at = Math.max(fromSample, this.#start); at < until; at += this.#blockSamples)
      if (this.#isVoiced(at)) voicedMs += BLOCK_MS;
    return voicedMs;
  }

  #isVoiced(sample: number): boolean {
    return (this.#energies[this.#blockAt(sample)] ?? 0) > VOICE_RMS * VOICE_RMS * this.#blockSamples;
  }

  #blockAt(sample: number): number {
    return Math.floor(sample / this.#blockSamples) % this.#energies.length;
  }

  #append(pcm: Int16Array): void {
    const first = this.#tape.end;
    const full = first + pcm.length - this.#capacity;
    if (full > this.#start) {
      this.#dropBefore(full);
      this.#tape.forgetBefore(this.#start);
    }
    this.#tape.append(pcm);
    for (let from = 0; from < pcm.length;) {
      const within = (first + from) % this.#blockSamples;
      const count = Math.min(pcm.length - from, this.#blockSamples - within);
      const energy = energyOf(pcm, from, from + count);
      const block = this.#blockAt(first + from);
      this.#energies[block] = within === 0 ? energy : (this.#energies[block] ?? 0) + energy;
      from += count;
    }
  }

  /** Makes room in blocks: unsent audio is lost now, sent audio only if the session dies. */
  #dropBefore(sample: number): void {
    while (this.#start < sample) {
      const blockEnd = (Math.floor(this.#start / this.#blockSamples) + 1) * this.#blockSamples;
      const unsent = this.#start >= this.#next;
      const until = Math.min(blockEnd, sample, unsent ? sample : this.#next);
      const samples = until - this.#start;
      const voiceSamples = this.#isVoiced(this.#start) ? samples : 0;
      const settled = this.#start < this.#settled;
      this.#start = until;
      if (unsent) {
        this.#next = until;
        this.#count(samples, voiceSamples);
      } else if (!settled) {
        this.#overwrittenVoiceSamples += voiceSamples;
      }
    }
  }

  #count(samples: number, voiceSamples: number): void {
    if (this.#lostSamples === 0) this.#lostFrom = this.#start - samples;
    this.#countedTo = Math.max(this.#countedTo, this.#start);
    this.#lostSamples += samples;
    this.#lostVoiceSamples += voiceSamples;
  }
}
