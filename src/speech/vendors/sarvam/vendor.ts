import { z } from 'zod';
import { MULAW_8K } from '../../../audio/format.ts';
import { type AdapterConfig, address, secret, settingFacts, text, whole } from '../../../config/setting.ts';
import { SocketRecogniser } from '../../asr/socket-recogniser.ts';
import { CircuitBreaker } from '../../client/circuit-breaker.ts';
import { FixedToken } from '../../client/credentials.ts';
import { Slots } from '../../client/slots.ts';
import { keyAddressProblems, type OpenVendor, type SpeechVendor, type VendorParts, type VendorPrice } from '../vendor.ts';
import { RECOGNISED_LANGUAGES, SPOKEN_LANGUAGES } from './languages.ts';
import { listenDialect, MOST_HINTS, SILENT_COMMIT_MS } from './recognition.ts';
import { LONGEST_TEXT, SarvamSynthesizer } from './synthesizer.ts';

const SARVAM_URL = 'https://api.sarvam.ai';
const KEY_ADVICE = 'check the key in SARVAM_API_KEY, its credits, and whether it may use the realtime service';

const settings = z.object({
  baseUrl: address(`Address of Sarvam; unset: ${SARVAM_URL}`, 'OFFHOOK_SARVAM_URL'),
  recognitionModel: text('saaras:v3-realtime', 'Model that recognises'),
  streamType: z
    .enum(['fast', 'balanced'])
    .default('fast')
    .register(settingFacts, { description: 'Interim texts: fast comes sooner, balanced is more accurate; finals are the same' }),
  mode: z.enum(['transcribe', 'verbatim', 'translit', 'codemix']).default('transcribe').register(settingFacts, {
    description:
      'How finals are written: transcribe in the script of the language with figures, verbatim word for word, translit in Latin letters, codemix with English words in English',
  }),
  synthesisModel: text('bulbul:v3', 'Model that speaks'),
  voice: text('shubh', 'Voice of bots that name none'),
  recognitionSessions: whole(1, 100_000, 20, 'Calls that the account may have recognised at once', { unit: 'calls' }),
  synthesisRequests: whole(1, 100_000, 30, 'Sentences that the account may have spoken at once', { unit: 'requests' }),
});

const secrets = z.object({ apiKey: secret('API subscription key of Sarvam', 'SARVAM_API_KEY') });

const PRICING = 'https://docs.sarvam.ai/api/getting-started/pricing';
const prices: readonly VendorPrice[] = [
  {
    service: 'recognition',
    model: 'Speech to Text',
    price: 'INR 30 an hour, by the second',
    source: PRICING,
    asOf: '2026-09-20',
  },
  { service: 'synthesis', model: 'bulbul:v3', price: 'INR 30 for 10,000 characters', source: PRICING, asOf: '2026-09-20' },
];

/** Speakers of each model. @see sarvamai 1.1.10 (npm), ConfigureConnection.Data.speaker */
const SPEAKERS = {
  v2: 'anushka manisha vidya arya abhilash karun hitesh',
  v3: `shubh aditya ritu priya neha rahul pooja rohan simran kavya amit dev ishita shreya ratan varun manan sumit roopa kabir aayan
  ashutosh advait anand tanya tarun sunny mani gokul vijay shruti suhani mohit kavitha rehan soham rupali`,
} as const;

/** Sarvam: Indian languages, over a recognition socket and a synthesis socket. */
export const sarvam: SpeechVendor = {
  name: 'sarvam',
  title: 'Sarvam',
  settings,
  secrets,
  services: ['recognition', 'synthesis'],
  prices,
  needs: 'SARVAM_API_KEY',
  problems(config) {
    const { values, apiKey } = configOf(config);
    const voices = speakersOf(values.synthesisModel);
    if (apiKey === undefined) return [];
    const unsafe = keyAddressProblems(values.baseUrl ?? SARVAM_URL);
    if (voices === undefined || voices.includes(values.voice)) return unsafe;
    return [
      ...unsafe,
      { setting: 'voice', message: `is no speaker of ${values.synthesisModel}, which has ${voices.join(', ')}` },
    ];
  },
  open(config, parts) {
    const { values, apiKey } = configOf(config);
    return apiKey === undefined ? undefined : new Sarvam(values, apiKey, parts);
  },
};

function configOf({ settings: given, secrets: keys }: AdapterConfig) {
  return { values: settings.parse(given), apiKey: keys['apiKey']?.[0]?.reveal() };
}

/** Undefined for a model whose speakers are not known here. */
function speakersOf(model: string): readonly string[] | undefined {
  const version = /^bulbul:(v[23])/u.exec(model)?.[1];
  return version === 'v2' || version === 'v3' ? SPEAKERS[version].split(/\s+/u) : undefined;
}

class Sarvam implements OpenVendor {
  readonly recogniser: SocketRecogniser;
  readonly synthesizer: SarvamSynthesizer;

  constructor(values: z.output<typeof settings>, apiKey: string, { clock, logger }: VendorParts) {
    const { recognitionModel, streamType, mode, synthesisModel, voice, recognitionSessions, synthesisRequests } = values;
    const baseUrl = values.baseUrl ?? SARVAM_URL;
    const tokens = new FixedToken(apiKey);
    this.recogniser = new SocketRecogniser({
      url: baseUrl,
      dialect: listenDialect({ model: recognitionModel, streamType, mode, keyAdvice: KEY_ADVICE }),
      capabilities: {
        partials: true,
        endMarks: true,
        mostHints: MOST_HINTS,
        languages: RECOGNISED_LANGUAGES,
        detectsLanguage: true,
        ratesHz: [8_000, 16_000],
        sessionsPerKey: recognitionSessions,
        nothingMs: SILENT_COMMIT_MS,
      },
      tokens,
      clock,
      logger,
      onWarning: (warning) => logger.warn({ vendor: 'sarvam', warning }, 'recogniser warning'),
    });
    this.synthesizer = new SarvamSynthesizer({
      baseUrl,
      model: synthesisModel,
      tokens,
      clock,
      slots: new Slots(synthesisRequests),
      breaker: new CircuitBreaker({ clock, service: 'Sarvam synthesis' }),
      capabilities: {
        formats: [MULAW_8K, { encoding: 'alaw', rateHz: 8_000 }, { encoding: 'pcm16', rateHz: 8_000 }],
        languages: SPOKEN_LANGUAGES,
        voices: speakersOf(synthesisModel),
        defaultVoice: voice,
        streams: true,
        longestText: LONGEST_TEXT,
        requestsPerKey: synthesisRequests,
      },
      keyAdvice: KEY_ADVICE,
    });
  }

  warm(): void {
    void this.synthesizer.warm();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.recogniser[Symbol.asyncDispose]();
    await this.synthesizer[Symbol.asyncDispose]();
  }
}
