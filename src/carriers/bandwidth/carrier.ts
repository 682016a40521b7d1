import { z } from 'zod';
import { type AudioFormat, linearSpeech, MULAW_8K, type WireFormat } from '../../audio/format.ts';
import { addressOr, secret, settingFacts, text } from '../../config/setting.ts';
import { hasBasicCredentials } from '../proofs.ts';
import { defineCarrier, nextUrl, startTimeoutMs, streamTokenMs, streamUrl } from '../carrier.ts';
import { JsonCodec } from '../json-codec.ts';
import { hangUpXml, XML_TYPE } from '../xml.ts';
import { sayBxml, streamBxml } from './bxml.ts';
import { BandwidthControl } from './control.ts';
import { readEvent, readInitiate } from './webhook.ts';
import type { JsonDialect } from '../json-dialect.ts';

/** Audio we send to a stream; inbound audio is always mu-law at 8 kHz. */
export const AUDIO = ['mulaw-8k', 'pcm-8k', 'pcm-16k', 'pcm-24k'] as const;
export type StreamAudio = (typeof AUDIO)[number];

const OUTBOUND: Readonly<Record<StreamAudio, WireFormat>> = {
  'mulaw-8k': MULAW_8K,
  'pcm-8k': { encoding: 'pcm16', rateHz: 8000 },
  'pcm-16k': { encoding: 'pcm16', rateHz: 16_000 },
  'pcm-24k': { encoding: 'pcm16', rateHz: 24_000 },
};

/** Synthesis format for such a stream: inbound mu-law makes it an 8 kHz call, whatever may be sent. */
export function speechOf(audio: StreamAudio): AudioFormat {
  return audio === 'mulaw-8k' ? MULAW_8K : linearSpeech(MULAW_8K.rateHz);
}

/**
 * Bandwidth's bidirectional streams (dev.bandwidth.com/docs/voice/programmable-voice/bxml/startStream): `eventType` names the event, and audio
 * is at the top level of its message, without a time. There are no marks, and keys come by webhooks.
 */
export function bandwidthDialect(audio: StreamAudio): JsonDialect {
  return {
    eventKey: 'eventType',
    events: { start: 'start', media: 'audio', stop: 'stop' },
    start: {
      streamId: [['metadata', 'streamId']],
      callId: [['metadata', 'callId']],
      parameters: [['streamParams'], ['metadata', 'streamParams']],
      // As documented; the start message gives no known format.
      encoding: [],
      rateHz: [],
      channels: [],
      encodings: {},
      ratesHz: [8000],
      format: MULAW_8K,
      outbound: () => OUTBOUND[audio],
    },
    audio: { payload: ['payload'], timestampMs: ['timestamp'], track: ['track'], callerTracks: ['inbound'] },
    digit: ['dtmf', 'digit'],
    markName: ['name'],
    stopReason: ['reason'],
    send: {
      audio: (_streamId, format) => [
        `{"eventType":"playAudio","media":{"contentType":"${contentTypeOf(format)}","payload":"`,
        '"}}',
      ],
      clear: () => '{"eventType":"clear"}',
    },
  };
}

function contentTypeOf({ encoding, rateHz }: WireFormat): string {
  if (encoding === 'mulaw') return 'audio/pcmu';
  return `audio/pcm;rate=${rateHz};channels=1;bit-depth=16;endian=little;encoding=signed`;
}

const id = (description: string, ...aliases: string[]) =>
  z
    .string()
    .regex(/^[\w-]{1,100}$/u, 'letters, digits, _ and -')
    .optional()
    .register(settingFacts, { description, aliases });

const settings = z.object({
  accountId: id(
    'Bandwidth account ID, for outbound calls, transfers, keypad digits and hang-ups',
    'OFFHOOK_BANDWIDTH_ACCOUNT_ID',
  ),
  applicationId: id('Bandwidth application ID of the numbers that calls are placed from', 'OFFHOOK_BANDWIDTH_APPLICATION_ID'),
  clientId: id("Client ID of the account's API credential", 'OFFHOOK_BANDWIDTH_CLIENT_ID'),
  webhookUser: text('offhook', 'User name that the application sends with its webhooks', {
    aliases: ['OFFHOOK_BANDWIDTH_WEBHOOK_USER'],
  }),
  audio: z
    .enum(AUDIO)
    .default('mulaw-8k')
    .register(settingFacts, {
      description:
        'What is sent to media streams: G.711 mu-law, or linear PCM at 8, 16 or 24 kHz; what comes from them is mu-law',
      aliases: ['OFFHOOK_BANDWIDTH_AUDIO'],
    }),
  apiUrl: addressOr('https://voice.bandwidth.com', "Base address of Bandwidth's Voice API", 'OFFHOOK_BANDWIDTH_API_URL'),
  tokenUrl: addressOr(
    'https://api.bandwidth.com/api/v1/oauth2/token',
    'Where the tokens of API credentials are given out',
    'OFFHOOK_BANDWIDTH_TOKEN_URL',
  ),
  streamTokenMs: streamTokenMs(),
  startTimeoutMs: startTimeoutMs(5000),
});

const secrets = z.object({
  webhookPassword: secret(
    'Password that the application sends with its webhooks; several, separated by commas, during a change',
    'OFFHOOK_BANDWIDTH_WEBHOOK_PASSWORD',
  ),
  clientSecret: secret("Secret of the account's API credential", 'OFFHOOK_BANDWIDTH_CLIENT_SECRET'),
});

const CONTROL = ['accountId', 'applicationId', 'clientId'] as const;

/** Bandwidth: JSON webhooks with Basic credentials answered with BXML, a stream of JSON messages without marks, calls acted on over REST. */
export const bandwidth = defineCarrier({
  name: 'bandwidth',
  title: 'Bandwidth',
  capabilities: {
    clear: 'native',
    marks: 'none',
    marksReturnOnClear: 'no',
    // Audio queues until cleared; the limit is undocumented.
    pacing: 'burst',
    frameMs: 0,
    dtmfOut: 'rest',
    comesBack: true,
  },
  offers: {
    audio: { from: 'mu-law 8 kHz', to: 'mu-law 8 kHz, PCM 8, 16, 24 kHz' },
    proof: { webhook: 'Basic', socket: 'token in the path' },
    dials: true,
    detectsMachines: true,
    transfer: 'rest',
    joins: true,
    listens: false,
  },
  speechFormat: MULAW_8K,
  speechFormatOf: (config) => speechOf(config.settings.audio),
  settings,
  secrets,
  proof: { secret: 'webhookPassword', envName: 'OFFHOOK_BANDWIDTH_WEBHOOK_PASSWORD' },
  controlEnvName: 'OFFHOOK_BANDWIDTH_CLIENT_ID',
  codec: (config) => new JsonCodec(bandwidthDialect(config.settings.audio)),
  problems(config) {
    const parsed = config.settings;
    const given = [...CONTROL.filter((name) => parsed[name] !== undefined), ...(config.secrets['clientSecret'] ?? [])];
    if (given.length === 0) return [];
    const missing = CONTROL.filter((name) => parsed[name] === undefined);
    const problems = missing.map((setting) => ({
      setting: setting as string,
      message: 'is needed beside the other values of the account',
    }));
    if ((config.secrets['clientSecret'] ?? []).length > 0) return problems;
    return [...problems, { setting: 'clientSecret', message: 'bandwidth.clientId needs the secret of that credential' }];
  },
  door(config, passwords, { gatewayUrl }) {
    const { streamTokenMs: tokenMs, webhookUser: user } = config.settings;
    const password = passwords[0]?.reveal() ?? '';
    const stream = (url: string, statusUrl: string, callId: string | undefined): string => {
      const next = callId && nextUrl(gatewayUrl(), 'bandwidth', callId);
      return streamBxml({ url, statusUrl, user, password, nextUrl: next });
    };
    return {
      kind: 'webhook',
      streamTokenMs: tokenMs,
      body: 'json',
      oneAddress: true,
      header: 'Authorization',
      challenge: 'Basic realm="offhook"',
      isProof: (header) => /^Basic [\w+/]{2,2000}={0,2}$/iu.test(header),
      isSigned: ({ headers }) => hasBasicCredentials(headers['authorization'], user, passwords),
      readCall: readInitiate,
      readStatus: readEvent,
      needs: { call: 'The body is no initiate event with a callId.', status: 'The body has no eventType, or no callId.' },
      answers: {
        by: 'document',
        contentType: XML_TYPE,
        stream: ({ url, statusUrl, callId }) => stream(url, statusUrl, callId),
        say: sayBxml,
        over: hangUpXml,
        fetched({ kind, value, callId }) {
          if (kind !== 'stream') return undefined;
          return stream(streamUrl(gatewayUrl(), 'bandwidth', value), `${gatewayUrl()}/carriers/bandwidth/status`, callId);
        },
      },
    };
  },
  control(config, { clock, gatewayUrl }) {
    const { apiUrl, tokenUrl, accountId, applicationId, clientId, webhookUser: user } = config.settings;
    const [clientSecret] = config.secrets['clientSecret'] ?? [];
    const [password] = config.secrets['webhookPassword'] ?? [];
    if (accountId === undefined || applicationId === undefined || clientId === undefined) return undefined;
    if (clientSecret === undefined || password === undefined) return undefined;
    const account = { apiUrl, tokenUrl, accountId, clientId, clientSecret };
    return new BandwidthControl({ ...account, applicationId, carrier: 'bandwidth', gatewayUrl, user, password }, clock);
  },
});
