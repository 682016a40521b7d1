import { type AudioFormat, TELEPHONE_FORMAT } from '../../audio/format.ts';
import type { Clock } from '../../kernel/clock.ts';
import { CircuitBreaker } from '../client/circuit-breaker.ts';
import { PatientFetch } from '../client/connections.ts';
import { eitherSignal } from '../client/deadline.ts';
import { SpeechUnavailableError } from '../client/errors.ts';
import { SpeechHttp, type SpeechHttpOptions } from '../client/requests.ts';
import { bodyOf } from '../tts/batch.ts';
import type { SpeechFormat } from '../tts/speech-fields.ts';
import { RecodeStream } from '../tts/synthesis-protocol.ts';
import type { SynthesisRequest } from '../port.ts';
import type { VendorParts } from './vendor.ts';
import { WavSamples } from './wav-samples.ts';

/** A service that answers a text with a stream of audio. */
export interface SpeechService {
  /** In errors: `openai synthesis`. */
  readonly what: string;
  readonly http: SpeechHttp;
  readonly clock: Clock;
  /** Aborts every request. */
  readonly closing: AbortSignal;
}

/** What one text is asked with. */
export interface SpeechAsk {
  readonly url: URL;
  /** Fields of the JSON body; a text is SSML. */
  readonly fields: object | string;
  /** Beside those of the body. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Format of the answer; a WAV file names its own rate. */
  readonly format: Extract<SpeechFormat, 'pcm' | 'wav' | 'mulaw' | 'alaw'>;
  /** Rate of audio without a header. */
  readonly rateHz: number;
}

/** Longest wait for the next audio, the first included. */
const SILENT_MS = 10_000;

/**
 * Speaks a text with one request, whose answer is passed on as it is made, in the request's format. Leaving the loop closes the
 * connection.
 * @throws as `SpeechHttp.open`; SpeechUnavailableError where no audio comes for ten seconds; SpeechProtocolError for anything but
 * audio
 */
export async function* speakOverHttp(
  { what, http, clock, closing }: SpeechService,
  { url, fields, headers, format, rateHz }: SpeechAsk,
  request: SynthesisRequest,
  outer: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  const stalled = new AbortController();
  using either = eitherSignal(outer, closing, stalled.signal);
  const { signal } = either;
  const isSsml = typeof fields === 'string';
  const watched = async <Value>(step: Promise<Value>): Promise<Value> => {
    const timer = clock.after(SILENT_MS, () =>
      stalled.abort(new SpeechUnavailableError(`${what}: no audio for ${SILENT_MS} ms`)),
    );
    try {
      return await step;
    } finally {
      timer.cancel();
    }
  };
  const exchange = await watched(
    http.open(
      {
        what,
        url,
        method: 'POST',
        headers: { 'content-type': isSsml ? 'application/ssml+xml' : 'application/json', accept: '*/*', ...headers },
        body: () => (isSsml ? fields : JSON.stringify(fields)),
        priority: request.priority ?? 'live',
      },
      signal,
    ),
  );
  const wav = format === 'wav' ? new WavSamples() : undefined;
  const made: AudioFormat = { encoding: format === 'mulaw' || format === 'alaw' ? format : 'pcm16', rateHz };
  let recoded: RecodeStream | undefined;
  const recode = (samples: Uint8Array): Uint8Array => {
    const from = wav === undefined ? made : wav.format;
    if (from === undefined) return samples;
    recoded ??= new RecodeStream(from, request.format ?? TELEPHONE_FORMAT);
    return recoded.push(samples);
  };
  const body = bodyOf(exchange, format, signal, false);
  try {
    for (let step = await watched(body.next()); step.done !== true; step = await watched(body.next())) {
      const audio = recode(wav === undefined ? step.value : wav.push(step.value));
      if (audio.length > 0) yield audio;
    }
    const last = recode(wav?.end() ?? new Uint8Array());
    const rest = Buffer.concat([last, recoded?.flush() ?? new Uint8Array()]);
    if (rest.length > 0) yield rest;
  } finally {
    await body.return();
  }
}

/** Longer than the pause between two sentences of a call. */
const KEEP_ALIVE_MS = 30_000;

/** Requests of an open vendor, over connections that are kept between sentences. */
export class VendorHttp implements AsyncDisposable {
  readonly fetch: typeof fetch;
  readonly #clock: Clock;
  readonly #own: PatientFetch | undefined;
  readonly #closing = new AbortController();

  constructor({ clock, fetch: given }: Pick<VendorParts, 'clock' | 'fetch'>) {
    this.#clock = clock;
    this.#own = given === undefined ? new PatientFetch(KEEP_ALIVE_MS) : undefined;
    this.fetch = given ?? this.#own?.fetch ?? fetch;
  }

  /** Aborts once the vendor is closed. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** @param service for errors: `azure synthesis` */
  sender(
    service: string,
    options: Omit<SpeechHttpOptions, 'breaker' | 'clock' | 'fetch' | 'maxRetries' | 'backoff'>,
  ): SpeechHttp {
    return new SpeechHttp({
      breaker: new CircuitBreaker({ clock: this.#clock, service }),
      clock: this.#clock,
      fetch: this.fetch,
      maxRetries: 2,
      backoff: { firstMs: 200, factor: 2, maxMs: 1_000, jitter: 0.25 },
      ...options,
    });
  }

  abort(): void {
    this.#closing.abort(new Error('the speech vendor was closed'));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.abort();
    await this.#own?.[Symbol.asyncDispose]();
  }
}
