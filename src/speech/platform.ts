import { setMaxListeners } from 'node:events';
import type { Clock, Timer } from '../kernel/clock.ts';
import type { Logger } from '../observability/logger.ts';
import { transcribe, type TranscriptionOptions, type TranscriptionResult, type TranscriptionSource } from './asr/batch.ts';
import { RealtimeRecogniser } from './asr/realtime.ts';
import { eitherSignal } from './either-signal.ts';
import { type ServiceHealth, serviceHealth } from './health.ts';
import { SpeechHttp } from './requests.ts';
import type { Recogniser, SynthesisRequest, Synthesizer } from './port.ts';
import { Slots, type Slot } from './slots.ts';
import { TokenSource } from './tokens.ts';
import { PhraseCache } from './tts/phrase-cache.ts';
import { RealtimeSynthesizer } from './tts/realtime.ts';

export interface SpeechPlatformSettings {
  readonly authUrl: string;
  readonly asrUrl: string;
  readonly ttsUrl: string;
  readonly apiKey: string;
  /** Concurrent requests allowed for each service and key; 16 in the default tier. */
  readonly slotsPerKey?: number;
  readonly connectTimeoutMs?: number;
  readonly requestTimeoutMs?: number;
  readonly tokenLifeSeconds?: number;
}

export interface SpeechPlatformDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly fetch?: typeof fetch;
}

const HEALTH_EVERY_MS = 5_000;

/**
 * The speech platform as one object: recognition, synthesis and batch transcription behind one key. Needs nothing else of
 * this project and can be used alone; close it when done.
 */
export class SpeechPlatform implements AsyncDisposable {
  readonly recogniser: Recogniser;
  /** Prepared sentences come from memory, in the same tick. */
  readonly synthesizer: Synthesizer;
  readonly #settings: SpeechPlatformSettings;
  readonly #deps: Required<SpeechPlatformDeps>;
  readonly #http: SpeechHttp;
  readonly #recogniser: RealtimeRecogniser;
  readonly #realtime: RealtimeSynthesizer;
  readonly #phrases: PhraseCache;
  readonly #asrSlots: Slots;
  readonly #closing = new AbortController();
  #healthTimer: Timer | undefined;
  #isUp = true;
  #onUp: () => void = () => undefined;

  constructor(settings: SpeechPlatformSettings, deps: SpeechPlatformDeps) {
    const { authUrl, asrUrl, ttsUrl, apiKey, slotsPerKey = 16, requestTimeoutMs = 120_000 } = settings;
    this.#settings = settings;
    // One listener for each request that is under way.
    setMaxListeners(0, this.#closing.signal);
    this.#deps = { fetch: globalThis.fetch, ...deps };
    const { clock, logger, fetch: fetcher } = this.#deps;
    const lifeSeconds = settings.tokenLifeSeconds === undefined ? {} : { lifeSeconds: settings.tokenLifeSeconds };
    const tokens = new TokenSource({ authUrl, apiKey, clock, fetch: fetcher, closing: this.#closing.signal, ...lifeSeconds });
    const { connectTimeoutMs } = settings;
    const readyTimeout = connectTimeoutMs === undefined ? {} : { readyTimeoutMs: connectTimeoutMs };
    this.#asrSlots = new Slots(slotsPerKey);
    this.#http = new SpeechHttp({ tokens, clock, fetch: fetcher, timeoutMs: requestTimeoutMs });
    this.#realtime = new RealtimeSynthesizer({ ttsUrl, tokens, clock, slots: new Slots(slotsPerKey), connectTimeoutMs });
    this.#phrases = new PhraseCache(this.#realtime);
    this.synthesizer = this.#phrases;
    this.#recogniser = new RealtimeRecogniser({ asrUrl, tokens, clock, logger, ...readyTimeout });
    this.recogniser = this.#recogniser;
  }

  /** A recognition slot for a live call, or undefined when none is free; its session then takes no other. */
  reserveLive(): Slot | undefined {
    return this.#asrSlots.tryReserve();
  }

  /** @throws SpeechError by status; the signal's reason when aborted */
  async transcribe(
    source: TranscriptionSource,
    options: TranscriptionOptions,
    signal: AbortSignal,
  ): Promise<TranscriptionResult> {
    using either = eitherSignal(signal, this.#closing.signal);
    const slot = await this.#asrSlots.acquire('batch', either.signal);
    try {
      return await transcribe(this.#http, this.#settings.asrUrl, source, options, either.signal);
    } finally {
      slot.release();
    }
  }

  /** Speaks sentences ahead of time. @throws SpeechError; sentences already spoken stay */
  prepare(requests: readonly SynthesisRequest[]): Promise<void> {
    return this.#phrases.prepare(requests, this.#closing.signal);
  }

  /** Gets a token and a synthesis socket ready, so that the first sentence of a call need not wait for them. */
  warm(): void {
    void this.#realtime.warm();
  }

  /** @throws SpeechUnavailableError, SpeechProtocolError */
  async health(signal: AbortSignal): Promise<{ readonly recognition: ServiceHealth; readonly synthesis: ServiceHealth }> {
    const { clock, fetch: fetcher } = this.#deps;
    const [recognition, synthesis] = await Promise.all([
      serviceHealth(fetcher, clock, this.#settings.asrUrl, signal),
      serviceHealth(fetcher, clock, this.#settings.ttsUrl, signal),
    ]);
    return { recognition, synthesis };
  }

  /** The last health check's verdict; true before the first. */
  get isUp(): boolean {
    return this.#isUp;
  }

  /** Asks for health every few seconds from now on, so that a call is not answered into silence. @param onUp told when it came back */
  watchHealth(onUp: () => void = () => undefined): void {
    this.#onUp = onUp;
    void this.checkHealth();
  }

  /** One health check, kept as `isUp`. Never rejects. */
  async checkHealth(): Promise<boolean> {
    const { clock, logger } = this.#deps;
    const before = this.#isUp;
    try {
      const { recognition, synthesis } = await this.health(this.#closing.signal);
      this.#isUp = recognition.healthy && synthesis.healthy;
    } catch {
      // A check that was broken off by closing says nothing about the platform.
      if (this.#closing.signal.aborted) return before;
      this.#isUp = false;
    }
    if (this.#closing.signal.aborted) return this.#isUp;
    if (before !== this.#isUp) {
      logger.warn({ up: this.#isUp }, 'speech platform changed state');
      if (this.#isUp) this.#onUp();
    }
    this.#healthTimer?.cancel();
    this.#healthTimer = clock.after(HEALTH_EVERY_MS, () => void this.checkHealth());
    return this.#isUp;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new Error('the speech client was closed'));
    this.#healthTimer?.cancel();
    await Promise.all([this.#recogniser[Symbol.asyncDispose](), this.#realtime[Symbol.asyncDispose]()]);
  }
}
