import { z } from 'zod';
import { ALAW_8K, type AudioFormat, linearSpeech, MULAW_8K } from '../../audio/format.ts';
import type { Secret } from '../../config/secrets.ts';
import { addressOr, flag, minute, secret, settingFacts } from '../../config/setting.ts';
import { isOneOf, presented } from '../proofs.ts';
import { defineCarrier, startTimeoutMs, streamTokenMs, type TypedConfig } from '../carrier.ts';
import { JsonCodec } from '../json-codec.ts';
import { TelnyxAccount } from './account.ts';
import { TelnyxAnswers } from './answer.ts';
import { MACHINE_DETECTIONS, TelnyxControl } from './control.ts';
import { forkFields, streamAuthToken, streamFields, telnyxCapabilities, telnyxDialect, type TelnyxMedia } from './dialect.ts';
import { isPublicKey, isSignature, isSignedWebhook, publicKeys, readIncomingCall, readStatusEvent } from './webhook.ts';

/** Longest ringing (`dialling.ringTimeoutMs`) plus 30 s: the socket may open before the answer. */
const START_TIMEOUT_MS = 2.5 * minute;

const settings = z.object({
  connectionId: z
    .string()
    .regex(/^[\w-]{1,64}$/, 'the ID of the Call Control application: digits, letters and dashes')
    .optional()
    .register(settingFacts, {
      description: 'ID of the Call Control (Voice API) application, for outbound calls',
      aliases: ['OFFHOOK_TELNYX_CONNECTION_ID'],
    }),
  apiUrl: addressOr('https://api.telnyx.com', "Base address of Telnyx's REST API", 'OFFHOOK_TELNYX_API_URL'),
  codec: z.enum(['PCMU', 'PCMA', 'L16']).default('PCMU').register(settingFacts, {
    description: "Codec of the bot's audio; the caller's comes in that of the telephone leg, whatever is set here",
  }),
  rateHz: z.literal([8000, 16_000, 24_000]).default(16_000).register(settingFacts, {
    description: "Sample rate of the bot's audio, with the codec L16",
  }),
  byteOrder: z.enum(['big', 'little']).default('big').register(settingFacts, {
    // RFC 2586 and one project that tried it say big-endian; another treats it as little-endian. Telnyx does not say.
    description: 'Byte order of L16 audio, both ways; the wrong one sounds like loud noise',
  }),
  machineDetection: z.enum(MACHINE_DETECTIONS).default('greeting_end').register(settingFacts, {
    description: 'Kind of answering machine detection that is asked for with outbound calls; Telnyx charges more for premium',
  }),
  streamTokenMs: streamTokenMs(),
  startTimeoutMs: startTimeoutMs(START_TIMEOUT_MS, 11 * minute),
  requireStreamAuthToken: flag(
    false,
    'Refuse a media socket without the right X-Telnyx-Streaming-Auth-Token (the token in its address is always required)',
  ),
});

type TelnyxConfig = TypedConfig<z.output<typeof settings>>;

const secrets = z.object({
  publicKey: secret(
    'Public key of the Telnyx account, which its webhooks are verified with; several, separated by commas, during a change',
    'OFFHOOK_TELNYX_PUBLIC_KEY',
  ),
  apiKey: secret('API key of the Telnyx account; calls are answered with it', 'OFFHOOK_TELNYX_API_KEY'),
});

const STREAM_HEADER = 'x-telnyx-streaming-auth-token';

/** Telnyx: Call Control webhooks signed by Ed25519, calls answered by commands, media over JSON messages with a codec for each direction. */
export const telnyx = defineCarrier({
  name: 'telnyx',
  title: 'Telnyx',
  capabilities: telnyxCapabilities,
  offers: {
    audio: { from: 'mu-law, A-law 8 kHz, PCM 8, 16, 24 kHz', to: 'mu-law, A-law 8 kHz, PCM 8, 16, 24 kHz' },
    proof: { webhook: 'Ed25519', socket: 'token in the path, token in a header' },
    dials: true,
    detectsMachines: true,
    transfer: 'rest',
    joins: true,
    listens: true,
  },
  speechFormat: MULAW_8K,
  speechFormatOf: (config) => speechOf(config.settings),
  settings,
  secrets,
  proof: { secret: 'publicKey', envName: 'OFFHOOK_TELNYX_PUBLIC_KEY' },
  controlEnvName: 'OFFHOOK_TELNYX_API_KEY',
  codec: (config) => new JsonCodec(telnyxDialect(config.settings)),
  problems(config) {
    const { connectionId } = config.settings;
    const keys = config.secrets['publicKey'] ?? [];
    const hasApiKey = apiKeyOf(config) !== undefined;
    if (keys.some((key) => !isPublicKey(key.reveal())))
      return [
        {
          setting: 'publicKey',
          message: 'is no public key: 44 characters of base64, as Keys & Credentials > Public Key shows it',
        },
      ];
    if (keys.length > 0 && !hasApiKey)
      return [
        { setting: 'apiKey', message: 'telnyx.publicKey needs an API key: Telnyx answers a call only on a request with it' },
      ];
    if (connectionId !== undefined && !hasApiKey)
      return [{ setting: 'apiKey', message: 'telnyx.connectionId needs an API key of that account' }];
    return [];
  },
  door(config, proofs, { clock }) {
    const { streamTokenMs: tokenMs, requireStreamAuthToken } = config.settings;
    const keys = publicKeys(proofs);
    const apiKey = apiKeyOf(config);
    return {
      kind: 'webhook',
      streamTokenMs: tokenMs,
      oneAddress: true,
      body: 'json',
      header: 'Telnyx-Signature-Ed25519',
      isProof: isSignature,
      isSigned({ headers }, { raw }) {
        const signature = headers['telnyx-signature-ed25519'] ?? '';
        return isSignedWebhook(keys, { signature, timestamp: headers['telnyx-timestamp'] ?? '', raw }, clock.wallMs());
      },
      // Telnyx signs each retry anew, with its own time. Compared as bytes: sixteen base64 spellings verify as the same, as four bits of the last
      // character are unused.
      nonceOf: ({ headers }) => Buffer.from(headers['telnyx-signature-ed25519'] ?? '', 'base64').toString('hex'),
      readCall: readIncomingCall,
      readStatus: readStatusEvent,
      needs: {
        call: 'The body has no data.payload.call_control_id.',
        status: 'The body has no data.event_type, or no data.payload.call_control_id.',
      },
      answers: new TelnyxAnswers(accountOf(config, clock), (url) => fieldsOf(config, url, streamFields)),
      upgrade: {
        required: requireStreamAuthToken,
        check: ({ urls, headers }) =>
          presented(apiKey && headers[STREAM_HEADER], (given) =>
            isOneOf(
              given,
              urls.flatMap((url) => (apiKey === undefined ? [] : streamAuthToken(url, apiKey))),
            ),
          ),
      },
    };
  },
  control(config, { clock, gatewayUrl }) {
    const { connectionId, machineDetection } = config.settings;
    const account = accountOf(config, clock);
    if (account === undefined) return undefined;
    return new TelnyxControl(account, {
      dialling:
        connectionId === undefined
          ? undefined
          : { connectionId, machineDetection, streamFields: (url) => fieldsOf(config, url, streamFields) },
      webhookUrl: () => `${gatewayUrl()}/carriers/telnyx/voice`,
      forkFields: (url) => fieldsOf(config, url, forkFields),
    });
  },
});

function speechOf({ codec, rateHz }: z.infer<typeof settings>): AudioFormat {
  return { PCMU: MULAW_8K, PCMA: ALAW_8K, L16: linearSpeech(rateHz) }[codec];
}

function apiKeyOf(config: TelnyxConfig) {
  return config.secrets['apiKey']?.[0];
}

function accountOf(config: TelnyxConfig, clock: ConstructorParameters<typeof TelnyxAccount>[1]): TelnyxAccount | undefined {
  const apiKey = apiKeyOf(config);
  const { apiUrl } = config.settings;
  return apiKey && new TelnyxAccount({ apiUrl, apiKey }, clock);
}

/** The fields of a request that opens a stream. @throws TypeError without an API key */
function fieldsOf(
  config: TelnyxConfig,
  url: string,
  fields: (url: string, media: TelnyxMedia, apiKey: Secret) => object,
): object {
  const apiKey = apiKeyOf(config);
  if (apiKey === undefined) throw new TypeError('no stream is opened without an API key');
  return fields(url, config.settings, apiKey);
}
