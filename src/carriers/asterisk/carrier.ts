import { z } from 'zod';
import { MULAW_8K } from '../../audio/format.ts';
import { secret } from '../../config/setting.ts';
import { defineCarrier, startTimeoutMs } from '../carrier.ts';
import { ariAccount, ariProblems, ariSecret, ariSettings } from './ari.ts';
import { AsteriskCodec, FRAME_MS } from './codec.ts';
import { AsteriskControl } from './control.ts';
import { broughtCall, isProven, reportDoor } from './door.ts';

const settings = z.object({ ...ariSettings('ASTERISK'), startTimeoutMs: startTimeoutMs(5000) });

const secrets = z.object({
  password: secret(
    'Password that Asterisk opens media sockets with (websocket_client.conf); several, separated by commas, during a change',
    'OFFHOOK_ASTERISK_PASSWORD',
  ),
  ariPassword: ariSecret('ASTERISK'),
});

/** An Asterisk of your own: its dialplan connects calls over chan_websocket, and ARI acts on them. */
export const asterisk = defineCarrier({
  name: 'asterisk',
  title: 'Asterisk (chan_websocket)',
  capabilities: {
    clear: 'native',
    marks: 'native',
    marksReturnOnClear: 'no',
    // Asterisk queues 1,000 frames, 20 seconds.
    pacing: 'burst',
    frameMs: FRAME_MS,
    dtmfOut: 'rest',
    // The caller hung up, or the dialplan sent the call elsewhere.
    closeEndsCall: true,
  },
  offers: {
    audio: { from: 'mu-law, A-law 8 kHz, PCM 8, 16, 24, 48 kHz', to: 'as it comes' },
    proof: { webhook: 'Basic, for reports', socket: 'Basic' },
    dials: true,
    detectsMachines: false,
    transfer: 'rest',
    joins: true,
    listens: false,
    ownPremises: true,
  },
  speechFormat: MULAW_8K,
  settings,
  secrets,
  proof: { secret: 'password', envName: 'OFFHOOK_ASTERISK_PASSWORD' },
  controlEnvName: 'OFFHOOK_ASTERISK_ARI_URL',
  codec: () => new AsteriskCodec(),
  problems: (config) => ariProblems(config, 'asterisk'),
  door: (_config, passwords) => ({
    kind: 'socket',
    readCall: (request, botName) => (isProven(request.headers['authorization'], passwords) ? broughtCall(request, botName) : 401),
    reports: reportDoor(passwords),
  }),
  control(config, { clock }) {
    const account = ariAccount(config);
    return account === undefined ? undefined : new AsteriskControl(account, 'websocket', clock);
  },
});
