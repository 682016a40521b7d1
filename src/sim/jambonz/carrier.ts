import { createHmac, randomUUID } from 'node:crypto';
import { SimulatedAudioFork } from '../freeswitch/audio-fork-stream.ts';
import { openWebSocket, reachedAddress } from '../carrier-wire.ts';
import { CallRefused } from '../errors.ts';
import { type CallOptions, CarrierCall } from '../carrier-call.ts';

/*
 * jambonz from its own side, written from its schema and its feature server: signed webhooks, verbs one after another, and the media socket of
 * `listen`, which is mod_audio_fork's.
 */

export type Verb = { readonly verb: string; readonly [field: string]: unknown };

export interface JambonzCallOptions extends CallOptions {
  readonly webhookSecret: string;
  readonly direction?: 'inbound' | 'outbound';
}

interface ListenVerb {
  readonly url: string;
  readonly sampleRate?: number;
  readonly mixType?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly wsAuth?: { readonly username: string; readonly password: string };
  readonly bidirectionalAudio?: { readonly enabled?: boolean; readonly streaming?: boolean; readonly sampleRate?: number };
}

/** One call as jambonz has it. */
export class SimulatedJambonzCall extends CarrierCall<SimulatedAudioFork, JambonzCallOptions> {
  /** The conference that the call was put into. */
  conference: string | undefined;
  /** Counts the lists of verbs: those of an older one are not obeyed any more. */
  #application = 0;

  constructor(options: JambonzCallOptions) {
    super(options, randomUUID());
  }

  /** Asks the calling webhook and obeys it until a media socket is open. @throws CallRefused when none opens; the call is over then */
  connect(): Promise<SimulatedAudioFork> {
    return this.beginWith(this.voicePath('jambonz'));
  }

  /** The same with the webhook of an order. */
  beginWith(hook: string): Promise<SimulatedAudioFork> {
    return this.begin(async () => {
      const answer = await this.post(hook, { ...this.facts('in-progress', 200), defaults: {}, sip: { headers: {} } });
      if (answer.status !== 200) throw new CallRefused(`the calling webhook answered ${answer.status}`, this.said);
      await this.#obey(JSON.parse(answer.body) as readonly Verb[]);
    }, 'the verbs open no media socket');
  }

  /** A new `call_hook` of a live call: what it answers replaces the verbs that are left. */
  async redirect(hook: string): Promise<void> {
    const answer = await this.post(hook, this.facts('in-progress', 200));
    if (answer.status === 200) await this.#obey(JSON.parse(answer.body) as readonly Verb[]);
  }

  override async hangUp(): Promise<void> {
    this.#application += 1;
    await super.hangUp();
  }

  facts(status: string, sipStatus: number): Readonly<Record<string, unknown>> {
    const { direction = 'inbound', from = '+15550100001', to = '+15550100002' } = this.options;
    const account = { account_sid: ACCOUNT_SID, application_sid: APPLICATION_SID, trace_id: 'f2a1' };
    return { call_sid: this.carrierCallId, direction, from, to, call_status: status, sip_status: sipStatus, ...account };
  }

  /** A webhook as jambonz signs it. */
  post(hook: string, body: object): Promise<{ readonly status: number; readonly body: string }> {
    const { webhookSecret, clock } = this.options;
    const text = JSON.stringify(body);
    const seconds = Math.floor(clock.wallMs() / 1000);
    const signature = createHmac('sha256', webhookSecret).update(`${seconds}.${text}`).digest('hex');
    const headers = { 'content-type': 'application/json', 'jambonz-signature': `t=${seconds},v1=${signature}` };
    return this.ask(hook, { headers, body: text });
  }

  protected override tellEnd(): Promise<unknown> {
    return this.post('/carriers/jambonz/status', { ...this.facts('completed', 200), duration: 7 });
  }

  /** Obeys verbs until one of them is a media socket, which the rest waits for. */
  async #obey(verbs: readonly Verb[]): Promise<SimulatedAudioFork | undefined> {
    const application = (this.#application += 1);
    const before = this.streams.at(-1);
    if (before?.open === true) before.stop();
    for (const [at, verb] of verbs.entries()) {
      if (application !== this.#application) return undefined;
      switch (verb.verb) {
        case 'say':
          this.said.push(String(verb['text']));
          continue;
        case 'dial': {
          const [target] = verb['target'] as readonly Readonly<Record<string, unknown>>[];
          this.dialled = String(target?.['number'] ?? target?.['sipUri']);
          this.passOn();
          return undefined;
        }
        case 'conference':
          this.conference = String(verb['name']);
          this.passOn();
          return undefined;
        case 'listen': {
          const opened = await this.#listen(verb as unknown as ListenVerb).catch(() => undefined);
          if (opened === undefined) continue;
          this.opened(opened);
          void opened.ended.then(() => {
            if (application === this.#application) void this.#obey(verbs.slice(at + 1));
          });
          return opened;
        }
        case 'redirect':
          await this.redirect(String(verb['actionHook']));
          return this.streams.at(-1);
        case 'hangup':
          await this.finish();
          return undefined;
        default:
          throw new Error(`there is no verb ${verb.verb}`);
      }
    }
    await this.finish();
    return undefined;
  }

  async #listen(verb: ListenVerb): Promise<SimulatedAudioFork> {
    const { clock, stream, direction = 'inbound', from = '+15550100001', to = '+15550100002' } = this.options;
    const { sampleRate = 8_000, mixType = 'mono', wsAuth, bidirectionalAudio, metadata = {} } = verb;
    const { streaming = false, sampleRate: ours = sampleRate } = bidirectionalAudio ?? {};
    if (ours !== sampleRate) throw new Error('this simulator has one rate');
    const auth = wsAuth === undefined ? {} : { authorization: `Basic ${btoa(`${wsAuth.username}:${wsAuth.password}`)}` };
    const wire = await openWebSocket(reachedAddress(verb.url, this.options), {
      headers: auth,
      protocols: ['audio.jambonz.org'],
    });
    const info = { callSid: this.carrierCallId, direction, from, to, callStatus: 'in-progress', accountSid: ACCOUNT_SID };
    const about = { metadata: { sampleRate, mixType, ...info, ...escaped(metadata) }, rateHz: sampleRate, streaming };
    return new SimulatedAudioFork(wire, clock, { ...about, stereo: mixType === 'stereo' }, stream);
  }
}

export const ACCOUNT_SID = '0a9d4c11-6f4e-4f0b-8a7e-2d8b7f1f5c10';
const APPLICATION_SID = '5f0a5d5c-3c64-4c1e-9d1c-7d2b0f7b9a11';

/** Quotes and line ends in texts come escaped once more than JSON does. */
function escaped(metadata: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(metadata).map(([name, value]) => [
      name,
      typeof value === 'string' ? value.replaceAll('"', '\\"').replaceAll('\n', '\\n') : value,
    ]),
  );
}
