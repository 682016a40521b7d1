import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { NARROW_RATE_HZ } from '../../audio/format.ts';
import { secret, settingFacts, text } from '../../config/setting.ts';
import type { Clock } from '../../kernel/clock.ts';
import { ariAccount, ariProblems, ariSecret, ariSettings } from '../asterisk/ari.ts';
import { AsteriskControl } from '../asterisk/control.ts';
import { callForm, reportDoor } from '../asterisk/door.ts';
import { defineCarrier, startTimeoutMs, streamTokenMs } from '../carrier.ts';
import type { InboundCall } from '../port.ts';
import { AudioSocketCodec, FRAME_MS, framing, uuidOf } from './codec.ts';

const settings = z.object({
  host: text('127.0.0.1', 'Address at which AudioSocket connections are taken; 0.0.0.0 for those of other machines', {
    aliases: ['OFFHOOK_AUDIOSOCKET_HOST'],
  }),
  port: z
    .int()
    .min(0)
    .max(65_535)
    .optional()
    .register(settingFacts, {
      description: 'TCP port at which AudioSocket connections are taken; none are without it',
      aliases: ['OFFHOOK_AUDIOSOCKET_PORT'],
    }),
  ...ariSettings('AUDIOSOCKET'),
  streamTokenMs: streamTokenMs(),
  startTimeoutMs: startTimeoutMs(5000),
});

const secrets = z.object({
  password: secret(
    'Password that the dialplan asks for the UUID of a call with; several, separated by commas, during a change',
    'OFFHOOK_AUDIOSOCKET_PASSWORD',
  ),
  ariPassword: ariSecret('AUDIOSOCKET'),
});

/** An Asterisk of your own: its dialplan asks for a UUID, and connects the call by AudioSocket with it; ARI acts on calls. */
export const audiosocket = defineCarrier({
  name: 'audiosocket',
  title: 'Asterisk (AudioSocket)',
  capabilities: {
    clear: 'none',
    marks: 'none',
    marksReturnOnClear: 'no',
    pacing: 'realtime',
    frameMs: FRAME_MS,
    dtmfOut: 'rest',
    // The caller hung up, or the dialplan sent the call elsewhere.
    closeEndsCall: true,
  },
  offers: {
    audio: { from: 'PCM 8, 16, 24, 48 kHz', to: 'as it comes' },
    proof: { webhook: 'Basic', socket: 'UUID, once' },
    dials: true,
    detectsMachines: false,
    transfer: 'rest',
    joins: true,
    listens: false,
    ownPremises: true,
  },
  speechFormat: { encoding: 'pcm16', rateHz: NARROW_RATE_HZ },
  settings,
  secrets,
  proof: { secret: 'password', envName: 'OFFHOOK_AUDIOSOCKET_PASSWORD' },
  controlEnvName: 'OFFHOOK_AUDIOSOCKET_ARI_URL',
  codec: () => new AudioSocketCodec(),
  problems: (config) => ariProblems(config, 'audiosocket'),
  door(config, passwords, { clock }) {
    const { host, port, streamTokenMs: tokenMs } = config.settings;
    const uuids = new UuidTokens(tokenMs, clock);
    return {
      ...reportDoor(passwords),
      kind: 'webhook',
      streamTokenMs: tokenMs,
      readCall,
      answers: {
        by: 'document',
        contentType: 'text/plain; charset=utf-8',
        stream: ({ url }) => uuids.standFor(url.slice(url.lastIndexOf('/') + 1)),
        // Asterisk has no voice of its own: the dialplan plays a sentence that it has.
        say: () => 'refused',
      },
      tcp: {
        framing,
        listen: port === undefined ? undefined : { host, port },
        tokenOf: (first) => uuids.take(uuidOf(first)),
      },
    };
  },
  control(config, { clock }) {
    const account = ariAccount(config);
    return account === undefined ? undefined : new AsteriskControl(account, 'audiosocket', clock);
  },
});

const dialledForm = z.object({ token: z.string().min(1).max(1000) });

function readCall(body: unknown, botName: string | undefined): InboundCall | { readonly token: string } | undefined {
  const dialled = dialledForm.safeParse(body);
  if (dialled.success) return dialled.data;
  const call = callForm.safeParse(body);
  if (!call.success) return undefined;
  const { call: carrierCallId, from, to } = call.data;
  return { carrier: 'audiosocket', carrierCallId, from, to, direction: 'inbound', botName };
}

/** Most UUIDs waiting for their connection; above the number of possible calls. */
const MOST_WAITING = 10_000;

/** UUIDs that stand for stream tokens: random, single-use, and valid as long as the token. The UUID is the connection's only proof. */
class UuidTokens {
  readonly #waiting = new Map<string, { readonly token: string; readonly untilMs: number }>();
  readonly #lifeMs: number;
  readonly #clock: Clock;

  constructor(lifeMs: number, clock: Clock) {
    this.#lifeMs = lifeMs;
    this.#clock = clock;
  }

  standFor(token: string): string {
    const nowMs = this.#clock.nowMs();
    for (const [uuid, { untilMs }] of this.#waiting) {
      if (untilMs > nowMs && this.#waiting.size < MOST_WAITING) break;
      this.#waiting.delete(uuid);
    }
    const uuid = randomUUID();
    this.#waiting.set(uuid, { token, untilMs: nowMs + this.#lifeMs });
    return uuid;
  }

  take(uuid: string | undefined): string | undefined {
    const found = uuid === undefined ? undefined : this.#waiting.get(uuid);
    if (uuid === undefined || found === undefined) return undefined;
    this.#waiting.delete(uuid);
    return found.untilMs > this.#clock.nowMs() ? found.token : undefined;
  }
}
