import type { Clock } from '../../kernel/clock.ts';
import { progressBy, type ProgressWords, sipStatus, unansweredEnd } from '../dialling.ts';
import type { DialProgress } from '../port.ts';
import { type EslMessage, EventSocket, type EventSocketSettings } from './event-socket.ts';

/** Reports the progress of a dialled call. */
export type ReportDial = (callId: string, report: { readonly carrierCallId: string; readonly progress: DialProgress }) => void;

/** A watched call. */
export interface WatchedCall {
  /** Runs a `bgapi` command on behalf of the call. */
  command(line: string, signal: AbortSignal): Promise<string>;
  /** Stops watching. */
  end(): Promise<void>;
}

const EVENTS = 'event plain CHANNEL_PROGRESS CHANNEL_PROGRESS_MEDIA CHANNEL_ANSWER CHANNEL_HANGUP_COMPLETE BACKGROUND_JOB';

/**
 * Events of dialled calls, over one shared connection that exists while calls are watched. A lost connection is not reopened for its calls: their
 * progress is polled (`Dialling.progressOf`).
 */
export class CallEvents {
  readonly #settings: EventSocketSettings;
  readonly #clock: Clock;
  readonly #report: ReportDial;
  #open: Promise<Connection> | undefined;

  constructor(settings: EventSocketSettings, clock: Clock, report: ReportDial) {
    this.#settings = settings;
    this.#clock = clock;
    this.#report = report;
  }

  /** Watches a call until it ends. @throws CarrierControlError when FreeSWITCH cannot be reached */
  async watch(callId: string, signal: AbortSignal): Promise<WatchedCall> {
    this.#open ??= this.#connect(signal);
    const opening = this.#open;
    try {
      const connection = await opening;
      connection.calls.set(callId, { isAnswered: false, hasEvent: false });
      // Both, as an order without a channel only ends its job.
      for (const field of ['Unique-ID', 'Job-UUID']) await connection.socket.command(`filter ${field} ${callId}`, signal);
      return {
        command: (line, until) => connection.socket.command(line, until, callId),
        end: () => this.#leave(connection, callId),
      };
    } catch (error) {
      if (this.#open === opening) this.#open = undefined;
      throw error;
    }
  }

  /** Whether a watched call has had no event yet: its channel may not exist so far. */
  async isSilent(callId: string): Promise<boolean> {
    const connection = await this.#open?.catch(() => undefined);
    return connection?.calls.get(callId)?.hasEvent === false;
  }

  async #connect(signal: AbortSignal): Promise<Connection> {
    const calls: Connection['calls'] = new Map();
    const socket = await EventSocket.open(this.#settings, this.#clock, signal, (event) => this.#take(connection, event));
    const connection: Connection = { socket, calls };
    await socket.command(EVENTS, signal);
    const opened = this.#open;
    void socket.closed.then(() => {
      if (this.#open === opened) this.#open = undefined;
    });
    return connection;
  }

  #take(connection: Connection, event: EslMessage): void {
    const name = event.head.get('event-name') ?? '';
    const callId = event.head.get(name === 'BACKGROUND_JOB' ? 'job-uuid' : 'unique-id') ?? '';
    const call = connection.calls.get(callId);
    if (call === undefined) return;
    call.hasEvent = true;
    const progress = progressOf(name, event, call.isAnswered);
    if (progress === undefined) return;
    call.isAnswered ||= progress.state === 'answered';
    if (progress.state === 'ended') void this.#leave(connection, callId);
    this.#report(callId, { carrierCallId: callId, progress });
  }

  async #leave({ socket, calls }: Connection, callId: string): Promise<void> {
    if (!calls.delete(callId)) return;
    if (calls.size === 0) {
      this.#open = undefined;
      await socket[Symbol.asyncDispose]();
      return;
    }
    const signal = AbortSignal.timeout(5_000);
    for (const field of ['Unique-ID', 'Job-UUID'])
      await socket.command(`filter delete ${field} ${callId}`, signal).catch(() => undefined);
  }
}

interface Connection {
  readonly socket: EventSocket;
  readonly calls: Map<string, { isAnswered: boolean; hasEvent: boolean }>;
}

function progressOf(name: string, event: EslMessage, isAnswered: boolean): DialProgress | undefined {
  switch (name) {
    case 'CHANNEL_PROGRESS':
    case 'CHANNEL_PROGRESS_MEDIA':
      return { state: 'ringing' };
    case 'CHANNEL_ANSWER':
      return { state: 'answered' };
    case 'CHANNEL_HANGUP_COMPLETE':
      if (isAnswered) return { state: 'ended', outcome: 'completed' };
      return endOf(event.head.get('hangup-cause') ?? '', event.head.get('variable_sip_term_status'));
    case 'BACKGROUND_JOB': {
      // A channel's end comes first, where there was one.
      const cause = /^-ERR (\w+)/u.exec(event.body)?.[1];
      return cause === undefined ? undefined : endOf(cause, undefined);
    }
    default:
      return undefined;
  }
}

const CAUSES: ProgressWords = {
  USER_BUSY: 'busy',
  NO_ANSWER: 'no-answer',
  NO_USER_RESPONSE: 'no-answer',
  ALLOTTED_TIMEOUT: 'no-answer',
  PROGRESS_TIMEOUT: 'no-answer',
  SUBSCRIBER_ABSENT: 'no-answer',
  CALL_REJECTED: 'rejected',
  NORMAL_CLEARING: 'cancelled',
  ORIGINATOR_CANCEL: 'cancelled',
  MANAGER_REQUEST: 'cancelled',
};

/** @param cause Q.850, in FreeSWITCH's words. @param status SIP's, where there is one */
export function endOf(cause: string, status: string | undefined): DialProgress {
  const sip = sipStatus(status);
  const about = { sip, code: sip === undefined ? cause.slice(0, 60) : undefined };
  return progressBy(CAUSES, cause, about) ?? unansweredEnd('failed', about);
}
