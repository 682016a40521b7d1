import { z } from 'zod';
import { MULAW_8K } from '../../audio/format.ts';
import { addressOr, secret } from '../../config/setting.ts';
import type { Secret } from '../../config/secrets.ts';
import { AddressList, allowedAddresses } from '../address-list.ts';
import { hasBasicCredentials } from '../proofs.ts';
import { type Carrier, type CarrierRequest, defineCarrier, startTimeoutMs, streamTokenMs } from '../carrier.ts';
import type { CallControl, InboundCall } from '../port.ts';
import { smartfloCapabilities, SmartfloCodec } from './codec.ts';
import type { Clock } from '../../kernel/clock.ts';
import { CarrierControlError } from '../errors.ts';
import { CarrierRest, type RestAnswer, type RestRequest } from '../rest.ts';

interface SmartfloAccount {
  readonly apiUrl: string;
  readonly apiToken: Secret;
}

const said = z.object({ success: z.boolean().optional(), message: z.string().optional() }).catch({});
/** Operation code of a transfer (`/v1/call/options`). */
const TRANSFER = 4;

/** Acts on calls over `POST /v1/call/hangup` and `/v1/call/options` (docs.smartflo.tatatelebusiness.com/reference/v1calloptions). */
class SmartfloControl implements CallControl {
  readonly #rest: CarrierRest;

  constructor({ apiUrl, apiToken }: SmartfloAccount, clock: Clock) {
    const headers = () => ({ authorization: `Bearer ${apiToken.reveal()}`, accept: 'application/json' });
    const base = new URL('/v1/call', apiUrl).href;
    this.#rest = new CarrierRest({ base, headers, problem: (body) => ({ message: said.parse(body).message }) }, clock);
  }

  async hangUp(callId: string, signal: AbortSignal): Promise<void> {
    const answer = await this.#rest.end(post('/hangup', { call_id: callId }), signal);
    if (answer !== undefined) failedIn(answer);
  }

  /** @param to the number of an agent, extension or department at the carrier */
  async transfer(callId: string, to: string, signal: AbortSignal): Promise<void> {
    const intercom = to.replace(/^\+/u, '');
    if (!/^\d+$/u.test(intercom)) throw refused('calls are passed on to numbers of agents, extensions and departments only');
    // Sent once: it may have been carried out without an answer.
    failedIn(await this.#rest.once(post('/options', { type: TRANSFER, call_id: callId, intercom }), signal));
  }

  /** @throws CarrierControlError always */
  sendDigits(): Promise<void> {
    return Promise.reject(refused('no request presses keys: they are tones in the audio'));
  }
}

function post(path: string, body: object): RestRequest {
  return { method: 'POST', path, body };
}

/** A refusal may come with status 200. */
function failedIn({ body }: RestAnswer): void {
  const { success, message } = said.parse(body);
  if (success === false) throw refused(`the carrier refused: ${message ?? 'without a reason'}`);
}

function refused(message: string): CarrierControlError {
  return new CarrierControlError(message, { retryable: false, surelyNotDone: true });
}

/** Differences between the carriers of this protocol. */
interface Family {
  readonly name: string;
  readonly title: string;
  /** Its REST interface; undefined where undocumented. */
  readonly apiUrl?: string;
}

/** User name in an address's credentials: only the key counts. */
const USER = 'offhook';

/**
 * A carrier of this family: a media socket whose start names the call. It has no documented authentication, so the address carries a key of ours, as
 * credentials or as the parameter `key`.
 */
function carrierOf({ name, title, apiUrl }: Family): Carrier {
  const prefix = `OFFHOOK_${name.toUpperCase()}`;
  const control = { envName: `${prefix}_API_TOKEN` };
  const settings = z.object({
    allowedAddresses: allowedAddresses(title),
    ...(apiUrl === undefined ? {} : { apiUrl: addressOr(apiUrl, `Base address of ${title}'s REST API`, `${prefix}_API_URL`) }),
    streamTokenMs: streamTokenMs(),
    startTimeoutMs: startTimeoutMs(5_000),
  });
  const secrets = z.object({
    streamKey: secret(
      `Key in the media address that ${title} is given; several, separated by commas, during a rotation`,
      `${prefix}_STREAM_KEY`,
    ),
    ...(apiUrl === undefined
      ? {}
      : { apiToken: secret(`API token of the ${title} account, for hang-ups and transfers over the REST API`, control.envName) }),
  });
  return defineCarrier({
    name,
    title,
    capabilities: smartfloCapabilities,
    offers: {
      audio: { from: 'mu-law 8 kHz', to: 'mu-law 8 kHz' },
      proof: { webhook: 'none', socket: 'key in the address, addresses' },
      dials: false,
      detectsMachines: false,
      transfer: apiUrl === undefined ? 'none' : 'rest',
      joins: false,
      listens: false,
    },
    speechFormat: MULAW_8K,
    settings,
    secrets,
    proof: { secret: 'streamKey', envName: `${prefix}_STREAM_KEY` },
    controlEnvName: control.envName,
    // Astradial has no known message that ends a call.
    codec: () => new SmartfloCodec(apiUrl !== undefined),
    problems: (config) =>
      new AddressList(config.settings.allowedAddresses).problems.map((message) => ({
        setting: 'allowedAddresses',
        message,
      })),
    door(config, keys) {
      const { allowedAddresses: addresses, streamTokenMs: tokenMs } = config.settings;
      const allowed = new AddressList(addresses);
      const isCarrier = (request: CarrierRequest): boolean => allowed.has(request.address) && hasKey(request, keys);
      return {
        kind: 'socket',
        readCall: (request) => (isCarrier(request) ? 'at-start' : 401),
        lookup: {
          streamTokenMs: tokenMs,
          // No document says that `$callId` is the stream's `callSid`.
          hasOtherIds: true,
          readCall: (request, query, botName) => (isCarrier(request) ? (readLookup(name, query, botName) ?? 400) : 401),
          // Exactly this form, including their spelling `sucess` ("Dynamic and Static WebSocket options in the Voice Streaming page").
          answer: ({ url }) => ({ contentType: 'application/json', text: JSON.stringify({ sucess: true, wss_url: url }) }),
        },
      };
    },
    control(config, { clock }) {
      const { apiUrl: url } = config.settings;
      const [apiToken] = config.secrets['apiToken'] ?? [];
      return typeof url !== 'string' || apiToken === undefined
        ? undefined
        : new SmartfloControl({ apiUrl: url, apiToken }, clock);
    },
  });
}

export const smartflo = carrierOf({
  name: 'smartflo',
  title: 'Tata Tele Smartflo',
  apiUrl: 'https://api-smartflo.tatateleservices.com',
});
export const acefone = carrierOf({ name: 'acefone', title: 'Acefone', apiUrl: 'https://api.acefone.in' });
export const astradial = carrierOf({ name: 'astradial', title: 'Astradial' });

function hasKey({ urls, headers }: CarrierRequest, keys: readonly Secret[]): boolean {
  const given = new URL(urls[0] ?? '', 'http://gateway').searchParams.get('key');
  const inQuery = given !== null && keys.map((key) => key.equals(given)).includes(true);
  return inQuery || hasBasicCredentials(headers['authorization'], USER, keys);
}

/** Query of the dynamic endpoint: its variables `$callId`, `$fromNumber` and `$toNumber`, under these names. */
function readLookup(
  carrier: string,
  query: Readonly<Record<string, string>>,
  botName: string | undefined,
): InboundCall | undefined {
  const { callId: carrierCallId = '', fromNumber: from = '', toNumber: to = '' } = query;
  if (carrierCallId === '' || carrierCallId.length > 128) return undefined;
  return { carrier, carrierCallId, from, to, direction: 'inbound', botName };
}
