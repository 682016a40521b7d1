import type { Clock } from '../../kernel/clock.ts';
import { sleep } from '../../kernel/waiting.ts';
import { wholeSeconds } from '../dialling.ts';
import { CarrierControlError, DialUnknownError } from '../errors.ts';
import type { CallControl, Dialling, DialOrder } from '../port.ts';
import { CallEvents, type ReportDial } from './call-events.ts';
import { EventSocket, type EventSocketSettings } from './event-socket.ts';
import { BUG_NAME, type MediaModule, startCommand, stopCommand } from './media-module.ts';

export interface FreeSwitchControlSettings extends EventSocketSettings {
  readonly module: MediaModule;
  readonly rateHz: number;
  /** Dial string with `{number}` in it: `sofia/gateway/trunk/{number}`. */
  readonly dialString: string;
  /** Profile for calls to SIP addresses. */
  readonly sipProfile: string;
}

/** Only characters without meaning in a dial string or command. */
const CHANNEL = /^[\w.-]{1,128}$/u;
const NUMBER = /^\+?[0-9]{1,32}$/u;
const SIP = /^sips?:[\w.+%~-]{1,100}@[\w.-]{1,100}(?::\d{1,5})?$/iu;
const DIGITS = /^[0-9*#w]{1,100}$/u;
const STREAM_URL = /^wss?:\/\/[\w.:[\]/-]+$/u;
/** Time from an order to its channel. */
const ORIGINATED_WITHIN_MS = 1_000;
const GONE = /No such channel|Invalid uuid|cannot locate/iu;

/**
 * Acts on channels of a FreeSWITCH over its event socket, one connection per action. Every part of a command is validated, so that one line is one
 * command.
 */
export class FreeSwitchControl implements CallControl {
  /** A channel is parked, or bridged, beside its media stream. */
  readonly outlivesStream = true;
  readonly dialling: Dialling;
  readonly #settings: FreeSwitchControlSettings;
  readonly #clock: Clock;
  readonly #events: CallEvents;

  /** @param report called for dialled calls */
  constructor(settings: FreeSwitchControlSettings, clock: Clock, report: ReportDial) {
    this.#settings = settings;
    this.#clock = clock;
    this.#events = new CallEvents(settings, clock, report);
    this.dialling = freeSwitchDialling(settings, clock, this.#events);
  }

  /** The channel of a call ordered a moment ago may not exist yet, and would still ring: it is tried once more. */
  async hangUp(carrierCallId: string, signal: AbortSignal): Promise<void> {
    const kill = [`uuid_kill ${channel(carrierCallId)}`];
    const wasThere = await this.#run(kill, signal, true);
    if (wasThere || !(await this.#events.isSilent(carrierCallId))) return;
    await sleep(this.#clock, ORIGINATED_WITHIN_MS, signal);
    await this.#run(kill, signal, true);
  }

  /** A stream continues beside a bridge, so it is stopped. */
  async transfer(carrierCallId: string, to: string, signal: AbortSignal): Promise<void> {
    const id = channel(carrierCallId);
    await this.#run([`uuid_transfer ${id} bridge:${calleeOf(to, this.#settings)} inline`], signal);
    await this.#run([stopCommand(this.#settings.module, id)], signal, true);
  }

  /** FreeSWITCH too waits half a second for a `w`. */
  async sendDigits(carrierCallId: string, digits: string, signal: AbortSignal): Promise<void> {
    if (!DIGITS.test(digits)) throw refused('keys are 0-9, *, # and w');
    await this.#run([`uuid_send_dtmf ${channel(carrierCallId)} ${digits}`], signal);
  }

  async join(carrierCallId: string, otherCarrierCallId: string, signal: AbortSignal): Promise<void> {
    const ids = [channel(carrierCallId), channel(otherCarrierCallId)];
    await this.#run([`uuid_bridge ${ids.join(' ')}`], signal);
    await this.#run(
      ids.map((id) => stopCommand(this.#settings.module, id)),
      signal,
      true,
    );
  }

  async fork(carrierCallId: string, streamUrl: string, signal: AbortSignal): Promise<void> {
    const { module, rateHz } = this.#settings;
    const start = { module, id: channel(carrierCallId), url: streamAddress(streamUrl), rateHz, mix: 'stereo' } as const;
    await this.#run([startCommand(start)], signal);
  }

  /**
   * @param isLenient a missing channel is no error
   * @returns whether every channel existed
   */
  async #run(commands: readonly string[], signal: AbortSignal, isLenient = false): Promise<boolean> {
    let wereThere = true;
    await using socket = await EventSocket.open(this.#settings, this.#clock, signal);
    for (const command of commands) {
      const answer = await asked(socket, `api ${command}`, signal);
      if (!answer.startsWith('-')) continue;
      if (!isLenient || !(GONE.test(answer) || command.includes(BUG_NAME)))
        throw refused(`FreeSWITCH answered ${answer.trim().slice(0, 100)}`);
      wereThere = false;
    }
    return wereThere;
  }
}

/** Places calls by `originate`, under our own call id. On the answer the channel runs a command that starts the media stream, and is parked. */
function freeSwitchDialling(settings: FreeSwitchControlSettings, clock: Clock, events: CallEvents): Dialling {
  /** An ended channel leaves no trace. */
  const progressOf: Dialling['progressOf'] = async (carrierCallId, signal) => {
    await using socket = await EventSocket.open(settings, clock, signal);
    const dump = await asked(socket, `api uuid_dump ${channel(carrierCallId)}`, signal);
    const state = /^Answer-State: (\w+)/mu.exec(dump)?.[1];
    if (state === undefined) return undefined;
    if (state === 'answered') return { state: 'answered' };
    return { state: state === 'ringing' || state === 'early' ? 'ringing' : 'queued' };
  };
  return {
    // FreeSWITCH itself starts 30 sessions a second (sessions-per-second of switch.conf.xml); trunks start fewer.
    capabilities: { callsPerSecond: 10, detectsMachines: false, canFind: true },
    progressOf,
    async dial(order, signal) {
      const id = channel(order.callId);
      const command = originateCommand(order, settings);
      const watch = await events.watch(id, signal).catch((cause: unknown) => {
        if (cause instanceof CarrierControlError) throw cause;
        const details = { retryable: true, surelyNotDone: true, cause };
        throw new CarrierControlError('FreeSWITCH was not asked for the call', details);
      });
      try {
        const reply = await watch.command(command, signal);
        if (!reply.startsWith('+OK')) throw refused(`FreeSWITCH answered ${reply.trim().slice(0, 100)}`);
      } catch (cause) {
        await watch.end();
        if (cause instanceof CarrierControlError) throw cause;
        throw new DialUnknownError('FreeSWITCH was asked for a call, and did not say whether it took the order', { cause });
      }
      return { carrierCallId: id };
    },
    async find({ callId }, _askedAtMs, signal) {
      const progress = await progressOf(callId, signal);
      return progress === undefined ? { found: 'unknown' } : { found: 'placed', carrierCallId: callId, progress };
    },
  };
}

/** @throws CarrierControlError for an order that cannot be written into a command */
function originateCommand(order: DialOrder, settings: FreeSwitchControlSettings): string {
  if (!NUMBER.test(order.from)) throw refused('a call comes from a number');
  const { module, rateHz } = settings;
  const start = { module, id: channel(order.callId), url: streamAddress(order.streamUrl), rateHz, mix: 'mono' } as const;
  const callee = calleeOf(order.to, settings);
  const variables = {
    origination_uuid: start.id,
    origination_caller_id_number: order.from,
    origination_caller_id_name: order.from,
    originate_timeout: wholeSeconds(order.ringTimeoutMs),
    ignore_early_media: 'true',
    // The channel waits for its own command, and connecting may take long.
    api_on_answer: `'bgapi ${startCommand(start)}'`,
    execute_on_answer: `'sched_hangup +${wholeSeconds(order.maxDurationMs)} allotted_timeout'`,
  };
  const given = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  return `bgapi originate {${given.join(',')}}${callee} &park()`;
}

async function asked(socket: EventSocket, command: string, signal: AbortSignal): Promise<string> {
  try {
    return await socket.command(command, signal);
  } catch (cause) {
    if (signal.aborted) throw cause;
    throw new CarrierControlError('FreeSWITCH did not answer', { retryable: true, cause });
  }
}

function channel(id: string): string {
  if (!CHANNEL.test(id)) throw refused('this is no id of a channel');
  return id;
}

function streamAddress(url: string): string {
  if (!STREAM_URL.test(url)) throw refused('the address of the stream cannot be written into a command');
  return url;
}

/** @throws CarrierControlError for anything but a number or a SIP address */
function calleeOf(to: string, { dialString, sipProfile }: FreeSwitchControlSettings): string {
  if (NUMBER.test(to)) return dialString.replace('{number}', to);
  if (SIP.test(to)) return `sofia/${sipProfile}/${to}`;
  throw refused('a number, or an address like sip:name@host, can be called');
}

function refused(message: string): CarrierControlError {
  return new CarrierControlError(message, { retryable: false, surelyNotDone: true });
}
