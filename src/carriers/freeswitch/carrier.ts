import { z } from 'zod';
import { linearSpeech, NARROW_RATE_HZ } from '../../audio/format.ts';
import { secret, settingFacts, text, whole } from '../../config/setting.ts';
import { hasBasicCredentials } from '../proofs.ts';
import { type BroughtCall, type CarrierRequest, defineCarrier, startTimeoutMs } from '../carrier.ts';
import { FreeSwitchControl } from './control.ts';
import { capabilitiesOf, codecOf, MODULES } from './media-module.ts';

const settings = z.object({
  module: z
    .enum(MODULES)
    .default('mod_audio_fork')
    .register(settingFacts, {
      description: 'Module of FreeSWITCH that opens media sockets',
      aliases: ['OFFHOOK_FREESWITCH_MODULE'],
    }),
  sampleRateHz: z
    .literal([8000, 16000])
    .default(8000)
    .register(settingFacts, { description: 'Sample rate of call audio in both directions, as in the dialplan', unit: 'Hz' }),
  eslHost: z
    .string()
    .min(1)
    .optional()
    .register(settingFacts, {
      description: "Host of FreeSWITCH's event socket, for outbound calls, transfers, keypad digits and hang-ups",
      aliases: ['OFFHOOK_FREESWITCH_ESL_HOST'],
    }),
  eslPort: whole(1, 65_535, 8021, "Port of FreeSWITCH's event socket", { aliases: ['OFFHOOK_FREESWITCH_ESL_PORT'] }),
  dialString: z
    .string()
    .regex(/^[\w./@:%+-]*\{number\}[\w./@:%+-]*$/u, 'a dial string with {number} in it, without variables')
    .default('sofia/gateway/trunk/{number}')
    .register(settingFacts, {
      description: 'Dial string by which FreeSWITCH calls a number',
      aliases: ['OFFHOOK_FREESWITCH_DIAL_STRING'],
    }),
  sipProfile: text('external', 'SIP profile of FreeSWITCH by which sip: addresses are called'),
  startTimeoutMs: startTimeoutMs(5000),
});

const secrets = z.object({
  password: secret(
    'Password that FreeSWITCH opens media sockets with; several, separated by commas, during a change',
    'OFFHOOK_FREESWITCH_PASSWORD',
  ),
  eslPassword: secret('Password of the event socket; needed with freeswitch.eslHost', 'OFFHOOK_FREESWITCH_ESL_PASSWORD'),
});

const USER = 'offhook';
const number = z.string().max(80).catch('');
const query = z.object({ call: z.string().regex(/^[\w.-]{1,128}$/u), from: number, to: number });

/** A FreeSWITCH of your own: its dialplan opens media sockets by a module, and its event socket acts on calls. */
export const freeswitch = defineCarrier({
  name: 'freeswitch',
  title: 'FreeSWITCH',
  capabilities: capabilitiesOf.mod_audio_fork,
  offers: {
    audio: { from: 'PCM 8, 16 kHz', to: 'PCM 8, 16 kHz' },
    proof: { webhook: 'none', socket: 'Basic' },
    dials: true,
    detectsMachines: false,
    transfer: 'rest',
    joins: true,
    listens: true,
  },
  speechFormat: linearSpeech(NARROW_RATE_HZ),
  speechFormatOf: (config) => linearSpeech(config.settings.sampleRateHz),
  settings,
  secrets,
  proof: { secret: 'password', envName: 'OFFHOOK_FREESWITCH_PASSWORD' },
  controlEnvName: 'OFFHOOK_FREESWITCH_ESL_HOST',
  codec(config) {
    const { module, sampleRateHz } = config.settings;
    return codecOf(module, sampleRateHz);
  },
  problems(config) {
    const hasHost = config.settings.eslHost !== undefined;
    const hasPassword = config.secrets['eslPassword']?.[0] !== undefined;
    if (hasHost === hasPassword) return [];
    return hasHost
      ? [{ setting: 'eslPassword', message: 'freeswitch.eslHost needs the password in event_socket.conf.xml' }]
      : [{ setting: 'eslHost', message: 'freeswitch.eslPassword needs the host of the event socket' }];
  },
  door: (_config, passwords) => ({
    kind: 'socket',
    readCall: (request, botName) =>
      hasBasicCredentials(request.headers['authorization'], USER, passwords) ? broughtCall(request, botName) : 401,
  }),
  control(config, { clock, reported }) {
    const { eslHost: host, eslPort: port, module, sampleRateHz: rateHz, dialString, sipProfile } = config.settings;
    const [password] = config.secrets['eslPassword'] ?? [];
    if (host === undefined || password === undefined) return undefined;
    return new FreeSwitchControl({ host, port, password, module, rateHz, dialString, sipProfile }, clock, (callId, report) =>
      reported?.(callId, { ...report, carrier: 'freeswitch' }),
    );
  },
});

/** The address's query names the call; otherwise the first text message must. */
function broughtCall({ urls: [url = ''] }: CarrierRequest, botName: string | undefined): BroughtCall {
  const given = Object.fromEntries(new URL(url, 'http://gateway').searchParams);
  if (given['call'] === undefined) return 'at-start';
  const call = query.safeParse(given);
  if (!call.success) return 400;
  const { call: carrierCallId, from, to } = call.data;
  return { carrier: 'freeswitch', carrierCallId, from, to, direction: 'inbound', botName };
}
