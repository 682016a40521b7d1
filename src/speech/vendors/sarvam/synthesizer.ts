import { z } from 'zod';
import { type AudioFormat, TELEPHONE_FORMAT } from '../../../audio/format.ts';
import { stayAwake } from '../../../kernel/clock.ts';
import { parseJson } from '../../../kernel/json.ts';
import type { MaskSecret } from '../../../kernel/mask-secret.ts';
import { failureOf, SpeechFailedError, SpeechProtocolError } from '../../client/errors.ts';
import type { SynthesisRequest } from '../../port.ts';
import type { Attempt } from '../../tts/synthesis-attempts.ts';
import { type Heard, RecodeStream } from '../../tts/synthesis-protocol.ts';
import { type SynthesisReader, SynthesisSocket } from '../../tts/synthesis-socket.ts';
import { notRawAudio } from '../../tts/whole-audio.ts';
import { SocketSynthesizer, type SocketSynthesizerOptions } from '../socket-synthesizer.ts';
import { WavSamples } from '../wav-samples.ts';
import { spokenCode } from './languages.ts';
import { kindOf } from './recognition.ts';

export interface SpeakOptions extends SocketSynthesizerOptions {
  readonly model: string;
}

/** Characters of one text message. @see https://docs.sarvam.ai/api/api-guides-tutorials/text-to-speech/which-api-to-use */
export const LONGEST_TEXT = 2_500;
/** `pace` of bulbul:v3, and of bulbul:v2. @see sarvamai 1.1.10, ConfigureConnection.Data.pace */
const PACE = { v3: { least: 0.5, most: 2 }, v2: { least: 0.3, most: 3 } } as const;
/** `speech_sample_rate` (the same). */
const RATES_HZ = [8_000, 16_000, 22_050, 24_000];
/** All texts may use any idle socket: each begins with its own configuration. */
const LANE = 'any';
const FLUSH = '{"type":"flush"}';

/**
 * `WS /text-to-speech/ws`: a configuration, a text and a flush, answered by audio in JSON messages and a completion event. Written
 * from the official client's types (sarvamai 1.1.10 on npm) and https://docs.sarvam.ai/api-reference/text-to-speech/stream
 */
export class SarvamSynthesizer extends SocketSynthesizer<SpeakOptions> {
  override speak(request: SynthesisRequest, signal: AbortSignal): AsyncIterable<Uint8Array> {
    const { priority = 'live' } = request;
    return this.attempts.run(priority, signal, (attempt, either) => this.#once(request, either, attempt));
  }

  warm(): Promise<void> {
    return this.warmUp(LANE, (signal) => this.#open(signal));
  }

  async *#once(request: SynthesisRequest, signal: AbortSignal, attempt: Attempt): AsyncIterable<Uint8Array> {
    const { text, format: wanted = TELEPHONE_FORMAT } = request;
    const from = madeAs(wanted);
    const idle = attempt.mayReuse ? this.idle.take(LANE) : undefined;
    attempt.reused = idle !== undefined;
    const socket = idle ?? (await stayAwake(this.#open(signal)));
    const config = JSON.stringify({ type: 'config', data: this.#config(request, from) });
    const messages = [config, JSON.stringify({ type: 'text', data: { text } }), FLUSH];
    let isWhole = false;
    try {
      yield* socket.speak(messages, new SpeakReader(from, wanted, socket.mask), signal);
      isWhole = true;
    } finally {
      // There is no message that drops a text.
      if (isWhole) this.keep(LANE, socket);
      else socket.close();
    }
  }

  #config({ voice, language, speed }: SynthesisRequest, { encoding, rateHz }: AudioFormat): object {
    const { model } = this.options;
    const { least, most } = model.startsWith('bulbul:v2') ? PACE.v2 : PACE.v3;
    const code = spokenCode(language);
    return {
      model,
      // The guides have the first name, the official client sends the second.
      target_language_code: code,
      language_code: code,
      speaker: voice.toLowerCase(),
      ...(speed === undefined ? {} : { pace: Math.min(most, Math.max(least, speed)) }),
      speech_sample_rate: rateHz,
      output_audio_codec: encoding === 'pcm16' ? 'linear16' : encoding,
    };
  }

  async #open(signal: AbortSignal): Promise<SynthesisSocket> {
    const { baseUrl, model, tokens, clock, keyAdvice } = this.options;
    const credential = await tokens.get(signal);
    return await SynthesisSocket.open(baseUrl, {
      title: 'Sarvam',
      keyAdvice,
      path: '/text-to-speech/ws',
      query: { model, send_completion_event: 'true' },
      headers: { 'api-subscription-key': credential },
      credential,
      clock,
      signal,
    });
  }
}

/** The nearest format that Sarvam makes. */
function madeAs({ encoding, rateHz }: AudioFormat): AudioFormat {
  if (encoding !== 'pcm16') return { encoding, rateHz: 8_000 };
  return { encoding, rateHz: RATES_HZ.find((made) => made >= rateHz) ?? 24_000 };
}

const message = z.looseObject({
  type: z.string(),
  data: z
    .looseObject({
      audio: z.string().optional().catch(undefined),
      event_type: z.string().optional().catch(undefined),
      message: z.string().optional().catch(undefined),
      code: z.number().optional().catch(undefined),
      request_id: z.string().optional().catch(undefined),
    })
    .optional()
    .catch(undefined),
});

/** Reads the answer to one text: audio in base64, and a completion. */
export class SpeakReader implements SynthesisReader {
  readonly #from: AudioFormat;
  readonly #wanted: AudioFormat;
  readonly #mask: MaskSecret;
  #recoded: RecodeStream | undefined;
  #bytes = 0;

  /** @param from what the service was asked for */
  constructor(from: AudioFormat, wanted: AudioFormat, mask: MaskSecret) {
    this.#from = from;
    this.#wanted = wanted;
    this.#mask = mask;
  }

  text(frame: string): Heard {
    const parsed = message.safeParse(parseJson(frame));
    if (!parsed.success) throw new SpeechProtocolError('Sarvam synthesis: a text frame that is no message');
    const { type, data } = parsed.data;
    if (type === 'audio' && data?.audio !== undefined)
      return { audio: this.#audio(Buffer.from(data.audio, 'base64')), done: false };
    if (type === 'error') {
      const error = this.#mask((data?.message ?? 'it failed without a reason').slice(0, 500));
      const kind = data?.code === undefined ? 'failed' : kindOf(data.code);
      throw failureOf('Sarvam synthesis', { error, code: data?.code === undefined ? undefined : String(data.code), kind });
    }
    if (type !== 'event' || data?.event_type !== 'final') return { done: false };
    if (this.#bytes === 0) throw new SpeechFailedError('Sarvam synthesis: the text was spoken without any audio');
    return { audio: this.#recoded?.flush() ?? new Uint8Array(), done: true };
  }

  binary(bytes: Uint8Array): Heard {
    return { audio: this.#audio(bytes), done: false };
  }

  /** A message may hold a WAV file of its own, with linear samples. */
  #audio(bytes: Uint8Array): Uint8Array {
    this.#bytes += bytes.length;
    const isWav = Buffer.from(bytes.subarray(0, 4)).toString('latin1') === 'RIFF';
    const wav = isWav ? new WavSamples() : undefined;
    const samples = wav === undefined ? bytes : Buffer.concat([wav.push(bytes), wav.end()]);
    if (this.#recoded === undefined) {
      const wrong = isWav ? undefined : notRawAudio(bytes);
      if (wrong !== undefined) throw new SpeechProtocolError(`Sarvam synthesis: ${wrong} where audio was due`);
      this.#recoded = new RecodeStream(wav?.format ?? this.#from, this.#wanted);
    }
    return this.#recoded.push(samples);
  }
}
