import { setMaxListeners } from 'node:events';
import { type Clock, systemClock } from '../kernel/clock.ts';
import { type Logger, silentLogger } from '../observability/logger.ts';
import type { SpeechSlots } from '../observability/metrics.ts';
import type { AudioFile } from './asr/audio-source.ts';
import {
  transcribe,
  type TranscriptionOptions,
  type TranscriptionResult,
  type TranscriptionSource,
  type TranscriptionWatch,
} from './asr/batch.ts';
import { RealtimeRecogniser, KeyedRecogniser } from './asr/realtime.ts';
import { altDialect } from './asr/recognition-dialect.ts';
import { RecognitionAdvice } from './asr/recognition-advice.ts';
import { RecognitionStream } from './asr/recognition-stream.ts';
import { type Connections, connect, PatientFetch } from './client/connections.ts';
import { eitherSignal } from './client/deadline.ts';
import { SpeechOverloadedError } from './client/errors.ts';
import { type ServiceHealth, serviceHealth, HealthWatch } from './client/health.ts';
import { askLanguages, type PlatformLanguages, readLanguages } from './asr/languages.ts';
import { type MedicalOptions, transcribeMedical, type MedicalResult } from './asr/medical.ts';
import type { Recogniser, RecognitionOptions, SynthesisRequest, Synthesizer } from './port.ts';
import { needed, type SpeechPlatformSettings, serviceUrl } from './client/settings.ts';
import type { SlotLender } from './client/slot-lease.ts';
import { type Slot, slotsOf } from './client/slots.ts';
import { type SpeakerService, Speakers } from './asr/speakers.ts';
import { TokenSource } from './client/tokens.ts';
import { type BatchSpeechOptions, type SpokenAudio, synthesize } from './tts/batch.ts';
import { PhraseCache } from './tts/phrase-cache.ts';
import { PhraseFiles } from './tts/phrase-files.ts';
import { RealtimeSynthesizer } from './tts/realtime.ts';
import type { StreamedSpeechOptions } from './tts/realtime-request.ts';

export type { SpeechPlatformSettings } from './client/settings.ts';

/** Dependencies; when absent: the process's clock and `fetch`, and no log. */
export interface SpeechPlatformDeps {
  readonly clock?: Clock;
  readonly logger?: Logger;
  readonly fetch?: typeof fetch;
  /** Lends the slots of keys that other machines use too; each key's slots are this client's own when absent. */
  readonly lender?: SlotLender | undefined;
}

/** Result of a health check; undefined for a service without an address. */
export interface PlatformHealth {
  readonly recognition: ServiceHealth | undefined;
  readonly synthesis: ServiceHealth | undefined;
}

/** The token for an `Authorization: Bearer` header (document 1, "Access token"). A secret: never print it. */
export interface AccessToken {
  readonly token: string;
  /** Time until it expires, in ms. Undefined for a token of the application. */
  readonly lifeLeftMs: number | undefined;
}

/**
 * The client of the speech platform: recognition, synthesis and transcription behind one API key, or several. It works without the
 * rest of this project. Close it when done.
 */
export class SpeechPlatform implements AsyncDisposable {
  /** Recognition for calls, with a listener for events. `recognise` returns the same as an async iterable. */
  readonly recogniser: Recogniser;
  /** Synthesis for calls, in the format of the request. Prepared sentences come from memory, in the same tick. */
  readonly synthesizer: Synthesizer;
  /** Voice profiles; listing and identifying need `asrAltUrl` and an API key. */
  readonly speakers: Speakers;
  readonly #settings: SpeechPlatformSettings;
  readonly #deps: Required<Omit<SpeechPlatformDeps, 'lender'>>;
  readonly #connections: Connections;
  readonly #recognisers: readonly RealtimeRecogniser[];
  readonly #advice: RecognitionAdvice;
  readonly #realtime: RealtimeSynthesizer;
  readonly #phrases: PhraseCache;
  readonly #watch: HealthWatch;
  /** Undefined when the application gave its own `fetch`. */
  readonly #fetch: PatientFetch | undefined;
  readonly #closing = new AbortController();
  #voices: ServiceHealth | undefined;

  /** @throws TypeError unless there is exactly one of a key and a token; SpeechRequestError for a key without `authUrl` */
  constructor(settings: SpeechPlatformSettings, deps: SpeechPlatformDeps = {}) {
    this.#settings = settings;
    // One listener for each request that is under way.
    setMaxListeners(0, this.#closing.signal);
    if (deps.fetch === undefined) this.#fetch = new PatientFetch();
    const own = this.#fetch?.fetch ?? globalThis.fetch;
    this.#deps = { clock: systemClock, logger: silentLogger, fetch: own, ...deps };
    const { clock, logger, fetch: fetcher } = this.#deps;
    const { asrUrl = '', asrAltUrl, ttsUrl = '', connectTimeoutMs } = settings;
    const connections = connect(settings, { clock, fetch: fetcher, closing: this.#closing.signal, lender: deps.lender });
    const { tokens, asrSlots, ttsSlots: slots, ttsBreaker: breaker } = connections;
    this.#connections = connections;
    this.#realtime = new RealtimeSynthesizer({ ttsUrl, tokens, clock, slots, breaker, connectTimeoutMs });
    const folder = settings.phraseFolder;
    const files = folder === undefined ? {} : { files: new PhraseFiles({ folder, clock, logger }) };
    this.#phrases = new PhraseCache(this.#realtime, { clock, source: ttsUrl, ...files });
    this.synthesizer = this.#phrases;
    const timeout = connectTimeoutMs === undefined ? {} : { readyTimeoutMs: connectTimeoutMs };
    this.#advice = new RecognitionAdvice(logger);
    const isAlt = asrUrl === '' && asrAltUrl !== undefined;
    const shared = { clock, logger, advice: this.#advice, ...timeout };
    const where = isAlt ? { asrUrl: asrAltUrl, dialect: altDialect } : { asrUrl };
    const credentials = isAlt ? connections.keys : tokens;
    this.#recognisers = credentials.map((source) => new RealtimeRecogniser({ ...shared, ...where, tokens: source }));
    this.recogniser = new KeyedRecogniser(this.#recognisers, asrSlots);
    const alt = (): SpeakerService => ({ baseUrl: needed(settings, 'asrAltUrl'), http: connections.alt() });
    const primary = (): SpeakerService => ({ baseUrl: needed(settings, 'asrUrl'), http: connections.asr });
    const write = settings.asrUrl === undefined && settings.asrAltUrl !== undefined ? alt : primary;
    this.speakers = new Speakers({ write, read: alt });
    const ask = async (signal: AbortSignal): Promise<boolean> => {
      const { recognition, synthesis } = await this.health(signal);
      return recognition?.healthy !== false && synthesis?.healthy !== false;
    };
    this.#watch = new HealthWatch({ clock, logger, ask });
  }

  /**
   * A recognition slot for a live call, or undefined when none is free; its session then takes no other.
   * @param lane the key it must belong to, counted from 0; any when absent
   */
  reserveLive(lane?: number): Slot | undefined {
    return this.#connections.asrSlots.tryReserve('live', lane);
  }

  /** Waits, where other machines share the key, until `reserveLive` has this many slots at hand, or none is free; a fraction of a second at most. */
  readyLive(count?: number): Promise<void> {
    return this.#connections.asrSlots.ready(count);
  }

  /** Recognition slots that `reserveLive` could give now. */
  get freeSlots(): number {
    return this.#connections.asrSlots.free;
  }

  /** Slots in use and waited for, by service and priority. */
  get slotGauges(): readonly SpeechSlots[] {
    const { asrSlots, ttsSlots } = this.#connections;
    return [slotsOf('asr', asrSlots.use), slotsOf('tts', ttsSlots.use)].flat();
  }

  /** Services that are not asked for some seconds because they failed again and again. */
  get openBreakers(): readonly string[] {
    const { asrBreaker, ttsBreaker } = this.#connections;
    return [...(asrBreaker.isOpen ? ['recognition'] : []), ...(ttsBreaker.isOpen ? ['synthesis'] : [])];
  }

  /**
   * A valid access token, minted when needed (document 1, "POST {auth_url}/api/auth/token").
   * @throws SpeechAuthError for a key that is refused; SpeechError; the signal's reason when it aborts first
   */
  async accessToken(signal: AbortSignal): Promise<AccessToken> {
    using either = eitherSignal(signal, this.#closing.signal);
    const [source] = this.#connections.tokens;
    if (source === undefined) throw new TypeError('a speech client without a source of tokens');
    const token = await source.get(either.signal);
    return { token, lifeLeftMs: source instanceof TokenSource ? source.lifeLeftMs : undefined };
  }

  /**
   * Transcribes one recording (ASR doc, "POST {asr_url}/v1/audio/transcriptions") with the primary recogniser, or with
   * Variant B where its address alone was given.
   * @throws SpeechRequestError, before anything is sent, for invalid options; SpeechError by status; SpeechProtocolError for an
   * unreadable answer; the signal's reason when aborted
   */
  async transcribe(
    source: TranscriptionSource,
    options: TranscriptionOptions,
    signal: AbortSignal,
    watch: TranscriptionWatch = {},
  ): Promise<TranscriptionResult> {
    using either = eitherSignal(signal, this.#closing.signal);
    const { asrUrl, asrAltUrl } = this.#settings;
    this.#advice.forAny(options);
    if (asrUrl === undefined && asrAltUrl !== undefined)
      return await transcribe(this.#connections.alt(), asrAltUrl, source, options, either.signal, { ...watch, variant: 'alt' });
    return await transcribe(this.#connections.asr, needed(this.#settings, 'asrUrl'), source, options, either.signal, watch);
  }

  /**
   * Opens a realtime session (ASR doc, "WebSocket {asr_url}/v1/realtime") whose events are read by iteration and whose
   * commits can be waited for, with the primary recogniser, or with Variant B where its address alone was given.
   * It holds a slot until its end, and never waits for one, since live speech cannot wait.
   * @throws SpeechOverloadedError when no slot is free; SpeechRequestError without an address, or for Variant B without an API key
   */
  recognise(options: RecognitionOptions, signal: AbortSignal): RecognitionStream {
    if (this.#settings.asrAltUrl === undefined) needed(this.#settings, 'asrUrl');
    else if (this.#settings.asrUrl === undefined) this.#connections.alt();
    const slot = this.reserveLive();
    if (slot === undefined)
      throw new SpeechOverloadedError('recognition: every slot is taken, and a live session waits for none');
    const signals = [signal, this.#closing.signal];
    const onOver = (): void => slot.release();
    try {
      return new RecognitionStream(options, { recogniser: this.recogniser, clock: this.#deps.clock, signals, onOver });
    } catch (error) {
      slot.release();
      throw error;
    }
  }

  /**
   * Transcribes with the medical model (ASR doc, "POST {med_url}/transcribe"); needs `medUrl` and an API key. A WAV file over
   * 30 MB is sent in parts.
   * @throws SpeechRequestError before anything is sent for a format the service does not take, or a file too large to be split;
   * SpeechError by status; the signal's reason when aborted
   */
  async transcribeMedical(source: AudioFile, options: MedicalOptions, signal: AbortSignal): Promise<MedicalResult> {
    using either = eitherSignal(signal, this.#closing.signal);
    return await transcribeMedical(this.#connections.med(), needed(this.#settings, 'medUrl'), source, options, either.signal);
  }

  /**
   * The recogniser's languages (ASR doc, "GET {asr_url}/languages"). Variant B, used when only its address was given, needs the key.
   * @throws SpeechError; the signal's reason when aborted
   */
  async languages(signal: AbortSignal): Promise<PlatformLanguages> {
    using either = eitherSignal(signal, this.#closing.signal);
    const { asrUrl, asrAltUrl } = this.#settings;
    if (asrUrl === undefined && asrAltUrl !== undefined) {
      const request = { what: 'languages', url: serviceUrl(asrAltUrl, '/languages'), method: 'GET' } as const;
      const { text, mask } = await this.#connections.alt().send(request, either.signal);
      return readLanguages(text, mask);
    }
    return await askLanguages(this.#deps, needed(this.#settings, 'asrUrl'), either.signal);
  }

  /**
   * Speaks a text in any format; the audio follows as it is made (TTS doc, "POST {tts_url}/v1/audio/speech"). The signal counts until
   * the audio was read.
   * @throws SpeechError by status; the signal's reason when aborted
   */
  async synthesize(options: BatchSpeechOptions, signal: AbortSignal): Promise<SpokenAudio> {
    return await synthesize(this.#connections.tts, needed(this.#settings, 'ttsUrl'), options, signal, this.#closing.signal);
  }

  /**
   * Speaks a text over the socket in the requested format and rate; yields audio as it is made (TTS doc,
   * "WebSocket {tts_url}/v1/realtime"). Leaving the loop stops the synthesis.
   * @throws SpeechError; the signal's reason when aborted
   */
  stream(options: StreamedSpeechOptions, signal: AbortSignal): AsyncIterable<Uint8Array> {
    needed(this.#settings, 'ttsUrl');
    return this.#realtime.stream(options, signal);
  }

  /**
   * Synthesises sentences ahead of time into the memory of `synthesizer`.
   * @throws SpeechError; finished sentences stay
   */
  prepare(requests: readonly SynthesisRequest[]): Promise<void> {
    return this.#phrases.prepare(requests, this.#closing.signal);
  }

  /** Fetches a token and opens a synthesis socket, so that a call's first sentence does not wait for them. */
  warm(): void {
    void this.#realtime.warm();
  }

  /**
   * Asks both services for their health (`GET /health` of the ASR and the TTS doc), Variant B when only its address was given;
   * needs no credential.
   * @throws SpeechUnavailableError when one does not answer within 3 s, SpeechProtocolError for an answer that cannot be read;
   * the signal's reason when aborted
   */
  async health(signal: AbortSignal): Promise<PlatformHealth> {
    const { clock, fetch: fetcher } = this.#deps;
    const { asrUrl, asrAltUrl, ttsUrl } = this.#settings;
    const ask = async (url: string | undefined): Promise<ServiceHealth | undefined> =>
      url === undefined ? undefined : serviceHealth(fetcher, clock, url, signal);
    const [recognition, synthesis] = await Promise.all([
      ask(asrUrl ?? asrAltUrl),
      ask(ttsUrl).then((answer) => {
        if (answer?.healthy === true) this.#voices = answer;
        return answer;
      }),
    ]);
    return { recognition, synthesis };
  }

  /** The voices in the synthesizer's last good health answer; undefined before the first. */
  get voices(): Pick<ServiceHealth, 'voices' | 'defaultVoice'> | undefined {
    return this.#voices;
  }

  /** The result of the last health check; true before the first. */
  get isUp(): boolean {
    return this.#watch.isUp;
  }

  /** Starts a health check every few seconds. @param onUp called when the platform is back */
  watchHealth(onUp: () => void = () => undefined): void {
    this.#watch.start(onUp);
  }

  /** Runs one health check, whose result is `isUp`. Never rejects. */
  checkHealth(): Promise<boolean> {
    return this.#watch.check();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new Error('the speech client was closed'));
    this.#watch[Symbol.dispose]();
    await Promise.all(this.#recognisers.map((recogniser) => recogniser[Symbol.asyncDispose]()));
    await this.#realtime[Symbol.asyncDispose]();
    const { asrSlots, ttsSlots } = this.#connections;
    await Promise.all([asrSlots[Symbol.asyncDispose](), ttsSlots[Symbol.asyncDispose]()]);
    await this.#fetch?.[Symbol.asyncDispose]();
  }
}
