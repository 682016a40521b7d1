import type { SynthesisRequest, Synthesizer } from '../port.ts';

/** About half an hour of mu-law. */
const DEFAULT_MOST_BYTES = 16 * 1024 * 1024;
/** What is longer than this is not a phrase. */
const MOST_PHRASE_BYTES = 60 * 8_000;

/**
 * Keeps spoken sentences in memory, so that fixed prompts start in the same tick and are there when the platform is not.
 * Keyed by everything that changes the sound; the least recently used go first. Only prepared sentences are kept: what a
 * bot says about a caller is not.
 */
export class PhraseCache implements Synthesizer {
  readonly #synthesizer: Synthesizer;
  readonly #mostBytes: number;
  readonly #phrases = new Map<string, Uint8Array>();
  #bytes = 0;

  constructor(synthesizer: Synthesizer, mostBytes = DEFAULT_MOST_BYTES) {
    this.#synthesizer = synthesizer;
    this.#mostBytes = mostBytes;
  }

  cached(request: SynthesisRequest): Uint8Array | undefined {
    const key = keyOf(request);
    const phrase = this.#phrases.get(key);
    if (phrase === undefined) return undefined;
    this.#phrases.delete(key);
    this.#phrases.set(key, phrase);
    return phrase;
  }

  async *speak(request: SynthesisRequest, signal: AbortSignal): AsyncIterable<Uint8Array> {
    const phrase = this.cached(request);
    if (phrase === undefined) yield* this.#synthesizer.speak(request, signal);
    else yield phrase;
  }

  /** Speaks sentences into the cache, one after the other. @throws what the synthesizer throws, with the rest unprepared */
  async prepare(requests: readonly SynthesisRequest[], signal: AbortSignal): Promise<void> {
    for (const request of requests) {
      if (this.#phrases.has(keyOf(request))) continue;
      const parts: Uint8Array[] = [];
      for await (const audio of this.#synthesizer.speak(request, signal)) parts.push(Uint8Array.from(audio));
      this.#keep(keyOf(request), Buffer.concat(parts));
    }
  }

  #keep(key: string, phrase: Uint8Array): void {
    if (phrase.length === 0 || phrase.length > MOST_PHRASE_BYTES) return;
    // Two who prepare the same sentence at once may both come here.
    this.#bytes += phrase.length - (this.#phrases.get(key)?.length ?? 0);
    this.#phrases.delete(key);
    this.#phrases.set(key, phrase);
    for (const [oldest, audio] of this.#phrases) {
      if (this.#bytes <= this.#mostBytes) return;
      this.#phrases.delete(oldest);
      this.#bytes -= audio.length;
    }
  }
}

function keyOf({ text, voice, language, speed = 1 }: SynthesisRequest): string {
  return JSON.stringify([text, voice, language, speed]);
}
