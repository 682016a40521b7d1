import { createHmac, randomBytes } from 'node:crypto';
import { durationMs, TELEPHONE_FORMAT } from '../../audio/format.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { SynthesisRequest, Synthesizer, SynthesizerCapabilities } from '../port.ts';
import { SpeechRequestError } from '../client/errors.ts';
import { seal, unseal } from '../client/sealed.ts';
import type { PhraseFiles } from './phrase-files.ts';

export interface PhraseCacheOptions {
  readonly clock: Clock;
  /** Keeps prepared sentences over restarts; memory only when absent. */
  readonly files?: PhraseFiles;
  /** Identifies the platform, since each has its own voices. */
  readonly source?: string;
  /** Most bytes of prepared sentences; about half an hour of mu-law when absent. */
  readonly mostBytes?: number;
  /** Most bytes of personal sentences; about a quarter of an hour when absent. */
  readonly mostPersonalBytes?: number;
}

const DEFAULT_MOST_BYTES = 16 * 1024 * 1024;
const DEFAULT_MOST_PERSONAL_BYTES = 8 * 1024 * 1024;
/** Longest prepared sentence. */
const MOST_PHRASE_MS = 60_000;
/** Sentences failing in a row that show a fault of the synthesizer itself. */
const MOST_FAILURES_IN_A_ROW = 3;
/** Longest personal sentence: longer ones are rarely repeated, and would take memory in each call. */
const MOST_PERSONAL_PHRASE_MS = 8_000;
/** Long enough for a repeated question in a call. */
const PERSONAL_LIFE_MS = 10 * 60_000;

/**
 * Caches synthesised sentences, so that fixed prompts start in the same tick and work without the platform. The key has everything
 * that changes the sound. Prepared sentences are the same for all callers. Other sentences may be personal, unless the request says
 * otherwise: they are kept for ten minutes, separately, encrypted and named by a hash with keys of this process, and never on disk.
 */
export class PhraseCache implements Synthesizer {
  readonly #synthesizer: Synthesizer;
  readonly #options: PhraseCacheOptions;
  readonly #secret = randomBytes(32);
  readonly #prepared: PhraseStore;
  readonly #personal: PhraseStore;

  constructor(synthesizer: Synthesizer, options: PhraseCacheOptions) {
    const { clock, mostBytes = DEFAULT_MOST_BYTES, mostPersonalBytes = DEFAULT_MOST_PERSONAL_BYTES } = options;
    this.#synthesizer = synthesizer;
    this.#options = options;
    this.#prepared = new PhraseStore(clock, mostBytes);
    this.#personal = new PhraseStore(clock, mostPersonalBytes);
  }

  get capabilities(): SynthesizerCapabilities {
    return this.#synthesizer.capabilities;
  }

  /** A sentence's audio, if it is in memory. */
  cached(request: SynthesisRequest): Uint8Array | undefined {
    const key = this.#keyOf(request);
    const prepared = this.#prepared.get(key);
    if (prepared !== undefined) return prepared;
    const sealed = this.#personal.get(this.#hidden(key));
    return sealed === undefined ? undefined : unseal(this.#secret, sealed);
  }

  isInMemory(request: SynthesisRequest): boolean {
    const key = this.#keyOf(request);
    return this.#prepared.has(key) || this.#personal.has(this.#hidden(key));
  }

  speak(request: SynthesisRequest, signal: AbortSignal): AsyncIterable<Uint8Array> {
    const phrase = this.cached(request);
    if (phrase !== undefined) return whole(phrase);
    return request.isPersonal === false ? this.#synthesizer.speak(request, signal) : this.#speakPersonal(request, signal);
  }

  /**
   * Loads sentences into memory, from disk or by synthesis, one after the other. One that fails stops no other, but where several
   * fail one after the other the synthesizer is away, and the others are not asked for.
   * @throws the synthesizer's error, one that may pass before one of a wrong request; what could be spoken is prepared
   */
  async prepare(requests: readonly SynthesisRequest[], signal: AbortSignal): Promise<void> {
    const errors: unknown[] = [];
    let inARow = 0;
    for (const request of requests) {
      try {
        await this.#prepareOne(request, signal);
        inARow = 0;
      } catch (error) {
        if (signal.aborted) throw error;
        if (error instanceof SpeechRequestError) errors.push(error);
        else {
          errors.unshift(error);
          inARow += 1;
        }
        if (inARow === MOST_FAILURES_IN_A_ROW) break;
      }
    }
    if (errors.length > 0) throw errors[0];
  }

  async #prepareOne(request: SynthesisRequest, signal: AbortSignal): Promise<void> {
    const { files } = this.#options;
    const key = this.#keyOf(request);
    if (this.#prepared.has(key)) return;
    const kept = await files?.read(key);
    if (kept !== undefined) {
      this.#prepared.set(key, kept);
      return;
    }
    const parts: Uint8Array[] = [];
    // Live calls go first: a prompt that is not ready is synthesised when it is needed.
    const spoken = this.#synthesizer.speak({ ...request, priority: 'batch' }, signal);
    for await (const audio of spoken) parts.push(Buffer.from(audio));
    const audio = Buffer.concat(parts);
    if (audio.length === 0 || lengthMs(request, audio.length) > MOST_PHRASE_MS) return;
    this.#prepared.set(key, audio);
    await files?.write(key, audio);
  }

  async *#speakPersonal(request: SynthesisRequest, signal: AbortSignal): AsyncIterable<Uint8Array> {
    const parts: Uint8Array[] = [];
    let length = 0;
    for await (const audio of this.#synthesizer.speak(request, signal)) {
      length += audio.length;
      // Audio that is too long for the cache is not collected further.
      if (lengthMs(request, length) <= MOST_PERSONAL_PHRASE_MS) parts.push(Buffer.from(audio));
      else parts.length = 0;
      yield audio;
    }
    if (length === 0 || lengthMs(request, length) > MOST_PERSONAL_PHRASE_MS) return;
    const audio = Buffer.concat(parts);
    this.#personal.set(this.#hidden(this.#keyOf(request)), seal(this.#secret, audio), PERSONAL_LIFE_MS);
  }

  #keyOf({ text, voice, language, speed = 1, format = TELEPHONE_FORMAT }: SynthesisRequest): string {
    return JSON.stringify([format.encoding, format.rateHz, this.#options.source, text, voice, language, speed]);
  }

  #hidden(key: string): string {
    return createHmac('sha256', this.#secret).update(key).digest('base64');
  }
}

function lengthMs({ format = TELEPHONE_FORMAT }: SynthesisRequest, bytes: number): number {
  return durationMs(format, bytes);
}

async function* whole(phrase: Uint8Array): AsyncIterable<Uint8Array> {
  yield phrase;
}

interface Kept {
  readonly bytes: Uint8Array;
  /** On the monotonic clock. */
  readonly untilMs: number;
}

/** An LRU cache of bytes by name, with a limit of all bytes and a lifetime for each entry. */
export class PhraseStore {
  readonly #clock: Clock;
  readonly #mostBytes: number;
  readonly #kept = new Map<string, Kept>();
  #bytes = 0;

  constructor(clock: Clock, mostBytes: number) {
    this.#clock = clock;
    this.#mostBytes = mostBytes;
  }

  has(name: string): boolean {
    return this.#kept.has(name);
  }

  get(name: string): Uint8Array | undefined {
    const kept = this.#kept.get(name);
    if (kept === undefined) return undefined;
    this.#forget(name);
    if (kept.untilMs <= this.#clock.nowMs()) return undefined;
    this.#add(name, kept);
    return kept.bytes;
  }

  set(name: string, bytes: Uint8Array, lifeMs = Number.POSITIVE_INFINITY): void {
    this.#forget(name);
    this.#add(name, { bytes, untilMs: this.#clock.nowMs() + lifeMs });
    for (const [other, { untilMs }] of this.#kept)
      if (untilMs <= this.#clock.nowMs() || this.#bytes > this.#mostBytes) this.#forget(other);
  }

  #add(name: string, kept: Kept): void {
    this.#kept.set(name, kept);
    this.#bytes += kept.bytes.length;
  }

  #forget(name: string): void {
    this.#bytes -= this.#kept.get(name)?.bytes.length ?? 0;
    this.#kept.delete(name);
  }
}
