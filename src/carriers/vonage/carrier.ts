import { createPrivateKey } from 'node:crypto';
import { z } from 'zod';
import { linearSpeech, WIDE_RATE_HZ } from '../../audio/format.ts';
import type { Secret } from '../../config/secrets.ts';
import { addressOr, flag, secret, settingFacts } from '../../config/setting.ts';
import { isOneOf, presented } from '../proofs.ts';
import { defineCarrier, startTimeoutMs, streamTokenMs, type WebhookDoor } from '../carrier.ts';
import { NCCO_TYPE, sayNcco, socketProof, streamNcco } from './answer.ts';
import { FRAME_MS, RATES_HZ, VonageCodec } from './codec.ts';
import { VonageControl } from './control.ts';
import { isBearer, isSignedBody, readAnswerWebhook, readEventWebhook } from './webhook.ts';

const settings = z.object({
  applicationId: z
    .guid()
    .optional()
    .register(settingFacts, {
      description: 'Vonage application ID, for outbound calls, transfers, keypad digits and hang-ups over the REST API',
      aliases: ['OFFHOOK_VONAGE_APPLICATION_ID'],
    }),
  apiUrl: addressOr('https://api.nexmo.com', "Base address of Vonage's REST API", 'OFFHOOK_VONAGE_API_URL'),
  sampleRateHz: z.literal(RATES_HZ).default(WIDE_RATE_HZ).register(settingFacts, {
    description: 'Sample rate of call audio in both directions; calls themselves are at 16000 at most',
    unit: 'Hz',
  }),
  requireSocketAuth: flag(
    false,
    'Have Vonage prove itself when it opens a media socket, and refuse one without that (the token is always required)',
  ),
  streamTokenMs: streamTokenMs(),
  startTimeoutMs: startTimeoutMs(5000),
});

const secrets = z.object({
  signatureSecret: secret(
    'Signature secret of the Vonage account; several, separated by commas, during a rotation',
    'OFFHOOK_VONAGE_SIGNATURE_SECRET',
  ),
  privateKey: secret(
    'Private key of the Vonage application, in PEM; needed with vonage.applicationId',
    'OFFHOOK_VONAGE_PRIVATE_KEY',
  ),
});

/** Vonage Voice API: JSON webhooks signed by a JWT and answered with an NCCO, a socket of binary frames, calls acted on over REST. */
export const vonage = defineCarrier({
  name: 'vonage',
  title: 'Vonage',
  capabilities: {
    clear: 'native',
    marks: 'native',
    // Undocumented; either way is handled, as mark names hold the generation.
    marksReturnOnClear: 'unknown',
    // Vonage queues 3,072 messages, a minute of audio.
    pacing: 'burst',
    frameMs: FRAME_MS,
    dtmfOut: 'rest',
    // No message reports a hang-up or a new NCCO; a socket is opened only once.
    closeEndsCall: true,
  },
  offers: {
    audio: { from: 'PCM 8, 16, 24 kHz', to: 'PCM 8, 16, 24 kHz' },
    proof: { webhook: 'JWT, HMAC-SHA256', socket: 'token in the path, token in a header' },
    dials: true,
    detectsMachines: true,
    transfer: 'rest',
    joins: true,
    listens: false,
  },
  speechFormat: linearSpeech(WIDE_RATE_HZ),
  speechFormatOf: (config) => linearSpeech(config.settings.sampleRateHz),
  settings,
  secrets,
  proof: { secret: 'signatureSecret', envName: 'OFFHOOK_VONAGE_SIGNATURE_SECRET' },
  controlEnvName: 'OFFHOOK_VONAGE_APPLICATION_ID',
  codec: () => new VonageCodec(),
  problems(config) {
    const { applicationId } = config.settings;
    const [key] = config.secrets['privateKey'] ?? [];
    if (applicationId === undefined && key === undefined) return [];
    if (key === undefined)
      return [{ setting: 'privateKey', message: 'vonage.applicationId needs the private key of that application' }];
    if (applicationId === undefined)
      return [{ setting: 'applicationId', message: 'vonage.privateKey needs the ID of its application' }];
    try {
      createPrivateKey(key.reveal());
      return [];
    } catch {
      return [{ setting: 'privateKey', message: 'is no private key in PEM: the file that Vonage gave out, from BEGIN to END' }];
    }
  },
  door(config, signatureSecrets, { clock }) {
    const { streamTokenMs: tokenMs, applicationId, sampleRateHz: rateHz, requireSocketAuth } = config.settings;
    const media = { rateHz, proofKey: requireSocketAuth ? signatureSecrets[0] : undefined };
    return {
      kind: 'webhook',
      streamTokenMs: tokenMs,
      body: 'json',
      getsByDefault: true,
      header: 'Authorization',
      isProof: isBearer,
      isSigned: ({ headers }, body) =>
        isSignedBody(headers['authorization'] ?? '', body, { secrets: signatureSecrets, applicationId, wallMs: clock.wallMs() }),
      readCall: readAnswerWebhook,
      readStatus: readEventWebhook,
      needs: { call: 'The body has no usable uuid.', status: 'The body has no uuid, or no status.' },
      answers: { by: 'document', contentType: NCCO_TYPE, stream: (answer) => streamNcco(answer, media), say: sayNcco },
      ...(requireSocketAuth ? { upgrade: socketUpgrade(signatureSecrets) } : {}),
    };
  },
  control(config, { clock, gatewayUrl }) {
    const { apiUrl, applicationId, sampleRateHz: rateHz, requireSocketAuth } = config.settings;
    const [privateKey] = config.secrets['privateKey'] ?? [];
    if (applicationId === undefined || privateKey === undefined) return undefined;
    const proofKey = requireSocketAuth ? config.secrets['signatureSecret']?.[0] : undefined;
    const eventUrl = (): string => `${gatewayUrl()}/carriers/vonage/status`;
    return new VonageControl({ apiUrl, applicationId, privateKey, eventUrl, rateHz, proofKey }, clock);
  },
});

function socketUpgrade(signatureSecrets: readonly Secret[]): WebhookDoor['upgrade'] & object {
  return {
    required: true,
    check: ({ urls, headers }) =>
      presented(headers['authorization'], (given) =>
        isOneOf(
          given,
          urls.flatMap((url) => signatureSecrets.map((key) => socketProof(url, key))),
        ),
      ),
  };
}
