import { z } from 'zod';
import { MULAW_8K } from '../../../audio/format.ts';
import { address, secret, settingFacts, text, whole } from '../../../config/setting.ts';
import { SocketRecogniser } from '../../asr/socket-recogniser.ts';
import { CircuitBreaker } from '../../client/circuit-breaker.ts';
import { FixedToken } from '../../client/credentials.ts';
import { Slots } from '../../client/slots.ts';
import { keyVendor, openVendor, type VendorPrice } from '../vendor.ts';
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

/** Undefined for a model whose speakers are not known here. */
function speakersOf(model: string): readonly string[] | undefined {
  const version = /^bulbul:(v[23])/u.exec(model)?.[1];
  return version === 'v2' || version === 'v3' ? SPEAKERS[version].split(/\s+/u) : undefined;
}

/** Sarvam: Indian languages, over a recognition socket and a synthesis socket. */
export const sarvam = keyVendor({
  name: 'sarvam',
  title: 'Sarvam',
  settings,
  secrets,
  prices,
  needs: 'SARVAM_API_KEY',
  globalUrl: SARVAM_URL,
  problems({ synthesisModel, voice }) {
    const voices = speakersOf(synthesisModel);
    if (voices === undefined || voices.includes(voice)) return [];
    return [{ setting: 'voice', message: `is no speaker of ${synthesisModel}, which has ${voices.join(', ')}` }];
  },
  open(values, apiKey, { clock, logger }) {
    const { baseUrl, recognitionModel, streamType, mode, synthesisModel, voice, recognitionSessions, synthesisRequests } = values;
    const tokens = new FixedToken(apiKey);
    const recogniser = new SocketRecogniser({
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
    const synthesizer = new SarvamSynthesizer({
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
    return openVendor(recogniser, synthesizer);
  },
});
