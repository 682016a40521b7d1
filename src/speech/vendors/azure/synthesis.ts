import { type AudioFormat, TELEPHONE_FORMAT } from '../../../audio/format.ts';
import { serviceUrl } from '../../client/settings.ts';
import type { SynthesisRequest, Synthesizer, SynthesizerCapabilities } from '../../port.ts';
import { localeOf } from '../locale.ts';
import { speakOverHttp, type SpeechService } from '../http-speech.ts';

/** Formats that Azure makes without a header, by what they are called there, the call's own first. */
const OUTPUTS: readonly (AudioFormat & { readonly name: string })[] = [
  { encoding: 'mulaw', rateHz: 8_000, name: 'raw-8khz-8bit-mono-mulaw' },
  { encoding: 'alaw', rateHz: 8_000, name: 'raw-8khz-8bit-mono-alaw' },
  { encoding: 'pcm16', rateHz: 8_000, name: 'raw-8khz-16bit-mono-pcm' },
  { encoding: 'pcm16', rateHz: 16_000, name: 'raw-16khz-16bit-mono-pcm' },
];
/** For any other rate. */
const WIDEST = { encoding: 'pcm16', rateHz: 24_000, name: 'raw-24khz-16bit-mono-pcm' } as const;

/**
 * Azure's text to speech: one request a sentence, streamed as it is made.
 * @see https://learn.microsoft.com/azure/ai-services/speech-service/rest-text-to-speech
 */
export class AzureSynthesizer implements Synthesizer {
  readonly capabilities: SynthesizerCapabilities;
  readonly #service: SpeechService;
  readonly #baseUrl: string;

  constructor(service: Omit<SpeechService, 'what'>, baseUrl: string, voice: string) {
    this.#service = { what: 'azure synthesis', ...service };
    this.#baseUrl = baseUrl;
    this.capabilities = {
      formats: OUTPUTS.map(({ encoding, rateHz }) => ({ encoding, rateHz })),
      languages: 'any',
      voices: undefined,
      defaultVoice: voice,
      streams: true,
      // Ten minutes of audio a request is the documented limit; a text of this length is shorter.
      longestText: 5_000,
      // Transactions a second of the standard tier:
      // https://learn.microsoft.com/azure/ai-services/speech-service/speech-services-quotas-and-limits
      requestsPerKey: 200,
    };
  }

  speak(request: SynthesisRequest, signal: AbortSignal): AsyncIterable<Uint8Array> {
    const { format = TELEPHONE_FORMAT } = request;
    const { name, ...made } =
      OUTPUTS.find(({ encoding, rateHz }) => encoding === format.encoding && rateHz === format.rateHz) ?? WIDEST;
    return speakOverHttp(
      this.#service,
      {
        url: serviceUrl(this.#baseUrl, '/cognitiveservices/v1'),
        fields: ssmlOf(request),
        // A user agent is required.
        headers: { 'x-microsoft-outputformat': name, 'user-agent': 'offhook' },
        format: made.encoding === 'pcm16' ? 'pcm' : made.encoding,
        rateHz: made.rateHz,
      },
      request,
      signal,
    );
  }
}

function ssmlOf({ text, voice, language, speed = 1 }: SynthesisRequest): string {
  const locale = localeOf(language);
  // Relative to the voice's own rate: 1 is that.
  const said = `<prosody rate="${speed.toFixed(2)}">${escaped(text)}</prosody>`;
  return `<speak version="1.0" xmlns="http://www.w3.org/2001/10/synthesis" xml:lang="${escaped(locale)}"><voice name="${escaped(voice)}">${said}</voice></speak>`;
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' };

/** As XML text or attribute; control characters, mostly forbidden in XML, become blanks. */
function escaped(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, ' ').replaceAll(/[&<>"']/gu, (mark) => ENTITIES[mark] ?? '');
}
