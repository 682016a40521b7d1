import { joinSamples } from '../../audio/samples.ts';
import { parseWav, wavFile } from '../../audio/wav.ts';
import { eitherSignal } from '../client/deadline.ts';
import { SpeechError, SpeechProtocolError, SpeechRequestError, SpeechUnavailableError } from '../client/errors.ts';
import type { Exchange } from '../client/exchange.ts';
import { type SpeechHttp, warningsOf } from '../client/requests.ts';
import type { SlotPriority } from '../client/slots.ts';
import { splitForSpeech } from './sentences.ts';
import { wholeAudio } from './whole-audio.ts';
import { checkText, codePoints, type SpeechFormat, speechFields, type SpeechOptions } from './speech-fields.ts';
import { serviceUrl } from '../client/settings.ts';

/** A text for the batch endpoint, and the form of its audio. */
export interface BatchSpeechOptions extends SpeechOptions {
  /** `mp3` when absent, as in the documents. */
  readonly format?: SpeechFormat;
  /** Cuts a text over 500 characters at sentence ends and joins the audio; FLAC and OGG cannot be joined. */
  readonly splitLong?: boolean;
  /** Called after each part of a cut text. */
  readonly onPiece?: (done: number, pieces: number) => void;
  /** `batch` when absent. */
  readonly priority?: SlotPriority;
}

/** The audio of a synthesis. Read it or close it: until then it holds a slot of the platform. */
export interface SpokenAudio {
  readonly format: SpeechFormat;
  readonly contentType: string | undefined;
  /** From the answer's `X-Sample-Rate`; undefined without that header. */
  readonly sampleRateHz: number | undefined;
  /** Id of the first request, when the text was cut. */
  readonly requestId: string | undefined;
  /** What the platform says of the first request: options without the effect that was asked for. */
  readonly warnings: readonly string[];
  /** The audio as it arrives; readable once. Leaving the loop stops the synthesis. @throws SpeechError when it breaks off */
  readonly audio: AsyncIterable<Uint8Array>;
  /** Stops the synthesis. */
  close(): void;
}

/** Requests of a cut text that run ahead of the reader. */
const AHEAD = 3;
const SHORT_CHARACTERS = 500;
/** Above the platform's own limit of 300 s (TTS doc, limits), so that its 504 arrives. */
const LONG_TIMEOUT_MS = 330_000;
const JOINABLE: ReadonlySet<SpeechFormat> = new Set(['pcm', 'wav', 'mp3', 'mulaw', 'alaw']);

/**
 * Speaks a text: `POST {tts_url}/v1/audio/speech`. Resolves with the head of the answer; audio follows as it is made.
 * @throws SpeechRequestError before anything is sent for what the documents rule out; SpeechError by status; the signal's
 * reason when aborted
 * @param closing the client's own end; stops it like the signal
 */
export async function synthesize(
  http: SpeechHttp,
  ttsUrl: string,
  options: BatchSpeechOptions,
  outer: AbortSignal,
  closing?: AbortSignal,
): Promise<SpokenAudio> {
  const { format = 'mp3', splitLong = false, text } = options;
  const left = new AbortController();
  const either = eitherSignal(outer, closing, left.signal);
  const { signal } = either;
  const ask = (piece: string): Promise<Exchange> => {
    const fields = { ...speechFields({ ...options, text: piece }), response_format: format };
    const isLong = codePoints(piece) > SHORT_CHARACTERS;
    return http.open(
      {
        what: 'synthesis',
        url: serviceUrl(ttsUrl, '/v1/audio/speech'),
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: '*/*' },
        body: () => JSON.stringify(fields),
        ...(isLong ? { timeoutMs: LONG_TIMEOUT_MS } : {}),
        priority: options.priority ?? 'batch',
      },
      signal,
    );
  };
  const close = (): void => {
    left.abort(new Error('the synthesis was left'));
    either[Symbol.dispose]();
  };
  try {
    const pieces = splitLong && codePoints(text) > SHORT_CHARACTERS ? sayablePieces(text) : [text];
    const [head = text, ...rest] = pieces;
    if (rest.length > 0 && !JOINABLE.has(format))
      throw new SpeechRequestError(`${format} cannot be joined: ask for wav, or speak shorter texts`);
    checkText(text);
    const first = await ask(head);
    const onDone = (done: number): void => options.onPiece?.(done, pieces.length);
    if (rest.length === 0) return spoken(format, first, whole(bodyOf(first, format, signal), onDone, close), close);
    const parts = inOrder({ first, rest, ask, format, signal, onDone, close });
    return spoken(format, first, format === 'wav' ? oneWav(parts) : parts, close);
  } catch (error) {
    close();
    throw error;
  }
}

function sayablePieces(text: string): string[] {
  return splitForSpeech(text).filter((piece) => piece.trim() !== '');
}

function spoken(format: SpeechFormat, exchange: Exchange, audio: AsyncIterable<Uint8Array>, close: () => void): SpokenAudio {
  const { headers } = exchange.response;
  return {
    format,
    contentType: headers.get('content-type') ?? undefined,
    sampleRateHz: rateOf(exchange),
    requestId: exchange.requestId,
    warnings: warningsOf(headers),
    audio,
    close,
  };
}

function rateOf({ response }: Exchange): number | undefined {
  const rate = Number(response.headers.get('x-sample-rate') ?? Number.NaN);
  return Number.isInteger(rate) && rate > 0 ? rate : undefined;
}

/** The body, with a typed error when the connection breaks. @param trustsLength as `wholeAudio` takes it */
export async function* bodyOf(
  exchange: Exchange,
  format: SpeechFormat,
  signal: AbortSignal,
  trustsLength = true,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* wholeAudio(format, exchange, trustsLength);
  } catch (cause) {
    if (signal.aborted) throw signal.reason as Error;
    if (cause instanceof SpeechError) throw cause;
    const facts = { cause, requestId: exchange.requestId };
    throw new SpeechUnavailableError('synthesis: the connection broke off before the end of the audio', facts);
  }
}

/** The one answer of a text that was not cut. */
async function* whole(
  audio: AsyncIterable<Uint8Array>,
  onDone: (done: number) => void,
  close: () => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* audio;
    onDone(1);
  } finally {
    close();
  }
}

interface Pieces {
  readonly first: Exchange;
  readonly rest: readonly string[];
  readonly ask: (piece: string) => Promise<Exchange>;
  readonly format: SpeechFormat;
  readonly signal: AbortSignal;
  readonly onDone: (done: number) => void;
  /** Stops the requests that run ahead. */
  readonly close: () => void;
}

/** The audio of a cut text, part by part in order; a few parts are made ahead. */
async function* inOrder({
  first,
  rest,
  ask,
  format,
  signal,
  onDone,
  close,
}: Pieces): AsyncGenerator<Uint8Array, void, undefined> {
  const rateHz = rateOf(first);
  const later = async (piece: string): Promise<Uint8Array> => {
    const exchange = await ask(piece);
    if (rateOf(exchange) === rateHz) return wholeBody(exchange, format, signal);
    exchange.close();
    throw new SpeechProtocolError('synthesis: parts of one text came at different sample rates');
  };
  const begun: Promise<Uint8Array>[] = [wholeBody(first, format, signal)];
  let next = 0;
  try {
    for (let done = 1; ; done += 1) {
      for (; next < rest.length && begun.length < AHEAD; next += 1) {
        const part = later(rest[next] ?? '');
        // Its rejection is handled where the part is awaited.
        part.catch(() => undefined);
        begun.push(part);
      }
      const part = begun.shift();
      if (part === undefined) return;
      const bytes = await part;
      onDone(done);
      yield bytes;
    }
  } finally {
    close();
  }
}

async function wholeBody(exchange: Exchange, format: SpeechFormat, signal: AbortSignal): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const part of bodyOf(exchange, format, signal)) parts.push(part);
  return Buffer.concat(parts);
}

/** Joins WAV files into one; its header has the length, so it starts when all parts are there. */
async function* oneWav(parts: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  const samples: Int16Array[] = [];
  let rateHz: number | undefined;
  for await (const part of parts) {
    const wav = parseWav(part);
    if (rateHz !== undefined && wav.rateHz !== rateHz)
      throw new SpeechProtocolError('synthesis: parts of one text came at different sample rates');
    rateHz = wav.rateHz;
    samples.push(wav.samples[0] ?? new Int16Array());
  }
  yield wavFile(joinSamples(samples), rateHz ?? 8_000);
}
