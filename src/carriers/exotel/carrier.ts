import { linearSpeech, NARROW_RATE_HZ } from '../../audio/format.ts';
import { z } from 'zod';
import type { Secret } from '../../config/secrets.ts';
import { addressOr, secret, settingFacts, text, whole } from '../../config/setting.ts';
import { AddressList, allowedAddresses } from '../address-list.ts';
import { hasBasicCredentials } from '../proofs.ts';
import { type CarrierRequest, defineCarrier, startTimeoutMs, streamTokenMs } from '../carrier.ts';
import type { InboundCall } from '../port.ts';
import { CHUNK_UNIT_BYTES, ExotelCodec, RATES_HZ } from './codec.ts';
import { ExotelControl } from './control.ts';
import { isProof, isProvenReport, PROOF_PARAMETER, readReport } from './reports.ts';

const settings = z.object({
  streamUser: text('offhook', 'User name in the media address: wss://USER:PASSWORD@<address>/carriers/exotel/media/BOT'),
  allowedAddresses: allowedAddresses('Exotel'),
  sampleRateHz: z.literal(RATES_HZ).default(8_000).register(settingFacts, {
    description:
      'Rate that media addresses ask for (?sample-rate=); orders of calls ask for it, and a flow has it in its Voicebot applet',
    unit: 'Hz',
  }),
  chunkBytes: z.int().min(CHUNK_UNIT_BYTES).max(32_000).multipleOf(CHUNK_UNIT_BYTES).default(3_200).register(settingFacts, {
    // Documented minimum is 3,200 bytes or 100 ms, which at 8 kHz is 200 ms; the carrier's own samples send 1,600.
    description: 'Length of one message of audio, a multiple of 320; Exotel wants 3,200 and more',
    unit: 'bytes',
  }),
  accountSid: z
    .string()
    .min(1)
    .max(128)
    .optional()
    .register(settingFacts, {
      description: 'Exotel account SID, for outbound calls',
      aliases: ['OFFHOOK_EXOTEL_ACCOUNT_SID'],
    }),
  apiUrl: addressOr(
    'https://api.in.exotel.com',
    "Base address of Exotel's REST API: Mumbai, or https://api.exotel.com for Singapore",
    'OFFHOOK_EXOTEL_API_URL',
  ),
  // The documents show `0XXXXXXXXXX`, and E.164 for every other number.
  callerIdFormat: z.enum(['national', 'e164']).default('national').register(settingFacts, {
    description: 'How an Indian ExoPhone is written in an order: 0XXXXXXXXXX or +91XXXXXXXXXX',
  }),
  // Its epoch is 1970-01-01 05:30:00.
  utcOffsetMinutes: whole(-720, 840, 330, "Offset of Exotel's times from UTC, which it writes without a zone", {
    unit: 'minutes',
  }),
  streamTokenMs: streamTokenMs(),
  startTimeoutMs: startTimeoutMs(5_000),
});

const secrets = z.object({
  streamPassword: secret(
    'Password in the media address that Exotel is given; several, separated by commas, during a rotation',
    'OFFHOOK_EXOTEL_STREAM_PASSWORD',
  ),
  apiKey: secret('API key of the Exotel account, for outbound calls', 'OFFHOOK_EXOTEL_API_KEY'),
  apiToken: secret('API token of the Exotel account, for outbound calls', 'OFFHOOK_EXOTEL_API_TOKEN'),
});

/** Exotel AgentStream: a media socket with Basic credentials that names its call in its start, and calls placed by Connect Voice AI. */
export const exotel = defineCarrier({
  name: 'exotel',
  title: 'Exotel',
  capabilities: {
    // Clear is not acknowledged: mark names of an older generation show what was played.
    clear: 'native',
    marks: 'native',
    marksReturnOnClear: 'unknown',
    // Floods make streams stall or end; playout's lead limits the queue.
    pacing: 'burst',
    frameMs: 20,
    // Keys are sent as tones in our audio; there is no other way.
    dtmfOut: 'inband',
  },
  offers: {
    audio: { from: 'PCM 8, 16, 24 kHz, mu-law 8 kHz', to: 'PCM 8, 16, 24 kHz, mu-law 8 kHz' },
    proof: { webhook: 'HMAC-SHA256 in the address', socket: 'Basic, addresses' },
    dials: true,
    detectsMachines: false,
    transfer: 'none',
    joins: false,
    listens: false,
  },
  speechFormat: linearSpeech(NARROW_RATE_HZ),
  speechFormatOf: (config) => linearSpeech(config.settings.sampleRateHz),
  settings,
  secrets,
  proof: { secret: 'streamPassword', envName: 'OFFHOOK_EXOTEL_STREAM_PASSWORD' },
  controlEnvName: 'OFFHOOK_EXOTEL_ACCOUNT_SID',
  codec(config) {
    const { sampleRateHz: rateHz, chunkBytes } = config.settings;
    return new ExotelCodec({ rateHz, chunkBytes });
  },
  problems(config) {
    const { accountSid, allowedAddresses: addresses } = config.settings;
    const has = (name: string): boolean => (config.secrets[name] ?? []).length > 0;
    const problems = new AddressList(addresses).problems.map((message) => ({ setting: 'allowedAddresses', message }));
    const account = [accountSid !== undefined, has('apiKey'), has('apiToken')];
    if (account.includes(true) && (account.includes(false) || !has('streamPassword')))
      problems.push({
        setting: 'accountSid',
        message: 'outbound calls need exotel.accountSid, exotel.apiKey, exotel.apiToken and exotel.streamPassword, all of them',
      });
    return problems;
  },
  door(config, passwords) {
    const { streamUser, allowedAddresses: addresses, sampleRateHz, streamTokenMs: tokenMs } = config.settings;
    const allowed = new AddressList(addresses);
    const isExotel = ({ headers, address }: CarrierRequest): boolean =>
      allowed.has(address) && hasBasicCredentials(headers['authorization'], streamUser, passwords);
    return {
      kind: 'socket',
      readCall: (request) => (isExotel(request) ? 'at-start' : 401),
      lookup: {
        streamTokenMs: tokenMs,
        readCall: (request, query, botName) => (isExotel(request) ? (readLookup(query, botName) ?? 400) : 401),
        answer: ({ url }) => ({
          contentType: 'application/json; charset=utf-8',
          text: JSON.stringify({ url: `${url}?sample-rate=${sampleRateHz}` }),
        }),
      },
      reports: {
        body: 'json',
        header: PROOF_PARAMETER,
        inQuery: true,
        isProof,
        isSigned: (request) => isProvenReport(request, passwords),
        readStatus: readReport,
        needs: { call: 'The body has no usable CallSid.', status: 'The body has no CallSid, or neither Status nor EventType.' },
      },
    };
  },
  control(config, { clock }) {
    const { accountSid, apiUrl, sampleRateHz, callerIdFormat, utcOffsetMinutes } = config.settings;
    const [apiKey, apiToken, password] = ['apiKey', 'apiToken', 'streamPassword'].map(
      (name): Secret | undefined => config.secrets[name]?.[0],
    );
    if (accountSid === undefined || apiKey === undefined || apiToken === undefined || password === undefined) return undefined;
    const account = { apiUrl, accountSid, apiKey, apiToken, password, sampleRateHz, callerIdFormat, utcOffsetMinutes };
    return new ExotelControl(account, clock);
  },
});

/** The applet's query: `CallSid`, and the numbers under either of two names. */
function readLookup(query: Readonly<Record<string, string>>, botName: string | undefined): InboundCall | undefined {
  const { CallSid: carrierCallId = '', Direction = '' } = query;
  if (carrierCallId === '' || carrierCallId.length > 128) return undefined;
  const from = query['CallFrom'] ?? query['From'] ?? '';
  const to = query['CallTo'] ?? query['To'] ?? '';
  const direction = Direction.startsWith('out') ? 'outbound' : 'inbound';
  return { carrier: 'exotel', carrierCallId, from, to, direction, botName };
}
