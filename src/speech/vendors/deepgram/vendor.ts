import { z } from 'zod';
import { MULAW_8K } from '../../../audio/format.ts';
import { address, flag, millis, secret, text, whole } from '../../../config/setting.ts';
import { SocketRecogniser } from '../../asr/socket-recogniser.ts';
import { CircuitBreaker } from '../../client/circuit-breaker.ts';
import { FixedToken } from '../../client/credentials.ts';
import { Slots } from '../../client/slots.ts';
import { keyVendor, openVendor, type VendorPrice } from '../vendor.ts';
import { listenDialect, MOST_KEYTERMS, SILENT_COMMIT_MS } from './recognition.ts';
import { DeepgramSynthesizer, LONGEST_TEXT } from './synthesizer.ts';

const GLOBAL_URL = 'https://api.deepgram.com';
const KEY_ADVICE = 'check the key in DEEPGRAM_API_KEY, its permissions and the balance of its project';

const settings = z.object({
  baseUrl: address(
    `Address of Deepgram, for example https://api.eu.deepgram.com or https://api.in.deepgram.com for data to stay there; unset: ${GLOBAL_URL}`,
    'OFFHOOK_DEEPGRAM_URL',
  ),
  model: text('nova-3', 'Model that recognises'),
  endpointingMs: millis(0, 10_000, 300, 'Silence after which Deepgram ends an utterance by itself; 0: never'),
  smartFormat: flag(false, 'Write numbers, dates and amounts as figures'),
  voice: text('aura-2-thalia-en', 'Voice of bots that name none'),
  mipOptOut: flag(false, 'Keep audio and text out of the training of models; Deepgram then charges another price'),
  recognitionSessions: whole(1, 100_000, 50, 'Calls that the project may have recognised at once', { unit: 'calls' }),
  synthesisRequests: whole(1, 100_000, 15, 'Sentences that the project may have spoken at once', { unit: 'requests' }),
});

const secrets = z.object({
  apiKey: secret('API key of a Deepgram project', 'DEEPGRAM_API_KEY'),
});

/** @see https://developers.deepgram.com/changelog (Nova-3 model updates of 2025-08-15 to 2026-08-05), and English */
const NOVA_3_LANGUAGES: ReadonlySet<string> = new Set(
  `en de nl sv da es fr pt it tr no id bg cs fi hi hu ja ko pl ru uk vi ca et el lv lt ms ro sk be bn bs hr kn mk mr sr sl ta tl te
  he fa ur th zh gu pa ne`.split(/\s+/u),
);
/** @see https://developers.deepgram.com/docs/tts-models */
const AURA_LANGUAGES: ReadonlySet<string> = new Set(['en', 'es', 'de', 'fr', 'nl', 'it', 'ja']);

const PRICING = 'https://deepgram.com/pricing';
const prices: readonly VendorPrice[] = [
  { service: 'recognition', model: 'nova-3', price: 'USD 0.0048 a minute, one language', source: PRICING, asOf: '2026-08-01' },
  { service: 'recognition', model: 'nova-3', price: 'USD 0.0058 a minute, `auto`', source: PRICING, asOf: '2026-08-01' },
  { service: 'synthesis', model: 'aura-2', price: 'USD 0.030 for 1,000 characters', source: PRICING, asOf: '2026-05-19' },
];

/** Deepgram: recognition over `listen` sockets, synthesis over `speak` sockets. */
export const deepgram = keyVendor({
  name: 'deepgram',
  title: 'Deepgram',
  settings,
  secrets,
  prices,
  needs: 'DEEPGRAM_API_KEY',
  globalUrl: GLOBAL_URL,
  open(values, apiKey, { clock, logger }) {
    const { baseUrl, model, endpointingMs, smartFormat, mipOptOut, voice, recognitionSessions, synthesisRequests } = values;
    const tokens = new FixedToken(apiKey);
    const isNova3 = model.startsWith('nova-3');
    const warned = new Set<string>();
    const onWarning = (warning: string): void => {
      if (!warned.has(warning)) logger.warn({ vendor: 'deepgram' }, `Deepgram warns: ${warning}`);
      if (warned.size < MOST_WARNINGS) warned.add(warning);
    };
    // Keyterms of an open stream can be replaced at the global address only (https://developers.deepgram.com/docs/configure).
    const changesHints = isNova3 && new URL(baseUrl).hostname === 'api.deepgram.com';
    const recogniser = new SocketRecogniser({
      url: baseUrl,
      dialect: listenDialect({ model, endpointingMs, smartFormat, mipOptOut, changesHints }, KEY_ADVICE),
      capabilities: {
        partials: true,
        endMarks: true,
        mostHints: isNova3 ? MOST_KEYTERMS : 0,
        languages: isNova3 ? NOVA_3_LANGUAGES : 'any',
        detectsLanguage: true,
        ratesHz: [8_000, 16_000],
        sessionsPerKey: recognitionSessions,
        nothingMs: SILENT_COMMIT_MS,
        // Only audio is charged, not KeepAlive messages (https://developers.deepgram.com/docs/audio-keep-alive).
        mayIdle: true,
      },
      tokens,
      clock,
      logger,
      onWarning,
    });
    const synthesizer = new DeepgramSynthesizer({
      baseUrl,
      tokens,
      clock,
      slots: new Slots(synthesisRequests),
      breaker: new CircuitBreaker({ clock, service: 'Deepgram synthesis' }),
      capabilities: {
        formats: [MULAW_8K, { encoding: 'alaw', rateHz: 8_000 }, { encoding: 'pcm16', rateHz: 8_000 }],
        languages: AURA_LANGUAGES,
        voices: undefined,
        defaultVoice: voice,
        streams: true,
        longestText: LONGEST_TEXT,
        requestsPerKey: synthesisRequests,
      },
      keyAdvice: KEY_ADVICE,
      mipOptOut,
      onWarning,
    });
    return openVendor(recogniser, synthesizer);
  },
});

/** Different warnings that are logged once each. */
const MOST_WARNINGS = 100;
