import { randomBytes } from 'node:crypto';
import { getExpectedTwilioSignature } from 'twilio/lib/webhooks/webhooks.js';
import { sleep } from '../../kernel/waiting.ts';
import { errorText } from '../../kernel/errors.ts';
import { type CallEnd, CarrierCall, type CallOptions } from '../carrier-call.ts';
import { reachedAddress } from '../carrier-wire.ts';
import { CallRefused } from '../errors.ts';
import { SimulatedStream, type StreamOptions } from './stream.ts';
import { readTwiml, type Verb } from './twiml.ts';

export interface DialOptions extends CallOptions {
  readonly authToken: string;
  /** Of a carrier that speaks this one's protocol: its name in the gateway's addresses. */
  readonly carrier?: string;
  /** Where its addresses begin at the gateway, as of a tenant's account; `/carriers/<carrier>` when absent. */
  readonly route?: string;
  /** The header that it signs webhooks in. */
  readonly header?: string | undefined;
  readonly accountSid?: string;
  readonly stream?: StreamOptions;
  /** As Twilio names it; `inbound` when absent. */
  readonly direction?: string;
}

export { CallRefused } from '../errors.ts';

const MOST_REDIRECTS = 10;
/** Who is in each conference. */
const ROOMS = new Map<string, Set<SimulatedCall>>();

/** The call goes on in a conference: it has no stream, and is not over. */
class InConference extends Error {}

/**
 * One phone call as Twilio would deliver it: a signed voice webhook, the answer document, its media stream, what the document
 * says next once the gateway closed the stream (nothing: the call is over), a signed status callback at the end. Real
 * sockets, no account.
 */
export class SimulatedCall extends CarrierCall<SimulatedStream, DialOptions> {
  readonly accountSid: string;
  /** The keys that the carrier's own voice pressed for `<Play digits>`. */
  readonly playedDigits: string[] = [];
  /** The conference that the call is in, or was. */
  conference: { readonly room: string; readonly attributes: Readonly<Record<string, string>> } | undefined;

  constructor(options: DialOptions) {
    super(options, newCallSid());
    this.accountSid = options.accountSid ?? `AC${randomBytes(16).toString('hex')}`;
  }

  get callSid(): string {
    return this.carrierCallId;
  }

  get stream(): SimulatedStream {
    return this.line;
  }

  /** Keys of documents, then those of messages. */
  override get digits(): string[] {
    return [...this.playedDigits, ...this.streams.flatMap(({ digits }) => digits)];
  }

  /**
   * Fetches the answer document and opens its stream; again, for the same call, when it was redirected or its socket was
   * dropped. A stream that is still open is stopped first, as by a redirect.
   * @throws CallRefused when no stream opens; the call is over then
   */
  async connect(): Promise<SimulatedStream> {
    const { bot } = this.options;
    const status = this.streams.length === 0 ? 'ringing' : 'in-progress';
    this.streams.at(-1)?.stop();
    return this.answerFrom(`${this.#route}/voice${bot === undefined ? '' : `/${bot}`}`, status);
  }

  /** Fetches a document that a request named, and obeys it. @throws as `answer` */
  answerFrom(address: string, status = 'in-progress'): Promise<SimulatedStream> {
    return this.begin(async () => this.#follow(await this.#fetchDocument(address, status)));
  }

  /** The same for a call that is updated. Never rejects. */
  async updateFrom(address: string): Promise<void> {
    const document = await this.#fetchDocument(address, 'in-progress').catch(() => readTwiml('<Response><Hangup/></Response>'));
    await this.update(document);
  }

  /** Obeys the document that a dialled call was ordered with. @throws CallRefused when no stream opens; the call is over then */
  answer(document: readonly Verb[]): Promise<SimulatedStream> {
    return this.begin(() => this.#follow(document));
  }

  /**
   * What an update of the live call over the REST interface does: its stream is stopped, and the new document is obeyed.
   * Never rejects; the call is over when the document leads nowhere.
   */
  async update(document: readonly Verb[]): Promise<void> {
    this.streams.at(-1)?.stop();
    await this.#goOn(document);
  }

  async #fetchDocument(path: string, status: string): Promise<readonly Verb[]> {
    const answer = await this.#post(path, { CallStatus: status });
    if (answer.status !== 200) throw new CallRefused(`the voice webhook answered ${answer.status}`, this.said);
    return readTwiml(answer.body);
  }

  /** Obeys a document until it opens a stream. */
  async #follow(document: readonly Verb[]): Promise<SimulatedStream> {
    let verbs = document;
    for (let at = 0, redirects = 0; at < verbs.length; at += 1) {
      const verb = verbs[at]!;
      switch (verb.verb) {
        case 'stream':
          return this.#open(verb, verbs.slice(at + 1));
        case 'say':
          this.said.push(verb.text);
          break;
        case 'play':
          if (verb.digits !== '') this.playedDigits.push(verb.digits);
          break;
        case 'pause':
          await sleep(this.options.clock, verb.seconds * 1000);
          break;
        case 'redirect':
          redirects += 1;
          if (redirects > MOST_REDIRECTS) throw new CallRefused('the answer documents redirect without end', this.said);
          verbs = await this.#fetchDocument(verb.url, 'in-progress');
          at = -1;
          break;
        case 'dial':
          this.dialled = verb.to;
          throw new CallRefused('the call goes on with somebody else', this.said);
        case 'conference':
          throw new InConference(this.#enter(verb));
        case 'hang-up':
          throw new CallRefused('the answer document hangs up', this.said);
        case 'unknown':
      }
    }
    throw new CallRefused('the answer document opens no stream', this.said);
  }

  async #open(target: Extract<Verb, { verb: 'stream' }>, rest: readonly Verb[]): Promise<SimulatedStream> {
    const ids = { callSid: this.callSid, accountSid: this.accountSid };
    const { clock, stream: options } = this.options;
    let stream: SimulatedStream;
    try {
      const reached = { ...target, url: reachedAddress(target.url, this.options) };
      stream = await SimulatedStream.open(reached, ids, clock, this.#signUpgrade(target.url), options);
    } catch (error) {
      throw new CallRefused(`31920: the media stream was refused: ${errorText(error)}`, this.said, error);
    }
    this.opened(stream);
    // A socket that breaks ends the stream as one that the gateway closes (errors 31921, 31903): the next verb is obeyed.
    void stream.ended.then(({ byGateway }) => (byGateway ? this.#goOn(rest) : undefined));
    return stream;
  }

  /** The gateway closed the stream: the verbs behind it come next, and after the last one the call is over. */
  async #goOn(rest: readonly Verb[]): Promise<void> {
    try {
      await this.#follow(rest);
    } catch (error) {
      if (error instanceof InConference) return;
      const problem = error instanceof CallRefused ? undefined : (error as Error);
      await this.finish({ by: 'gateway', problem });
    }
  }

  /** Waits in a conference, or talks to whoever is in it. @returns its room */
  #enter({ room, attributes }: Extract<Verb, { verb: 'conference' }>): string {
    const inside = ROOMS.get(room) ?? new Set();
    ROOMS.set(room, inside);
    if (inside.size >= Number(attributes['maxParticipants'] ?? 250)) throw new CallRefused('the conference is full', this.said);
    inside.add(this);
    this.conference = { room, attributes };
    return room;
  }

  /** Whoever leaves may end the conference for the others. */
  #leave(): void {
    if (this.conference === undefined) return;
    const { room, attributes } = this.conference;
    const inside = ROOMS.get(room);
    inside?.delete(this);
    if (inside?.size === 0) ROOMS.delete(room);
    if (attributes['endConferenceOnExit'] !== 'true') return;
    for (const other of inside ?? []) void other.finish({ by: 'gateway', problem: undefined });
  }

  protected override async finish(end?: CallEnd): Promise<void> {
    if (!this.isOver) this.#leave();
    await super.finish(end);
  }

  protected override tellEnd(): Promise<unknown> {
    return this.#post(`${this.#route}/status`, { CallStatus: 'completed' });
  }

  get #route(): string {
    const { carrier = 'twilio', route = `/carriers/${carrier}` } = this.options;
    return route;
  }

  #signUpgrade(streamUrl: string): string {
    return getExpectedTwilioSignature(this.options.authToken, streamUrl, {});
  }

  #post(path: string, more: Record<string, string>): Promise<{ status: number; body: string }> {
    const { url, authToken, from = '+15550100001', to = '+15550100002', direction: Direction = 'inbound' } = this.options;
    const address = new URL(path, url).href;
    const { callSid, accountSid } = this;
    const facts = { callSid, accountSid, from, to };
    return this.ask(path, signedWebhook(address, authToken, facts, { Direction, ...more }, this.options.header));
  }
}

/** A call id as the carrier makes them. */
export function newCallSid(): string {
  return `CA${randomBytes(16).toString('hex')}`;
}

/** Places a call and waits until its media stream is open. @throws CallRefused */
export async function dialTwilio(options: DialOptions): Promise<SimulatedCall> {
  const call = new SimulatedCall(options);
  await call.connect();
  return call;
}

export interface VoiceWebhook {
  readonly callSid: string;
  readonly accountSid: string;
  readonly from: string;
  readonly to: string;
}

/**
 * What Twilio sends of an inbound call to a webhook, signed.
 * @param more of the kind of webhook: the call's status, keys that were gathered
 */
export function signedWebhook(
  address: string,
  authToken: string,
  { callSid, accountSid, from, to }: VoiceWebhook,
  more: Readonly<Record<string, string>>,
  header?: string,
): { readonly method: 'POST'; readonly headers: Record<string, string>; readonly body: URLSearchParams } {
  const fields = {
    CallSid: callSid,
    AccountSid: accountSid,
    From: from,
    To: to,
    Direction: 'inbound',
    ApiVersion: '2010-04-01',
    ...more,
  };
  return signedForm(address, authToken, fields, header);
}

/** Any form, as Twilio posts and signs it. @param header that has the signature, at a carrier that signs as Twilio does */
export function signedForm(
  address: string,
  authToken: string,
  fields: Readonly<Record<string, string>>,
  header = 'x-twilio-signature',
): { readonly method: 'POST'; readonly headers: Record<string, string>; readonly body: URLSearchParams } {
  return {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      [header]: getExpectedTwilioSignature(authToken, address, fields),
    },
    body: new URLSearchParams(fields),
  };
}
