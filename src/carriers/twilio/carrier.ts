import { z } from 'zod';
import { MULAW_8K } from '../../audio/format.ts';
import type { Secret } from '../../config/secrets.ts';
import { addressOr, flag, secret, settingFacts } from '../../config/setting.ts';
import { presented } from '../proofs.ts';
import { defineCarrier, nextUrl, type ReportDoor, startTimeoutMs, streamTokenMs, type WebhookDoor } from '../carrier.ts';
import { JsonCodec } from '../json-codec.ts';
import { hangUpXml, XML_TYPE } from '../xml.ts';
import { sayAnswer, streamAnswer } from './answer.ts';
import { type DialFields, TwilioControl } from './control.ts';
import { twilioCapabilities, twilioDialect } from './dialect.ts';
import { formFields, isSignature, isSignedUpgrade, isSignedWebhook, readStatusWebhook, readVoiceWebhook } from './webhook.ts';

const settings = z.object({
  accountSid: z
    .string()
    .regex(/^AC[0-9a-fA-F]{32}$/, 'AC and 32 hexadecimal digits')
    .optional()
    .register(settingFacts, {
      description: 'Twilio account SID, for outbound calls, transfers, keypad digits and hang-ups over the REST API',
      aliases: ['OFFHOOK_TWILIO_ACCOUNT_SID'],
    }),
  apiUrl: addressOr('https://api.twilio.com', "Base address of Twilio's REST API", 'OFFHOOK_TWILIO_API_URL'),
  streamTokenMs: streamTokenMs(),
  startTimeoutMs: startTimeoutMs(5000),
  requireUpgradeSignature: flag(false, 'Refuse a media socket without a signed upgrade (the token is always required)'),
});

const secrets = z.object({
  authToken: secret(
    'Auth token of the Twilio account; several, separated by commas, during a rotation',
    'OFFHOOK_TWILIO_AUTH_TOKEN',
  ),
});

const NAME = 'twilio';
const HEADER = 'x-twilio-signature';

/** Reads and verifies form webhooks signed Twilio's way, in any header. */
export function formDoor(
  header: string,
  proofs: readonly Secret[],
): Pick<WebhookDoor, 'readCall'> & Pick<ReportDoor, 'body' | 'header' | 'isProof' | 'isSigned' | 'readStatus' | 'needs'> {
  return {
    body: 'form',
    header,
    isProof: isSignature,
    isSigned: ({ urls, headers }, { parsed }) =>
      isSignedWebhook(proofs, {
        signature: headers[header.toLowerCase()] ?? '',
        urls,
        body: { fields: formFields(parsed) },
      }),
    readCall: readVoiceWebhook,
    readStatus: readStatusWebhook,
    needs: {
      call: 'The form has no usable CallSid.',
      status: 'The form has no CallSid, or none of CallStatus, StreamEvent and AnsweredBy.',
    },
  };
}

/** Twilio: signed form webhooks answered with TwiML, Media Streams over JSON messages, calls acted on over REST. */
export const twilio = defineCarrier({
  name: NAME,
  title: 'Twilio',
  capabilities: twilioCapabilities,
  offers: {
    audio: { from: 'mu-law 8 kHz', to: 'mu-law 8 kHz' },
    proof: { webhook: 'HMAC-SHA1', socket: 'token in the path, HMAC-SHA1' },
    dials: true,
    detectsMachines: true,
    transfer: 'rest',
    joins: true,
    listens: true,
  },
  speechFormat: MULAW_8K,
  settings,
  secrets,
  proof: { secret: 'authToken', envName: 'OFFHOOK_TWILIO_AUTH_TOKEN' },
  controlEnvName: 'OFFHOOK_TWILIO_ACCOUNT_SID',
  codec: () => new JsonCodec(twilioDialect),
  door(config, authTokens, { gatewayUrl }) {
    const { streamTokenMs: tokenMs, requireUpgradeSignature } = config.settings;
    return {
      kind: 'webhook',
      streamTokenMs: tokenMs,
      ...formDoor('X-Twilio-Signature', authTokens),
      answers: {
        by: 'document',
        contentType: XML_TYPE,
        stream: ({ url, callId }) => streamAnswer({ url, parameters: { callId }, nextUrl: nextUrl(gatewayUrl(), NAME, callId) }),
        say: sayAnswer,
        over: hangUpXml,
      },
      upgrade: {
        required: requireUpgradeSignature,
        check: ({ urls, headers }) => presented(headers[HEADER], (signature) => isSignedUpgrade(authTokens, signature, urls)),
      },
    };
  },
  control(config, { clock, gatewayUrl }) {
    const { apiUrl, accountSid } = config.settings;
    const [authToken] = config.secrets['authToken'] ?? [];
    if (accountSid === undefined || authToken === undefined) return undefined;
    const voiceUrl = (): string => `${gatewayUrl()}/carriers/${NAME}/voice`;
    const dialFields: DialFields = ({ streamUrl: url, callId }) => [
      ['Twiml', streamAnswer({ url, parameters: { callId }, nextUrl: nextUrl(gatewayUrl(), NAME, callId) })],
    ];
    return new TwilioControl({ apiUrl, accountSid, authToken, voiceUrl, dialFields }, clock);
  },
});
