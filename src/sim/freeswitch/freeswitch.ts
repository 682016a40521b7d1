import { randomUUID } from 'node:crypto';
import type { Clock } from '../../kernel/clock.ts';
import { SimulatedAudioFork } from './audio-fork-stream.ts';
import type { DialledNews, DialledState, OnDial, SimulatedOrder } from '../caller/callee.ts';
import type { CallerLine } from '../caller/caller.ts';
import type { LineOptions } from '../carrier-line.ts';
import { mediaAddress, refusedSocket } from '../carrier-call.ts';
import { openWebSocket } from '../carrier-wire.ts';
import { basicOf, DialledCalls, DialledSide } from '../dialling-carrier.ts';
import { SimulatedEventSocket } from './event-socket-server.ts';
import type { PlaceOptions, SimulatedAccount, SimulatedCarrier, SimulatedCarrierCall } from '../simulated-carrier.ts';

/*
 * A FreeSWITCH with jambonz' mod_audio_fork, from its own side: a dialplan that opens the module's socket and parks the channel, and the event socket.
 */

const USER = 'offhook';
/** Of the dialplan's `bind_digit_action`. */
const keyMessage = (digit: string): object => ({ dtmf: digit });

/** A media socket of a channel. */
interface Fork {
  readonly url: string;
  readonly metadata: string;
  readonly rateHz: number;
  readonly clock: Clock;
  readonly line?: LineOptions | undefined;
  readonly password?: string;
  readonly stereo?: boolean;
}

/** One channel. It goes on when its media socket is gone, until somebody ends it. */
class SimulatedChannel implements SimulatedCarrierCall {
  readonly carrierCallId: string;
  readonly said: readonly string[] = [];
  readonly digits: string[] = [];
  dialled: string | undefined;
  /** The channel that this one was bridged to. */
  bridgedTo: string | undefined;
  stream: SimulatedAudioFork | undefined;
  readonly ended: Promise<void>;
  #end: () => void = () => undefined;
  #isOver = false;

  constructor(carrierCallId: string) {
    this.carrierCallId = carrierCallId;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  get line(): SimulatedAudioFork {
    if (this.stream === undefined) throw new Error('the call has no media stream');
    return this.stream;
  }

  /** @throws when the gateway does not upgrade the socket */
  async fork({ url, metadata, rateHz, clock, line, password, stereo = false }: Fork): Promise<void> {
    const headers = password === undefined ? {} : { authorization: basicOf(USER, password) };
    const wire = await openWebSocket(url, { headers, protocols: ['audio.drachtio.org'] });
    this.stream = new SimulatedAudioFork(wire, clock, { metadata, rateHz, stereo, streaming: !stereo, keyMessage }, line);
    // The module raises an event for it, and does nothing.
    this.stream.onDisconnect = () => undefined;
    if (this.#isOver) this.stream.stop();
  }

  /** Connected to somebody, and with no media socket any more. */
  leave(): void {
    this.stream?.stop();
    this.#end();
  }

  hangUp(): Promise<void> {
    this.#isOver = true;
    this.stream?.stop();
    this.#end();
    return Promise.resolve();
  }
}

const CAUSES: Readonly<Record<DialledState, string>> = {
  queued: '',
  ringing: '',
  answered: '',
  completed: 'NORMAL_CLEARING',
  busy: 'USER_BUSY',
  'no-answer': 'NO_ANSWER',
  rejected: 'CALL_REJECTED',
  failed: 'NORMAL_TEMPORARY_FAILURE',
  cancelled: 'NORMAL_CLEARING',
};
const EVENTS: Partial<Record<DialledState, string>> = { ringing: 'CHANNEL_PROGRESS', answered: 'CHANNEL_ANSWER' };

/** A channel that `originate` made. */
class DialledChannel extends DialledSide<SimulatedChannel> {
  readonly #emit: SimulatedEventSocket['emit'];
  readonly #onAnswer: string;
  readonly #clock: Clock;

  constructor(order: SimulatedOrder, onAnswer: string, clock: Clock, emit: SimulatedEventSocket['emit']) {
    super(() => new SimulatedChannel(order.carrierCallId));
    this.#emit = emit;
    this.#onAnswer = onAnswer;
    this.#clock = clock;
  }

  report(news: DialledNews): Promise<void> {
    if ('detected' in news || news.state === 'queued') return Promise.resolve();
    const fields = { 'Event-Name': EVENTS[news.state] ?? 'CHANNEL_HANGUP_COMPLETE', 'Unique-ID': this.call.carrierCallId };
    const cause = CAUSES[news.state];
    const end = {
      'Hangup-Cause': news.state === 'failed' && news.sip === 480 ? 'NO_USER_RESPONSE' : cause,
      ...(news.sip === undefined || news.sip === 200 ? {} : { variable_sip_term_status: String(news.sip) }),
    };
    this.#emit(cause === '' ? fields : { ...fields, ...end });
    return Promise.resolve();
  }

  protected override async answer(): Promise<CallerLine> {
    const start = /^bgapi uuid_audio_fork (\S+) start (\S+) mono (\d+) \S+ (\S+) true true \d+$/u.exec(this.#onAnswer);
    const [, id, url = '', rate, metadata = ''] = start ?? [];
    if (id !== this.call.carrierCallId) throw new Error(`this starts no media: ${this.#onAnswer}`);
    await this.call.fork({ url, metadata, rateHz: Number(rate), clock: this.#clock, line: this.stream });
    return this.call.line;
  }
}

export interface FreeSwitchOptions {
  readonly clock: Clock;
  readonly onDial?: OnDial;
}

const ORIGINATE = /^originate \{(?<variables>.*)\}(?<callee>\S+) &park\(\)$/u;
const ESL_PASSWORD = 'of-the-event-socket';

export class SimulatedFreeSwitch implements AsyncDisposable {
  readonly dialled: DialledCalls<DialledChannel>;
  readonly eslPassword = ESL_PASSWORD;
  readonly #clock: Clock;
  readonly #channels = new Map<string, SimulatedChannel>();
  #socket: SimulatedEventSocket | undefined;

  private constructor(options: FreeSwitchOptions) {
    this.#clock = options.clock;
    const nobody: OnDial = () => ({ order: { kind: 'refused', status: 400 }, outcome: { kind: 'no-answer' } });
    this.dialled = new DialledCalls({ onDial: nobody, ...options });
  }

  static async start(options: FreeSwitchOptions): Promise<SimulatedFreeSwitch> {
    const freeSwitch = new SimulatedFreeSwitch(options);
    freeSwitch.#socket = await SimulatedEventSocket.start(ESL_PASSWORD, (command) => freeSwitch.#run(command));
    return freeSwitch;
  }

  get socket(): SimulatedEventSocket {
    if (this.#socket === undefined) throw new Error('the event socket is not open');
    return this.#socket;
  }

  channel(id: string): SimulatedChannel | undefined {
    return this.#channels.get(id) ?? this.dialled.find(id)?.side.call;
  }

  /** A call that the dialplan connects. @throws CallRefused */
  async place(options: PlaceOptions, password: string): Promise<SimulatedChannel> {
    const { clock, carrierCallId, stream: line, from = '+15550100001', to = '+15550100002' } = options;
    const channel = new SimulatedChannel(carrierCallId ?? randomUUID());
    const query = new URLSearchParams({ call: channel.carrierCallId, from, to });
    const url = mediaAddress('freeswitch', options, `?${query.toString()}`);
    await channel.fork({ url, metadata: 'offhook', rateHz: 8_000, clock, line, password }).catch(refusedSocket);
    this.#channels.set(channel.carrierCallId, channel);
    return channel;
  }

  async #run(command: string): Promise<string | undefined> {
    const [verb = '', id = '', ...rest] = command.split(' ');
    if (verb === 'originate') return this.#originate(command);
    const phone = this.dialled.find(id)?.phone;
    const channel = phone?.isOver === true ? undefined : this.channel(id);
    if (channel === undefined) return '-ERR No such channel!\n';
    switch (verb) {
      case 'uuid_kill':
        if (phone === undefined) await channel.hangUp();
        else phone.cancel();
        return '+OK\n';
      case 'uuid_transfer': {
        const bridge = /^bridge:(\S+)$/u.exec(rest[0] ?? '')?.[1];
        if (bridge === undefined || rest[1] !== 'inline') return '-ERR no dialplan\n';
        channel.dialled = bridge.slice(bridge.lastIndexOf('/') + 1);
        return '+OK\n';
      }
      case 'uuid_audio_fork':
        if (rest[0] === 'start') return this.#forked(channel, command);
        channel.leave();
        return '+OK Success\n';
      case 'uuid_send_dtmf':
        channel.digits.push(...(rest[0] ?? '').replaceAll('w', '').split(''));
        return '+OK\n';
      case 'uuid_bridge': {
        const other = this.channel(rest[0] ?? '');
        if (other === undefined) return '-ERR Invalid uuid\n';
        [channel.bridgedTo, other.bridgedTo] = [other.carrierCallId, id];
        return `+OK ${other.carrierCallId}\n`;
      }
      case 'uuid_dump':
        return `Event-Name: CHANNEL_DATA\nAnswer-State: ${answerState(phone?.state)}\nUnique-ID: ${id}\n`;
      default:
        return `-ERR ${verb} Command not found!\n`;
    }
  }

  /** A copy of a channel that is up. Nothing of ours is played into it. */
  async #forked(channel: SimulatedChannel, command: string): Promise<string> {
    const [, url = '', rate, metadata = ''] = /start (\S+) stereo (\d+) \S+ (\{\S+\})$/u.exec(command) ?? [];
    if (metadata === '') return '-ERR Operation Failed\n';
    const about = { url, metadata, rateHz: Number(rate), clock: this.#clock };
    await channel.fork({ ...about, line: { lineNoise: 0 }, stereo: true });
    return '+OK Success\n';
  }

  /** A channel whose two ends are people. */
  bridged(): SimulatedChannel {
    const channel = new SimulatedChannel(randomUUID());
    this.#channels.set(channel.carrierCallId, channel);
    return channel;
  }

  async #originate(command: string): Promise<string | undefined> {
    const { variables = '', callee = '' } = ORIGINATE.exec(command)?.groups ?? {};
    const given = new Map(
      [...variables.matchAll(/(\w+)=(?:'([^']*)'|([^,]*))(?:,|$)/gu)].map((part) => [part[1], part[2] ?? part[3]]),
    );
    const id = given.get('origination_uuid') ?? '';
    const asked: Omit<SimulatedOrder, 'index'> = {
      from: given.get('origination_caller_id_number') ?? '',
      to: callee.slice(callee.lastIndexOf('/') + 1),
      carrierCallId: id,
      // FreeSWITCH reports by events.
      statusUrl: `event:${id}`,
      ringTimeoutMs: Number(given.get('originate_timeout')) * 1000,
      maxDurationMs: Number(/\+(\d+)/u.exec(given.get('execute_on_answer') ?? '')?.[1]) * 1000,
      detectMachine: false,
    };
    const onAnswer = given.get('api_on_answer') ?? '';
    const ordered = await this.dialled.order(
      asked,
      (order) => new DialledChannel(order, onAnswer, this.#clock, (fields, body) => this.socket.emit(fields, body)),
    );
    switch (ordered.kind) {
      case 'lost':
        return undefined;
      case 'refused':
        return '-ERR GATEWAY_DOWN\n';
      case 'placed':
        return `+OK ${id}\n`;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.dialled.close();
    for (const channel of this.#channels.values()) await channel.hangUp();
    await this.#socket?.[Symbol.asyncDispose]();
  }
}

function answerState(state: DialledState | undefined): string {
  return state === undefined || state === 'answered' ? 'answered' : 'ringing';
}

const PASSWORD = 'of-the-simulated-freeswitch';

export const simulatedFreeSwitch: SimulatedCarrier = {
  name: 'freeswitch',
  async open(options): Promise<SimulatedAccount> {
    const freeSwitch = await SimulatedFreeSwitch.start(options);
    return {
      env: {
        OFFHOOK_FREESWITCH_PASSWORD: PASSWORD,
        OFFHOOK_FREESWITCH_ESL_HOST: '127.0.0.1',
        OFFHOOK_FREESWITCH_ESL_PORT: String(freeSwitch.socket.port),
        OFFHOOK_FREESWITCH_ESL_PASSWORD: ESL_PASSWORD,
      },
      place: (options) => freeSwitch.place(options, PASSWORD),
      [Symbol.asyncDispose]: () => freeSwitch[Symbol.asyncDispose](),
    };
  },
};
