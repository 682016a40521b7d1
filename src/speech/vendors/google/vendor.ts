import type { TextToSpeechClient } from '@google-cloud/text-to-speech';
import { on } from 'node:events';
import { z } from 'zod';
import { type AudioFormat, TELEPHONE_FORMAT } from '../../../audio/format.ts';
import { optionalText, secret, text, whole } from '../../../config/setting.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { abortable } from '../../../kernel/waiting.ts';
import { eitherSignal } from '../../client/deadline.ts';
import { SpeechUnavailableError } from '../../client/errors.ts';
import type { SynthesisRequest, Synthesizer, SynthesizerCapabilities } from '../../port.ts';
import { RecodeStream } from '../../tts/synthesis-protocol.ts';
import { ifInstalled, localeOf, type OpenVendor, type SpeechVendor, type VendorParts } from '../vendor.ts';
import { WavSamples } from '../wav-samples.ts';
import { GoogleRecogniser } from './recognition.ts';
import { clientOptions, errorOf, type GoogleAccount, loadClient } from './sdk.ts';

const settings = z.object({
  recognitionEndpoint: optionalText(
    "Host, or host:port, of a regional endpoint in place of Google's, for example eu-speech.googleapis.com",
  ),
  synthesisEndpoint: optionalText(
    "Host, or host:port, of a regional endpoint in place of Google's, for example eu-texttospeech.googleapis.com",
  ),
  model: optionalText("Recognition model, for example telephony or latest_short; unset: the language's default"),
  voice: text('en-IN-Chirp3-HD-Kore', 'Voice of bots that name none'),
  recognitionSessions: whole(1, 10_000, 100, "Streams that the project's quota allows at once", { unit: 'streams' }),
  synthesisRequests: whole(1, 10_000, 100, "Sentences that the project's quota allows at once", { unit: 'requests' }),
});

const secrets = z.object({
  credentials: secret('JSON key of a Google Cloud service account; GOOGLE__CREDENTIALS_FILE names a file of it'),
});

/** Google Cloud Speech-to-Text and Text-to-Speech, each through Google's own package beside Offhook. */
export const google: SpeechVendor = {
  name: 'google',
  title: 'Google Cloud Speech',
  settings,
  secrets,
  services: ['recognition', 'synthesis'],
  prices: [],
  needs: 'OFFHOOK_GOOGLE__CREDENTIALS, and the packages @google-cloud/speech@7 and @google-cloud/text-to-speech@6',
  open(config, parts) {
    const [credentials] = config.secrets['credentials'] ?? [];
    const values = settings.parse(config.settings);
    const hasEndpoint = values.recognitionEndpoint !== undefined || values.synthesisEndpoint !== undefined;
    return credentials === undefined && !hasEndpoint ? undefined : new Google(credentials?.reveal(), values, parts);
  },
};

class Google implements OpenVendor {
  readonly recogniser: GoogleRecogniser | undefined;
  readonly synthesizer: GoogleSynthesizer | undefined;

  constructor(credentials: string | undefined, values: z.output<typeof settings>, { clock, logger }: VendorParts) {
    const { recognitionEndpoint, synthesisEndpoint, model, voice, recognitionSessions, synthesisRequests } = values;
    const recognition = { model, sessions: recognitionSessions, clock };
    const synthesis = { voice, requests: synthesisRequests, clock };
    this.recogniser = ifInstalled(
      () => new GoogleRecogniser({ credentials, endpoint: recognitionEndpoint }, recognition),
      logger,
    );
    this.synthesizer = ifInstalled(() => new GoogleSynthesizer({ credentials, endpoint: synthesisEndpoint }, synthesis), logger);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.recogniser?.[Symbol.asyncDispose]();
    await this.synthesizer?.[Symbol.asyncDispose]();
  }
}

/** Rate that is asked for where the call has another one; the voices' own is 24 kHz. */
const CALL_RATES = [8_000, 16_000, 24_000];

/** Longest wait for the next audio, the first included. */
const SILENT_MS = 10_000;

/** Voices that can be streamed. @see https://cloud.google.com/text-to-speech/docs/create-audio-text-streaming */
const STREAMED_VOICE = /Chirp3-HD/iu;

const audioSchema = z.object({ audioContent: z.instanceof(Uint8Array).nullish() });

/** Google's Text-to-Speech v1: streamed for voices that can be, whole sentences for others. */
export class GoogleSynthesizer implements Synthesizer, AsyncDisposable {
  readonly capabilities: SynthesizerCapabilities;
  readonly #client: TextToSpeechClient;
  readonly #clock: Clock;

  /** @throws SpeechRequestError when Google's package is not installed */
  constructor(account: GoogleAccount, { voice, requests, clock }: { voice: string; requests: number; clock: Clock }) {
    this.#clock = clock;
    this.capabilities = {
      formats: CALL_RATES.map((rateHz) => ({ encoding: 'pcm16' as const, rateHz })),
      languages: 'any',
      voices: undefined,
      defaultVoice: voice,
      streams: true,
      // Bytes of one request's text: https://cloud.google.com/text-to-speech/quotas
      longestText: 5_000,
      requestsPerKey: requests,
    };
    const { TextToSpeechClient: Client } = loadClient('synthesis');
    this.#client = new Client(clientOptions(account, 'synthesis'));
  }

  async *speak(request: SynthesisRequest, outer: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
    const { format = TELEPHONE_FORMAT, voice } = request;
    const made: AudioFormat = { encoding: 'pcm16', rateHz: CALL_RATES.includes(format.rateHz) ? format.rateHz : 24_000 };
    const recoded = new RecodeStream(made, format);
    const stalled = new AbortController();
    using either = eitherSignal(outer, stalled.signal);
    const { signal } = either;
    const parts = STREAMED_VOICE.test(voice)
      ? this.#streamed(request, made.rateHz, signal)
      : this.#whole(request, made.rateHz, signal);
    const next = async (): Promise<IteratorResult<Uint8Array, void>> => {
      const silent = new SpeechUnavailableError(`google synthesis: no audio for ${SILENT_MS} ms`);
      const timer = this.#clock.after(SILENT_MS, () => stalled.abort(silent));
      return await parts.next().finally(() => timer.cancel());
    };
    try {
      for (let part = await next(); part.done !== true; part = await next()) {
        const audio = recoded.push(part.value);
        if (audio.length > 0) yield audio;
      }
      const rest = recoded.flush();
      if (rest.length > 0) yield rest;
    } catch (error) {
      signal.throwIfAborted();
      throw errorOf(error, 'google synthesis') ?? error;
    } finally {
      await parts.return();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.close();
  }

  async *#streamed(
    { text, voice, language, speed }: SynthesisRequest,
    rateHz: number,
    signal: AbortSignal,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    signal.throwIfAborted();
    const stream = this.#client.streamingSynthesize();
    const stop = (): void => void stream.destroy();
    signal.addEventListener('abort', stop, { once: true });
    try {
      const streamingAudioConfig = {
        audioEncoding: 'PCM' as const,
        sampleRateHertz: rateHz,
        ...(speed !== undefined && { speakingRate: speed }),
      };
      const streamingConfig = { voice: { name: voice, languageCode: languageOf(voice, language) }, streamingAudioConfig };
      stream.write({ streamingConfig });
      stream.write({ input: { text } });
      stream.end();
      for await (const [raw] of on(stream, 'data', { close: ['end'], signal })) {
        const { audioContent } = audioSchema.parse(raw);
        if (audioContent != null) yield audioContent;
      }
    } finally {
      signal.removeEventListener('abort', stop);
      stop();
    }
  }

  /** The answer has the header of a WAV file. Google's client cannot give a request up: only the wait ends. */
  async *#whole(
    { text, voice, language, speed }: SynthesisRequest,
    rateHz: number,
    signal: AbortSignal,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    signal.throwIfAborted();
    const asked = this.#client.synthesizeSpeech({
      input: { text },
      voice: { name: voice, languageCode: languageOf(voice, language) },
      audioConfig: { audioEncoding: 'LINEAR16', sampleRateHertz: rateHz, ...(speed !== undefined && { speakingRate: speed }) },
    });
    const [raw] = await abortable(asked, signal);
    const wav = new WavSamples();
    yield wav.push(audioSchema.parse(raw).audioContent ?? new Uint8Array());
    yield wav.end();
  }
}

/** A voice is of one language, which is the beginning of its name: `hi-IN-Chirp3-HD-Kore`. */
function languageOf(voice: string, language: string): string {
  return /^[a-z]{2,3}-[A-Z]{2}/u.exec(voice)?.[0] ?? localeOf(language);
}
