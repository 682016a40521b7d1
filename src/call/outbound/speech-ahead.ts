import { isDeepStrictEqual } from 'node:util';
import type { SynthesisRequest, Synthesizer, SynthesizerCapabilities } from '../../speech/port.ts';
import { MadeAhead } from '../made-ahead.ts';

/** Chunks of one sentence; a longer one is a fault. */
const MOST_CHUNKS = 10_000;

/** A synthesizer that is already speaking the sentence an early answer begins with. */
export class SpeechAhead implements Synthesizer {
  readonly #synthesizer: Synthesizer;
  #prepared: { readonly request: SynthesisRequest; readonly audio: MadeAhead<Uint8Array> } | undefined;

  constructor(synthesizer: Synthesizer) {
    this.#synthesizer = synthesizer;
  }

  get capabilities(): SynthesizerCapabilities {
    return this.#synthesizer.capabilities;
  }

  /** Speaks one sentence in advance, in place of another one. @param signal aborted when it is not needed */
  prepare(request: SynthesisRequest, signal: AbortSignal): void {
    this.discard();
    if (signal.aborted || this.#synthesizer.isInMemory?.(request) === true) return;
    const audio = new MadeAhead((given) => this.#synthesizer.speak(request, given), MOST_CHUNKS);
    signal.addEventListener('abort', () => audio.discard(), { once: true });
    this.#prepared = { request, audio };
  }

  discard(): void {
    this.#prepared?.audio.discard();
    this.#prepared = undefined;
  }

  speak(request: SynthesisRequest, signal: AbortSignal): AsyncIterable<Uint8Array> {
    const prepared = this.#prepared;
    if (prepared === undefined || !isDeepStrictEqual(prepared.request, request)) return this.#synthesizer.speak(request, signal);
    this.#prepared = undefined;
    if (prepared.audio.hasFailed) return this.#synthesizer.speak(request, signal);
    return prepared.audio.take(signal);
  }

  isInMemory(request: SynthesisRequest): boolean {
    return this.#synthesizer.isInMemory?.(request) ?? false;
  }
}
