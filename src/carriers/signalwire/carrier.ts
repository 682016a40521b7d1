import { z } from 'zod';
import { type AudioFormat, linearSpeech, MULAW_8K } from '../../audio/format.ts';
import { address, secret, settingFacts } from '../../config/setting.ts';
import { defineCarrier, documentUrl, nextUrl, startTimeoutMs, streamTokenMs, streamUrl } from '../carrier.ts';
import { JsonCodec } from '../json-codec.ts';
import type { JsonDialect } from '../json-dialect.ts';
import { tokenOf } from '../dialling.ts';
import { conferenceAnswer, dialAnswer, sayAnswer, streamAnswer } from '../twilio/answer.ts';
import { formDoor } from '../twilio/carrier.ts';
import { TwilioControl } from '../twilio/control.ts';
import { twilioCapabilities, twilioDialect } from '../twilio/dialect.ts';
import { hangUpXml, XML_TYPE } from '../xml.ts';

const NAME = 'signalwire';

const CODECS = ['PCMU@8000h', 'L16@16000h', 'L16@24000h'] as const;
/** Synthesis format for each stream codec. */
const SPEECH: Readonly<Record<(typeof CODECS)[number], AudioFormat>> = {
  'PCMU@8000h': MULAW_8K,
  'L16@16000h': linearSpeech(16_000),
  'L16@24000h': linearSpeech(24_000),
};

const settings = z.object({
  projectId: z
    .guid()
    .optional()
    .register(settingFacts, {
      description: 'SignalWire project ID, for outbound calls, transfers and hang-ups over the REST API',
      aliases: ['OFFHOOK_SIGNALWIRE_PROJECT_ID'],
    }),
  spaceUrl: address(
    'Address of the SignalWire space, for the REST API: https://NAME.signalwire.com',
    'OFFHOOK_SIGNALWIRE_SPACE_URL',
  ),
  codec: z.enum(CODECS).default('PCMU@8000h').register(settingFacts, {
    description: 'Codec of media streams, both ways',
  }),
  byteOrder: z.enum(['little', 'big']).default('little').register(settingFacts, {
    // SignalWire does not say; its own SDKs treat it as little-endian.
    description: 'Byte order of L16 audio, both ways; the wrong one sounds like loud noise',
  }),
  streamTokenMs: streamTokenMs(),
  startTimeoutMs: startTimeoutMs(5000),
});

const secrets = z.object({
  signingKey: secret(
    'Signing key of the SignalWire project; several, separated by commas, while it is changed',
    'OFFHOOK_SIGNALWIRE_SIGNING_KEY',
  ),
  apiToken: secret('API token of the SignalWire project; needed with signalwire.projectId', 'OFFHOOK_SIGNALWIRE_API_TOKEN'),
});

/**
 * `<Stream>` of cXML (signalwire.com/docs/compatibility-api/cxml/voice/stream): Twilio's messages, version 0.2.0. Only the start names the stream, in
 * `start.streamSid`; keys are pressed by one message each.
 */
export function signalwireDialect(byteOrder: 'little' | 'big'): JsonDialect {
  return {
    ...twilioDialect,
    start: {
      ...twilioDialect.start,
      encodings: { 'audio/x-mulaw': 'mulaw', 'audio/x-l16': byteOrder === 'big' ? 'pcm16be' : 'pcm16' },
      ratesHz: [8000, 16_000, 24_000],
    },
    send: {
      ...twilioDialect.send,
      digits: (streamId, digits) =>
        Array.from(digits, (digit) => JSON.stringify({ event: 'dtmf', streamSid: streamId, dtmf: { digit } })),
    },
  };
}

/** SignalWire's Compatibility API: Twilio's forms, documents and REST interface, with its own header, host and codecs. */
export const signalwire = defineCarrier({
  name: NAME,
  title: 'SignalWire',
  capabilities: { ...twilioCapabilities, dtmfOut: 'message' },
  offers: {
    audio: { from: 'mu-law 8 kHz, PCM 16, 24 kHz', to: 'mu-law 8 kHz, PCM 16, 24 kHz' },
    proof: { webhook: 'HMAC-SHA1', socket: 'token in the path' },
    dials: true,
    detectsMachines: true,
    transfer: 'rest',
    joins: true,
    listens: true,
  },
  speechFormat: MULAW_8K,
  speechFormatOf: (config) => SPEECH[config.settings.codec],
  settings,
  secrets,
  proof: { secret: 'signingKey', envName: 'OFFHOOK_SIGNALWIRE_SIGNING_KEY' },
  controlEnvName: 'OFFHOOK_SIGNALWIRE_PROJECT_ID',
  codec: (config) => new JsonCodec(signalwireDialect(config.settings.byteOrder)),
  problems(config) {
    const { projectId, spaceUrl } = config.settings;
    const hasToken = (config.secrets['apiToken'] ?? []).length > 0;
    if (projectId === undefined && !hasToken) return [];
    if (projectId === undefined) return [{ setting: 'projectId', message: 'signalwire.apiToken needs the ID of its project' }];
    if (!hasToken) return [{ setting: 'apiToken', message: 'signalwire.projectId needs an API token of that project' }];
    if (spaceUrl === undefined)
      return [
        { setting: 'spaceUrl', message: 'signalwire.projectId needs the address of its space: https://NAME.signalwire.com' },
      ];
    return [];
  },
  door(config, signingKeys, { gatewayUrl }) {
    const { streamTokenMs: tokenMs, codec } = config.settings;
    const streamOf = (url: string, callId: string | undefined) =>
      streamAnswer({
        url,
        parameters: callId === undefined ? {} : { callId },
        // With `realtime="false"` audio is queued and played in order, so it may be sent ahead.
        attributes: { codec, realtime: 'false' },
        nextUrl: callId && nextUrl(gatewayUrl(), NAME, callId),
      });
    return {
      kind: 'webhook',
      streamTokenMs: tokenMs,
      ...formDoor('X-SignalWire-Signature', signingKeys),
      answers: {
        by: 'document',
        contentType: XML_TYPE,
        stream: ({ url, callId }) => streamOf(url, callId),
        say: sayAnswer,
        over: hangUpXml,
        fetched({ kind, value, callId }) {
          switch (kind) {
            case 'stream':
              return streamOf(streamUrl(gatewayUrl(), NAME, value), callId);
            case 'dial':
              return dialAnswer(value);
            case 'conference':
              return conferenceAnswer(value);
            default:
              return undefined;
          }
        },
      },
    };
  },
  control(config, { clock, gatewayUrl }) {
    const { projectId, spaceUrl } = config.settings;
    const [apiToken] = config.secrets['apiToken'] ?? [];
    if (projectId === undefined || spaceUrl === undefined || apiToken === undefined) return undefined;
    return new TwilioControl(
      {
        apiUrl: spaceUrl,
        accountSid: projectId,
        authToken: apiToken,
        basePath: '/api/laml/2010-04-01/Accounts',
        voiceUrl: () => `${gatewayUrl()}/carriers/${NAME}/voice`,
        // No documented parameter takes an inline document.
        documentFields: (kind, value) => ({
          Url: documentUrl(gatewayUrl(), NAME, { kind, value, callId: undefined }),
          Method: 'POST',
        }),
        dialFields: ({ streamUrl: stream, callId }) => [
          ['Url', documentUrl(gatewayUrl(), NAME, { kind: 'stream', value: tokenOf(stream), callId })],
          ['Method', 'POST'],
        ],
      },
      clock,
    );
  },
});
