import { randomInt } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { errorText } from '../../kernel/errors.ts';
import { parseJson } from '../../kernel/json.ts';
import { reachedAddress } from '../carrier-wire.ts';
import { bodyOf, type RestReply, SimulatedRest } from '../dialling-carrier.ts';
import { CallRefused } from '../errors.ts';
import type { PlaceOptions, SimulatedCarrier, SimulatedCarrierCall } from '../simulated-carrier.ts';
import { SimulatedSmartfloStream } from './stream.ts';

const KEY = 'key-of-the-simulated-account';
const TOKEN = 'token-of-the-simulated-account';

/** A static endpoint of a number: the call ends with its media socket. */
class SmartfloCall implements SimulatedCarrierCall {
  readonly carrierCallId: string;
  readonly line: SimulatedSmartfloStream;
  readonly said = [];
  readonly digits = [];
  readonly ended: Promise<unknown>;
  dialled: string | undefined;

  constructor(carrierCallId: string, line: SimulatedSmartfloStream) {
    this.carrierCallId = carrierCallId;
    this.line = line;
    this.ended = line.ended;
  }

  async hangUp(): Promise<void> {
    this.line.stop();
    await this.ended;
  }
}

async function place(carrier: string, options: PlaceOptions, key: string): Promise<SmartfloCall> {
  const { url, bot, clock, from = '+919876543210', to = '+918047491899' } = options;
  // As Asterisk makes them.
  const { carrierCallId = `${Math.floor(clock.wallMs() / 1000)}.${randomInt(1e6)}` } = options;
  const path = `/carriers/${carrier}/media${bot === undefined ? '' : `/${encodeURIComponent(bot)}`}?key=${encodeURIComponent(key)}`;
  const target = {
    url: reachedAddress(url.replace(/^http/iu, 'ws') + path, options),
    callSid: carrierCallId,
    from,
    to,
    numbersAtRoot: carrier === 'astradial',
  };
  const line = await SimulatedSmartfloStream.open(target, clock, options.stream).catch((error: unknown) => {
    throw new CallRefused(`the media socket was refused: ${errorText(error)}`, [], error);
  });
  return new SmartfloCall(carrierCallId, line);
}

/** @param hasRest whether a REST interface is documented */
function simulated(name: string, hasRest: boolean): SimulatedCarrier {
  const prefix = `OFFHOOK_${name.toUpperCase()}`;
  return {
    name,
    async open({ clock }) {
      const calls = new Map<string, SmartfloCall>();
      const rest = hasRest
        ? await SimulatedRest.start(
            () => clock.wallMs(),
            (request, reply) => serve(calls, request, reply),
          )
        : undefined;
      return {
        env: {
          [`${prefix}_STREAM_KEY`]: KEY,
          ...(rest === undefined ? {} : { [`${prefix}_API_TOKEN`]: TOKEN, [`${prefix}_API_URL`]: rest.url }),
        },
        async place(options) {
          const call = await place(name, options, KEY);
          calls.set(call.carrierCallId, call);
          void call.ended.then(() => calls.delete(call.carrierCallId));
          return call;
        },
        [Symbol.asyncDispose]: async () => rest?.[Symbol.asyncDispose](),
      };
    },
    place: (options) => place(name, options, options.proof),
  };
}

/** `POST /v1/call/hangup` and `/v1/call/options` of live calls. */
async function serve(calls: ReadonlyMap<string, SmartfloCall>, request: IncomingMessage, reply: RestReply): Promise<void> {
  if (request.headers.authorization !== `Bearer ${TOKEN}`) return reply(401, { success: false, message: 'Unauthenticated' });
  const asked = (parseJson(await bodyOf(request)) ?? {}) as { call_id?: string; type?: unknown; intercom?: string };
  const call = calls.get(asked.call_id ?? '');
  if (call === undefined) return reply(404, { success: false, message: 'Call not found' });
  if (request.url === '/v1/call/hangup') call.line.end('Call ended over REST');
  else if (request.url !== '/v1/call/options') return reply(404, { success: false, message: 'Not found' });
  else if (Number(asked.type) !== 4 || !/^\d{3,15}$/u.test(asked.intercom ?? ''))
    return reply(200, { success: false, message: 'Invalid intercom' });
  else {
    call.dialled = asked.intercom;
    call.line.end('Call transferred');
  }
  return reply(200, { success: true, message: 'Request accepted' });
}

export const simulatedSmartflo = simulated('smartflo', true);
export const simulatedAcefone = simulated('acefone', true);
export const simulatedAstradial = simulated('astradial', false);
