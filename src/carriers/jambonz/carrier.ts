import { z } from 'zod';
import { linearSpeech, NARROW_RATE_HZ } from '../../audio/format.ts';
import { Secret } from '../../config/secrets.ts';
import { addressOr, flag, secret, settingFacts, text } from '../../config/setting.ts';
import { addressProof, hasBasicCredentials, presented } from '../proofs.ts';
import { defineCarrier, nextUrl, startTimeoutMs, type StreamAnswer, streamTokenMs } from '../carrier.ts';
import { fetchedVerbs, hangUpVerbs, listenVerbs, sayVerbs, VERBS_TYPE } from './answer.ts';
import { AudioForkCodec, FRAME_MS } from './codec.ts';
import { JambonzControl } from './control.ts';
import { isSignature, isSignedBody, readCallWebhook, readStatusWebhook } from './webhook.ts';

const settings = z.object({
  accountSid: z
    .guid()
    .optional()
    .register(settingFacts, {
      description: 'jambonz account SID, for outbound calls, transfers, keypad digits and hang-ups over the REST API',
      aliases: ['OFFHOOK_JAMBONZ_ACCOUNT_SID'],
    }),
  apiUrl: addressOr(
    'https://api.jambonz.cloud/v1',
    "Base address of jambonz' REST API, with its version",
    'OFFHOOK_JAMBONZ_API_URL',
  ),
  sampleRateHz: z
    .literal([8000, 16000])
    .default(8000)
    .register(settingFacts, { description: 'Sample rate of call audio in both directions', unit: 'Hz' }),
  speechVendor: text(
    'google',
    "Speech vendor of the jambonz account that outbound calls name; jambonz' machine detection listens by it",
  ),
  speechLanguage: text('en-US', 'Language that goes with jambonz.speechVendor'),
  speechVoice: text('en-US-Standard-C', 'Voice that goes with jambonz.speechVendor'),
  requireSocketAuth: flag(false, 'Refuse a media socket without the password of its answer (the token is always required)'),
  streamTokenMs: streamTokenMs(),
  startTimeoutMs: startTimeoutMs(5000),
});

const secrets = z.object({
  webhookSecret: secret(
    'Webhook secret of the jambonz account; several, separated by commas, during a rotation',
    'OFFHOOK_JAMBONZ_WEBHOOK_SECRET',
  ),
  apiKey: secret('API key of the jambonz account; needed with jambonz.accountSid', 'OFFHOOK_JAMBONZ_API_KEY'),
});

const HEADER = 'jambonz-signature';
const USER = 'offhook';

/** jambonz: signed JSON webhooks answered with verbs, a socket of binary frames by `listen`, calls acted on over REST. */
export const jambonz = defineCarrier({
  name: 'jambonz',
  title: 'jambonz',
  capabilities: {
    clear: 'native',
    marks: 'native',
    // Cleared marks are reported as cleared.
    marksReturnOnClear: 'no',
    marksAtEndsOnly: true,
    // Its playout buffer grows as needed.
    pacing: 'burst',
    frameMs: FRAME_MS,
    dtmfOut: 'rest',
    comesBack: true,
  },
  offers: {
    audio: { from: 'PCM 8, 16 kHz', to: 'PCM 8, 16 kHz' },
    proof: { webhook: 'HMAC-SHA256', socket: 'token in the path, password' },
    dials: true,
    detectsMachines: true,
    transfer: 'rest',
    joins: true,
    listens: false,
    ownPremises: true,
  },
  speechFormat: linearSpeech(NARROW_RATE_HZ),
  speechFormatOf: (config) => linearSpeech(config.settings.sampleRateHz),
  settings,
  secrets,
  proof: { secret: 'webhookSecret', envName: 'OFFHOOK_JAMBONZ_WEBHOOK_SECRET' },
  controlEnvName: 'OFFHOOK_JAMBONZ_ACCOUNT_SID',
  codec: () => new AudioForkCodec(),
  problems(config) {
    const { accountSid } = config.settings;
    const [key] = config.secrets['apiKey'] ?? [];
    if (accountSid !== undefined && key === undefined)
      return [{ setting: 'apiKey', message: 'jambonz.accountSid needs an API key of that account' }];
    if (accountSid === undefined && key !== undefined)
      return [{ setting: 'accountSid', message: 'jambonz.apiKey needs the SID of its account' }];
    return [];
  },
  door(config, webhookSecrets, { clock, gatewayUrl }) {
    const { streamTokenMs: tokenMs, sampleRateHz: rateHz, requireSocketAuth } = config.settings;
    const listen = ({ url, callId }: Pick<StreamAnswer, 'url' | 'callId'>): string =>
      listenVerbs({
        url,
        callId,
        rateHz,
        auth: { username: USER, password: passwordOf(webhookSecrets[0], url) },
        nextUrl: nextUrl(gatewayUrl(), 'jambonz', callId),
      });
    return {
      kind: 'webhook',
      streamTokenMs: tokenMs,
      body: 'json',
      header: 'Jambonz-Signature',
      isProof: isSignature,
      // No nonce: where the address ends in `#rc=…`, jambonz repeats a webhook with its first signature (lib/utils/http-requestor.js).
      isSigned: ({ headers }, { raw }) => isSignedBody(headers[HEADER] ?? '', raw, webhookSecrets, clock.wallMs()),
      readCall: readCallWebhook,
      readStatus: readStatusWebhook,
      needs: { call: 'The body has no usable call_sid.', status: 'The body has no call_sid, or no call_status.' },
      answers: {
        by: 'document',
        contentType: VERBS_TYPE,
        stream: listen,
        say: sayVerbs,
        over: hangUpVerbs,
        fetched: ({ kind, value }) => fetchedVerbs(kind, value, listen),
      },
      upgrade: {
        required: requireSocketAuth,
        check: ({ urls, headers }) =>
          presented(headers['authorization'], (given) => {
            const passwords = urls.flatMap((url) =>
              webhookSecrets.map((each) => new Secret(passwordOf(each, socketAddress(url)))),
            );
            return hasBasicCredentials(given, USER, passwords);
          }),
      },
    };
  },
  control(config, { clock, gatewayUrl }) {
    const { apiUrl, accountSid, speechVendor, speechLanguage, speechVoice } = config.settings;
    const [apiKey] = config.secrets['apiKey'] ?? [];
    if (accountSid === undefined || apiKey === undefined) return undefined;
    const speech = { vendor: speechVendor, language: speechLanguage, voice: speechVoice };
    return new JambonzControl({ apiUrl, accountSid, apiKey, speech, gatewayUrl }, clock);
  },
});

function socketAddress(url: string): string {
  return url.replace(/^http/iu, 'ws');
}

/** Password of a single media socket, derived from its address. */
function passwordOf(key: Secret | undefined, url: string): string {
  return addressProof(key ?? new Secret(''), `media socket ${url}`);
}
