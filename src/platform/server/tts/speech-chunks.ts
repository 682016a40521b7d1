import { joinSamples } from '../../../audio/samples.ts';
import type { Clock } from '../../../kernel/clock.ts';
import type { LatexReader } from '../../engines/latex/latex-reader.ts';
import type { SynthesisEngine } from '../../engines/synth/port.ts';
import type { FaultDice } from '../faults/faults.ts';
import type { PlatformLimits, Slots } from '../listener/limits.ts';
import { Refusal } from '../listener/refusal.ts';
import { chunkEncoder } from './encode-speech.ts';
import { speak, type SpeakOptions } from './speak.ts';
import type { SpeechRequest } from './speech-request.ts';

/** Length of a chunk; the first one is short, so that playing can start. */
const firstChunkMs = 60;
const chunkMs = 160;

export interface SpeechChunksOptions {
  readonly engine: SynthesisEngine;
  readonly latex: LatexReader;
  readonly clock: Clock;
  readonly limits: PlatformLimits;
  readonly faults: FaultDice;
  readonly slots: Slots;
  readonly keyId: string;
  /** As of `speak`. */
  readonly onWarning: SpeakOptions['onWarning'];
}

export interface SpeechChunk {
  /** In the request's format; never empty. */
  readonly bytes: Uint8Array;
  readonly isFinal: boolean;
}

/**
 * One synthesis for a socket, in chunks; the last one is marked. Takes a slot of the key while it runs.
 * @returns the number of samples, at the format's rate
 * @throws Refusal 429 when all slots are taken, what `speak` throws, or the signal's reason
 */
export async function* speechChunks(
  request: SpeechRequest,
  options: SpeechChunksOptions,
  signal: AbortSignal,
): AsyncGenerator<SpeechChunk, number, undefined> {
  const { slots, limits, engine, latex, clock, onWarning } = options;
  signal.throwIfAborted();
  if (options.faults.failsTurn()) throw new Refusal(500, 'Injected fault: this synthesis fails');
  const free = slots.take(options.keyId);
  if (free === undefined) throw new Refusal(429, `Rate limit: ${limits.concurrentPerKey} requests at once are allowed`);
  try {
    const { format } = request;
    const samplesIn = (durationMs: number): number => (format.rateHz * durationMs) / 1000;
    const chunker = new Chunker(samplesIn(firstChunkMs), samplesIn(chunkMs));
    const encode = await chunkEncoder(format, request.quality);
    let samples = 0;
    const encoded = async (pcm: Int16Array, isFinal: boolean): Promise<SpeechChunk[]> => {
      const bytes = await encode(pcm, isFinal);
      samples += pcm.length;
      signal.throwIfAborted();
      return bytes.length === 0 ? [] : [{ bytes, isFinal }];
    };
    // A chunk is sent when the next one is known, since the last one is marked.
    let held: Int16Array | undefined;
    const asLive = { engine, latex, clock, signal, chunkMs: limits.chunkMs, priority: 'live', onWarning } as const;
    for await (const pcm of speak(request, asLive)) {
      for (const chunk of chunker.push(pcm)) {
        if (held !== undefined) yield* await encoded(held, false);
        held = chunk;
      }
    }
    const rest = chunker.flush();
    if (rest !== undefined) {
      if (held !== undefined) yield* await encoded(held, false);
      held = rest;
    }
    if (held !== undefined) yield* await encoded(held, true);
    return samples;
  } finally {
    free();
  }
}

/**
 * Collects samples into chunks for the socket: a short first one, then longer ones (TTS doc, events). Holds at most one chunk.
 */
export class Chunker {
  #wanted: number;
  readonly #later: number;
  #held: Int16Array[] = [];
  #heldSamples = 0;

  constructor(firstSamples: number, laterSamples: number) {
    this.#wanted = firstSamples;
    this.#later = laterSamples;
  }

  /** @returns full chunks, oldest first */
  push(pcm: Int16Array): Int16Array[] {
    const chunks: Int16Array[] = [];
    let rest = pcm;
    while (this.#heldSamples + rest.length >= this.#wanted) {
      const taken = this.#wanted - this.#heldSamples;
      this.#held.push(rest.subarray(0, taken));
      chunks.push(joinSamples(this.#held));
      rest = rest.subarray(taken);
      this.#held = [];
      this.#heldSamples = 0;
      this.#wanted = this.#later;
    }
    if (rest.length > 0) {
      this.#held.push(rest.slice());
      this.#heldSamples += rest.length;
    }
    return chunks;
  }

  /** The last, shorter chunk; undefined when nothing is held. */
  flush(): Int16Array | undefined {
    if (this.#heldSamples === 0) return undefined;
    const last = joinSamples(this.#held);
    this.#held = [];
    this.#heldSamples = 0;
    return last;
  }
}
