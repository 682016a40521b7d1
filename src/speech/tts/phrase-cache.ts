import { randomBytes } from 'node:crypto';
import type { Clock } from '../../kernel/clock.ts';
import type { SynthesisRequest, Synthesizer } from '../port.ts';
import { seal, unseal } from '../sealed.ts';
import { PERSONAL_LIFE_MS, type PhraseFiles } from './phrase-files.ts';

export interface PhraseCacheOptions {
  readonly clock: Clock;
  /** Where they are kept over restarts; in memory alone when absent. */
  readonly files?: PhraseFiles;
  /** Names the platform that speaks: another one has other voices. */
  readonly source?: string;
  /** About half an hour of mu-law when absent. */
  readonly mostBytes?: number;
}

interface Phrase {
  /** As it is kept: sealed when it is personal. */
  readonly bytes: Uint8Array;
  /** On the monotonic clock; infinite for what is not personal. */
  readonly untilMs: number;
}

const DEFAULT_MOST_BYTES = 16 * 1024 * 1024;
/** What is longer than this is not a phrase. */
const MOST_PHRASE_BYTES = 60 * 8_000;

/**
 * Keeps spoken sentences, so that fixed prompts start in the same tick and are there when the platform is not. Keyed by
 * everything that changes the sound; the least recently used go first. Kept are prepared sentences, and those that are said
 * to be personal: encrypted with a key that only this process has, and for ten minutes. What a bot says about a caller
 * without saying so is not kept.
 */
export class PhraseCache implements Synthesizer {
  readonly #synthesizer: Synthesizer;
  readonly #options: PhraseCacheOptions;
  readonly #secret = randomBytes(32);
  readonly #phrases = new Map<string, Phrase>();
  #bytes = 0;

  constructor(synthesizer: Synthesizer, options: PhraseCacheOptions) {
    this.#synthesizer = synthesizer;
    this.#options = options;
  }

  /** The audio of a sentence that is in memory. */
  cached(request: SynthesisRequest): Uint8Array | undefined {
    const key = this.#keyOf(request);
    const phrase = this.#phrases.get(key);
    if (phrase === undefined) return undefined;
    this.#forget(key);
    if (phrase.untilMs <= this.#options.clock.nowMs()) return undefined;
    this.#add(key, phrase);
    return request.isPersonal === true ? unseal(this.#secret, phrase.bytes) : phrase.bytes;
  }

  async *speak(request: SynthesisRequest, signal: AbortSignal): AsyncIterable<Uint8Array> {
    const phrase = this.cached(request);
    if (phrase !== undefined) yield phrase;
    else if (request.isPersonal === true) yield* this.#speakPersonal(request, signal);
    else yield* this.#synthesizer.speak(request, signal);
  }

  /**
   * Brings sentences into memory, from disk where they are there, else spoken one after the other.
   * @throws what the synthesizer throws, with the rest unprepared
   */
  async prepare(requests: readonly SynthesisRequest[], signal: AbortSignal): Promise<void> {
    const kind = { isPersonal: false };
    for (const request of requests) {
      const key = this.#keyOf(request);
      if (this.#phrases.has(key)) continue;
      const kept = await this.#options.files?.read(key, kind);
      if (kept !== undefined) {
        this.#keep(key, kept, Number.POSITIVE_INFINITY);
        continue;
      }
      const parts: Uint8Array[] = [];
      // Live calls go first: a prompt that is not ready is spoken when it is needed.
      const spoken = this.#synthesizer.speak({ ...request, priority: 'batch' }, signal);
      for await (const audio of spoken) parts.push(Uint8Array.from(audio));
      const audio = Buffer.concat(parts);
      if (this.#keep(key, audio, Number.POSITIVE_INFINITY)) await this.#options.files?.write(key, audio, kind);
    }
  }

  async *#speakPersonal(request: SynthesisRequest, signal: AbortSignal): AsyncIterable<Uint8Array> {
    const { clock, files } = this.#options;
    const key = this.#keyOf(request);
    const kind = { isPersonal: true };
    const kept = await files?.read(key, kind);
    const parts: Uint8Array[] = [];
    if (kept === undefined) {
      for await (const audio of this.#synthesizer.speak(request, signal)) {
        parts.push(Uint8Array.from(audio));
        yield audio;
      }
    } else {
      parts.push(kept);
      yield kept;
    }
    const audio = Buffer.concat(parts);
    const isKept = audio.length > 0 && this.#keep(key, seal(this.#secret, audio), clock.nowMs() + PERSONAL_LIFE_MS);
    if (isKept && kept === undefined) await files?.write(key, audio, kind);
  }

  #keep(key: string, bytes: Uint8Array, untilMs: number): boolean {
    const { clock, mostBytes = DEFAULT_MOST_BYTES } = this.#options;
    if (bytes.length === 0 || bytes.length > MOST_PHRASE_BYTES) return false;
    // Two who prepare the same sentence at once may both come here.
    this.#forget(key);
    this.#add(key, { bytes, untilMs });
    for (const [other, phrase] of this.#phrases) {
      if (phrase.untilMs <= clock.nowMs() || this.#bytes > mostBytes) this.#forget(other);
    }
    return true;
  }

  #add(key: string, phrase: Phrase): void {
    this.#phrases.set(key, phrase);
    this.#bytes += phrase.bytes.length;
  }

  #forget(key: string): void {
    this.#bytes -= this.#phrases.get(key)?.bytes.length ?? 0;
    this.#phrases.delete(key);
  }

  #keyOf({ text, voice, language, speed = 1, isPersonal = false }: SynthesisRequest): string {
    return JSON.stringify(['mulaw', 8_000, this.#options.source, text, voice, language, speed, isPersonal]);
  }
}
