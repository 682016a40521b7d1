import type { Socket } from 'node:net';
import type { CallAnswer } from '../call/admission/call-door.ts';
import type { CarrierCall } from '../call/live-session.ts';
import type { DialledReport } from '../carriers/carrier.ts';
import type { Attachment, InboundCall } from '../carriers/port.ts';
import type { StreamGrant } from '../carriers/stream-token.ts';
import type { Clock, Timer } from '../kernel/clock.ts';

/** The interface between carriers' routes and the calls. */
export interface CallIntake {
  /**
   * Admits or refuses a verified call. For a `carrierCallId` whose call is alive (a redirect, a dead socket) the answer has the same `callId` and a
   * new `attachmentId`; `attached` where a repeated webhook finds its call's socket open.
   */
  answer(inbound: InboundCall): CallAnswer | Promise<CallAnswer>;
  /** The media of an accepted answer has started. Exactly one of `attach` and `abandon` follows each accepted answer. */
  attach(callId: string, attachment: Attachment): void;
  /** No media will come for this attachment: the socket never came, never started, or named another call. */
  abandon(callId: string, attachmentId: string, reason: string): void;
  /** The carrier reports on a call, possibly an unknown one. `terminal`: it is over. */
  carrierStatus(call: CarrierCall, status: string, terminal: boolean): void;
  /** The carrier reports a key, for carriers whose stream has none. */
  keyReported(call: CarrierCall, digit: string): void;
  /** A signed report on a dialled call, at the dial's report address; precedes its `carrierStatus`. */
  dialReported(callId: string, report: DialledReport): void;
}

/** Keeps track of promised media. */
export interface MediaExpectations {
  expect(callId: string, attachmentId: string, withinMs: number): void;
  abandon(attachmentId: string, reason: string): void;
}

/** An admitted media socket's upgrade. */
export interface MediaUpgrade {
  readonly socket: Socket;
  /** `tcp`: the carrier's own framing without an upgrade; a WebSocket when absent. */
  readonly transport?: 'websocket' | 'tcp';
  readonly headers: Readonly<Record<string, string>>;
  /** Bytes sent after the request; none from a client that follows RFC 6455. */
  readonly early: Uint8Array;
  /** The upgrade was already answered, as the first messages had to name the call. */
  readonly answered?: boolean;
  readonly address: string;
}

/** Media of calls that are in other processes. */
export interface MediaElsewhere extends MediaExpectations {
  /**
   * Passes the socket to the process with the call, which answers the upgrade.
   * @returns resolves when the media has started or was given up
   * @throws OffhookError when that process is gone; the socket is then closed
   */
  take(grant: StreamGrant, upgrade: MediaUpgrade): Promise<void>;
}

/** Promised attachments that have not come. Each ends in exactly one way: started, given up by its socket, or timed out. Bounded by admission. */
export class ExpectedMedia implements MediaExpectations {
  readonly #waiting = new Map<string, { readonly callId: string; readonly timer: Timer }>();
  readonly #clock: Clock;
  readonly #intake: Pick<CallIntake, 'abandon'>;

  constructor(clock: Clock, intake: Pick<CallIntake, 'abandon'>) {
    this.#clock = clock;
    this.#intake = intake;
  }

  expect(callId: string, attachmentId: string, withinMs: number): void {
    const giveUp = (): void => this.abandon(attachmentId, `no media within ${withinMs} ms of the answer`);
    this.#waiting.set(attachmentId, { callId, timer: this.#clock.after(withinMs, giveUp) });
  }

  /** @returns whether it was still expected; refuse a second arrival */
  arrived(attachmentId: string): boolean {
    this.#waiting.get(attachmentId)?.timer.cancel();
    return this.#waiting.delete(attachmentId);
  }

  abandon(attachmentId: string, reason: string): void {
    const callId = this.#waiting.get(attachmentId)?.callId;
    if (callId !== undefined && this.arrived(attachmentId)) this.#intake.abandon(callId, attachmentId, reason);
  }

  /** The server is closing: no media will come. */
  abandonAll(reason: string): void {
    for (const attachmentId of this.#waiting.keys()) this.abandon(attachmentId, reason);
  }
}
