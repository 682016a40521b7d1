import { type AudioFormat, TELEPHONE_FORMAT } from '../../../audio/format.ts';
import { serviceUrl } from '../../client/settings.ts';
import type { SynthesisRequest, Synthesizer, SynthesizerCapabilities } from '../../port.ts';
import { splitForRequests } from '../../tts/sentences.ts';
import { checkText } from '../../tts/speech-fields.ts';
import { type SpeechAsk, speakOverHttp, type SpeechService } from '../http-speech.ts';

export interface StreamSettings {
  readonly baseUrl: string;
  readonly model: string;
  readonly logging: boolean;
}

/** @see https://elevenlabs.io/docs/api-reference/text-to-speech/stream (voice_settings.speed) */
const SLOWEST = 0.7;
const FASTEST = 1.2;
/** Linear formats that every plan has. */
const LINEAR_RATES_HZ = [8_000, 16_000, 22_050, 24_000];
/** Characters of one request. @see https://elevenlabs.io/docs/models (the limits of most models are higher) */
const LONGEST_TEXTS: readonly [prefix: string, characters: number][] = [
  ['eleven_v3', 5_000],
  ['eleven_flash', 40_000],
  ['eleven_turbo', 40_000],
];

export function longestTextOf(model: string): number {
  return LONGEST_TEXTS.find(([prefix]) => model.startsWith(prefix))?.[1] ?? 10_000;
}

/**
 * `POST /v1/text-to-speech/{voice}/stream`: a whole sentence is spoken sooner over HTTP than over a socket, which waits for more of
 * it. Written from https://elevenlabs.io/docs/api-reference/text-to-speech/stream
 */
export class ElevenLabsSynthesizer implements Synthesizer {
  readonly capabilities: SynthesizerCapabilities;
  readonly #service: SpeechService;
  readonly #settings: StreamSettings;

  constructor(service: Omit<SpeechService, 'what'>, settings: StreamSettings, capabilities: SynthesizerCapabilities) {
    this.#service = { what: 'ElevenLabs synthesis', ...service };
    this.#settings = settings;
    this.capabilities = capabilities;
  }

  async *speak(request: SynthesisRequest, signal: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
    checkText(request.text);
    for (const text of splitForRequests(request.text, this.capabilities.longestText))
      yield* speakOverHttp(this.#service, this.#ask({ ...request, text }), request, signal);
  }

  #ask({ text, voice, language, speed = 1, format = TELEPHONE_FORMAT }: SynthesisRequest): SpeechAsk {
    const { baseUrl, model, logging } = this.#settings;
    const made = madeAs(format);
    const url = serviceUrl(baseUrl, `/v1/text-to-speech/${encodeURIComponent(voice)}/stream`);
    url.searchParams.set('output_format', nameOf(made));
    if (!logging) url.searchParams.set('enable_logging', 'false');
    const fields = {
      text,
      model_id: model,
      // Other models refuse it.
      ...(model.endsWith('_v2_5') && language !== 'auto' ? { language_code: language } : {}),
      // An unsupported speed becomes the nearest one, so that a bot made for other voices still speaks.
      ...(speed === 1 ? {} : { voice_settings: { speed: Math.min(FASTEST, Math.max(SLOWEST, speed)) } }),
    };
    return { url, fields, format: made.encoding === 'pcm16' ? 'pcm' : made.encoding, rateHz: made.rateHz };
  }
}

/** The nearest format that ElevenLabs makes. */
function madeAs({ encoding, rateHz }: AudioFormat): AudioFormat {
  if (encoding !== 'pcm16') return { encoding, rateHz: 8_000 };
  return { encoding, rateHz: LINEAR_RATES_HZ.find((made) => made >= rateHz) ?? 24_000 };
}

function nameOf({ encoding, rateHz }: AudioFormat): string {
  switch (encoding) {
    case 'mulaw':
      return `ulaw_${rateHz}`;
    case 'alaw':
      return `alaw_${rateHz}`;
    case 'pcm16':
      return `pcm_${rateHz}`;
  }
}
