import { z } from 'zod';
import { type AudioFormat, TELEPHONE_FORMAT } from '../../../audio/format.ts';
import { stayAwake } from '../../../kernel/clock.ts';
import { parseJson } from '../../../kernel/json.ts';
import type { MaskSecret } from '../../../kernel/mask-secret.ts';
import { SpeechFailedError, SpeechProtocolError } from '../../client/errors.ts';
import type { SynthesisRequest } from '../../port.ts';
import { splitForRequests } from '../../tts/sentences.ts';
import { checkText } from '../../tts/speech-fields.ts';
import type { Attempt } from '../../tts/synthesis-attempts.ts';
import { type Heard, RecodeStream } from '../../tts/synthesis-protocol.ts';
import { type SynthesisReader, SynthesisSocket } from '../../tts/synthesis-socket.ts';
import { notRawAudio } from '../../tts/whole-audio.ts';
import { SocketSynthesizer, type SocketSynthesizerOptions } from '../socket-synthesizer.ts';

export interface SpeakOptions extends SocketSynthesizerOptions {
  readonly mipOptOut: boolean;
  readonly onWarning: (text: string) => void;
}

/** Characters of one `Speak` message. @see https://developers.deepgram.com/docs/text-to-speech (limits) */
export const LONGEST_TEXT = 2_000;
/** Rates of linear samples; those of G.711 are 8 and 16 kHz. @see https://developers.deepgram.com/docs/tts-media-output-settings */
const LINEAR_RATES_HZ = [8_000, 16_000, 24_000, 32_000, 48_000];
/** @see https://developers.deepgram.com/docs/tts-voice-controls */
const SLOWEST = 0.7;
const FASTEST = 1.5;
/** A socket takes 20 `Flush` in a minute (https://developers.deepgram.com/docs/tts-ws-flush). */
const MOST_FLUSHES = 20;
const FLUSH_WINDOW_MS = 60_000;

/** Longest wait for the next audio of a text. */
const CHUNK_TIMEOUT_MS = 10_000;
const WORDS = /[\p{L}\p{N}]/u;
/** Metadata comes once a socket is open, warnings when they arise. */
const isIdleMessage = (frame: string): boolean => ['Metadata', 'Warning'].includes(typeOf(frame) ?? '');
const CLEAR = { message: JSON.stringify({ type: 'Clear' }), isCleared: (frame: string) => typeOf(frame) === 'Cleared' };

interface Wire {
  readonly query: Readonly<Record<string, string>>;
  readonly from: AudioFormat;
}

/**
 * `WS /v1/speak`: a socket has one voice and format, and speaks one text after another. Written from
 * https://developers.deepgram.com/reference/text-to-speech/speak-streaming
 */
export class DeepgramSynthesizer extends SocketSynthesizer<SpeakOptions> {
  /** When each socket was flushed. */
  readonly #flushes = new WeakMap<SynthesisSocket, number[]>();

  override async *speak(request: SynthesisRequest, signal: AbortSignal): AsyncIterable<Uint8Array> {
    checkText(request.text);
    const wire = this.#wireOf(request);
    yield* this.attempts.run(request.priority ?? 'live', signal, (attempt, either) => this.#once(request, wire, either, attempt));
  }

  /** For the default voice. */
  warm(): Promise<void> {
    const { query } = this.#wireOf({ text: '', voice: this.capabilities.defaultVoice ?? '', language: 'en' });
    return this.warmUp(laneOf(query), (signal) => this.#open(query, signal));
  }

  async *#once({ text, format }: SynthesisRequest, wire: Wire, signal: AbortSignal, attempt: Attempt): AsyncIterable<Uint8Array> {
    const said = splitForRequests(text, LONGEST_TEXT);
    const idle = attempt.mayReuse ? this.#takeIdle(wire.query, said.length) : undefined;
    attempt.reused = idle !== undefined;
    const socket = idle ?? (await stayAwake(this.#open(wire.query, signal)));
    const recoded = new RecodeStream(wire.from, format ?? TELEPHONE_FORMAT);
    const { onWarning } = this.options;
    const reader = new SpeakReader(recoded, { flushes: said.length, hasWords: WORDS.test(text), mask: socket.mask, onWarning });
    const messages = said.flatMap((piece) => [JSON.stringify({ type: 'Speak', text: piece }), JSON.stringify({ type: 'Flush' })]);
    this.#flushes.get(socket)?.push(...said.map(() => this.options.clock.nowMs()));
    let whole = false;
    let failed = false;
    try {
      yield* socket.speak(messages, reader, signal);
      whole = true;
    } catch (error) {
      failed = !signal.aborted;
      throw error;
    } finally {
      if (whole) this.keep(laneOf(wire.query), socket);
      else if (failed) socket.close();
      // The dropped text is not waited for.
      else void socket.clear(CLEAR).then((cleared) => cleared && this.keep(laneOf(wire.query), socket));
    }
  }

  #wireOf({ voice, speed = 1, format = TELEPHONE_FORMAT }: SynthesisRequest): Wire {
    const { mipOptOut } = this.options;
    const from = madeAs(format);
    const query = {
      model: voice,
      encoding: from.encoding === 'pcm16' ? 'linear16' : from.encoding,
      sample_rate: String(from.rateHz),
      // An unsupported speed becomes the nearest one, so that a bot made for other voices still speaks.
      ...(speed === 1 ? {} : { speed: String(Math.min(FASTEST, Math.max(SLOWEST, speed))) }),
      ...(mipOptOut ? { mip_opt_out: 'true' } : {}),
    };
    return { query, from };
  }

  async #open(query: Wire['query'], signal: AbortSignal): Promise<SynthesisSocket> {
    const { baseUrl, tokens, clock, keyAdvice } = this.options;
    const credential = await tokens.get(signal);
    const headers = { authorization: `Token ${credential}` };
    const options = {
      title: 'Deepgram',
      keyAdvice,
      path: '/v1/speak',
      headers,
      query,
      clock,
      signal,
      chunkTimeoutMs: CHUNK_TIMEOUT_MS,
      isIdleMessage,
    };
    const socket = await SynthesisSocket.open(baseUrl, { ...options, credential });
    this.#flushes.set(socket, []);
    return socket;
  }

  /** An idle socket with this many flushes left; one with fewer is closed. */
  #takeIdle(query: Wire['query'], flushes: number): SynthesisSocket | undefined {
    for (;;) {
      const socket = this.idle.take(laneOf(query));
      if (socket === undefined) return undefined;
      const sinceMs = this.options.clock.nowMs() - FLUSH_WINDOW_MS;
      const recent = (this.#flushes.get(socket) ?? []).filter((atMs) => atMs > sinceMs);
      this.#flushes.set(socket, recent);
      if (recent.length + flushes <= MOST_FLUSHES) return socket;
      socket.close();
    }
  }
}

function laneOf(query: Wire['query']): string {
  return new URLSearchParams(query).toString();
}

/** The nearest format that Deepgram makes. */
function madeAs({ encoding, rateHz }: AudioFormat): AudioFormat {
  if (encoding !== 'pcm16') return { encoding, rateHz };
  return { encoding, rateHz: LINEAR_RATES_HZ.find((made) => made >= rateHz) ?? 48_000 };
}

const message = z.looseObject({
  type: z.string(),
  description: z.string().optional().catch(undefined),
  code: z.string().optional().catch(undefined),
});

function typeOf(frame: string): string | undefined {
  return message.safeParse(parseJson(frame)).data?.type;
}

/** What the answer to one text is read with. */
interface SpeakAnswer {
  /** `Flush` messages that were sent. */
  readonly flushes: number;
  /** Without words there may be no audio. */
  readonly hasWords: boolean;
  readonly mask: MaskSecret;
  readonly onWarning: (text: string) => void;
}

/** Reads the answer to one text: audio, and a `Flushed` for each `Flush`. */
export class SpeakReader implements SynthesisReader {
  readonly #recoded: RecodeStream;
  readonly #answer: SpeakAnswer;
  #flushesDue: number;
  #isChecked = false;
  #bytes = 0;

  constructor(recoded: RecodeStream, answer: SpeakAnswer) {
    this.#recoded = recoded;
    this.#answer = answer;
    this.#flushesDue = answer.flushes;
  }

  text(frame: string): Heard {
    const told = message.safeParse(parseJson(frame));
    if (!told.success) throw new SpeechProtocolError('Deepgram synthesis: a text frame that is no message');
    const { type, description, code } = told.data;
    const { mask, onWarning, hasWords } = this.#answer;
    const text = mask((description ?? code ?? type).slice(0, 500));
    if (type === 'Error') throw new SpeechFailedError(`Deepgram synthesis: ${text}`, { platformCode: code });
    if (type === 'Warning') onWarning(text);
    if (type !== 'Flushed') return { done: false };
    this.#flushesDue -= 1;
    if (this.#flushesDue > 0) return { done: false };
    if (this.#bytes === 0 && hasWords) throw new SpeechFailedError('Deepgram synthesis: the text was spoken without any audio');
    return { audio: this.#recoded.flush(), done: true };
  }

  binary(bytes: Uint8Array): Heard {
    const wrong = this.#isChecked ? undefined : notRawAudio(bytes);
    if (wrong !== undefined) throw new SpeechProtocolError(`Deepgram synthesis: ${wrong} where audio was due`);
    this.#isChecked = true;
    this.#bytes += bytes.length;
    return { audio: this.#recoded.push(bytes), done: false };
  }
}
