import { z } from 'zod';
import { MULAW_8K } from '../../audio/format.ts';
import { secret, settingFacts } from '../../config/setting.ts';
import { type Carrier, startTimeoutMs } from '../carrier.ts';
import { GenesysCodec } from './codec.ts';
import { UpgradeSignatures } from './signature.ts';

const settings = z.object({
  use: z
    .enum(['auto', 'bot', 'monitor'])
    .default('auto')
    .register(settingFacts, {
      description:
        'What sessions are: calls of a bot (Audio Connector), or copies of calls between people (AudioHook Monitor); auto tells by the media that are offered',
      aliases: ['OFFHOOK_GENESYS_USE'],
    }),
  startTimeoutMs: startTimeoutMs(5000),
});

const secrets = z.object({
  clientSecret: secret(
    'Client secret of the integration, in base64 as Genesys has it; several, separated by commas, during a rotation',
    'OFFHOOK_GENESYS_CLIENT_SECRET',
  ),
  apiKey: secret('API key of the integration; several, separated by commas, during a change', 'OFFHOOK_GENESYS_API_KEY'),
});

/** Genesys Cloud: Audio Connector lets a bot speak in a flow, AudioHook Monitor sends copies of calls. The session is the only interface. */
export const genesys: Carrier = {
  name: 'genesys',
  title: 'Genesys',
  capabilities: {
    clear: 'native',
    marks: 'native',
    marksWhenIdle: true,
    marksReturnOnClear: 'unknown',
    pacing: 'burst',
    frameMs: 0,
    // Too many messages are an error (429).
    messageMs: 400,
    dtmfOut: 'none',
    transfer: 'message',
  },
  offers: {
    audio: { from: 'mu-law 8 kHz', to: 'mu-law 8 kHz' },
    proof: { webhook: 'none', socket: 'HTTP message signature' },
    dials: false,
    detectsMachines: false,
    transfer: 'message',
    joins: false,
    listens: true,
  },
  speechFormat: MULAW_8K,
  settings,
  secrets,
  proof: { secret: 'clientSecret', envName: 'OFFHOOK_GENESYS_CLIENT_SECRET' },
  controlEnvName: 'OFFHOOK_GENESYS_CLIENT_SECRET',
  codec: (config) => new GenesysCodec(settings.parse(config.settings).use),
  problems(config) {
    const isBad = (config.secrets['clientSecret'] ?? []).some((each) => !/^[A-Za-z0-9+/]+={0,2}$/u.test(each.reveal()));
    return isBad ? [{ setting: 'clientSecret', message: 'is not base64: take it as it stands in the integration' }] : [];
  },
  startTimeoutMs: (config) => settings.parse(config.settings).startTimeoutMs,
  door(config, clientSecrets, { clock }) {
    const signatures = new UpgradeSignatures(clientSecrets, config.secrets['apiKey'] ?? []);
    return {
      kind: 'socket',
      readCall: (request) => (signatures.isSigned(request, clock.wallMs()) ? 'at-start' : 401),
    };
  },
  control: () => undefined,
};
