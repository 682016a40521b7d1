import type { Socket } from 'node:net';
import type { CallAnswer } from '../call/admission/call-door.ts';
import type { CarrierCall } from '../call/live-session.ts';
import type { DialledReport } from '../carriers/carrier.ts';
import type { Attachment, InboundCall } from '../carriers/port.ts';
import type { StreamGrant } from '../carriers/stream-token.ts';
import type { Clock, Timer } from '../kernel/clock.ts';

/** What carriers' routes need of whoever runs the calls. */
export interface CallIntake {
  /**
   * Admits a call or refuses it; verified to come from the carrier. For a `carrierCallId` whose call is alive (a redirect,
   * a socket that died) the answer has the same `callId` and a new `attachmentId`; `attached` where a repeated webhook finds its
   * call's socket open.
   */
  answer(inbound: InboundCall): CallAnswer | Promise<CallAnswer>;
  /** The media of an accepted answer has started. Exactly one of `attach` and `abandon` follows each accepted answer. */
  attach(callId: string, attachment: Attachment): void;
  /** No media will come for this attachment: the socket never came, never started, or named another call. */
  abandon(callId: string, attachmentId: string, reason: string): void;
  /** The carrier reports on a call, perhaps one that we do not know. `terminal`: it is over. */
  carrierStatus(call: CarrierCall, status: string, terminal: boolean): void;
  /** The carrier reports a key of a caller, whose stream has none. */
  keyReported(call: CarrierCall, digit: string): void;
  /** A signed report on a call that was dialled, at the address that was given with the dial; comes before its `carrierStatus`. */
  dialReported(callId: string, report: DialledReport): void;
}

/** Where media is awaited that was promised. */
export interface MediaExpectations {
  expect(callId: string, attachmentId: string, withinMs: number): void;
  abandon(attachmentId: string, reason: string): void;
}

/** The upgrade of a media socket that was let in. */
export interface MediaUpgrade {
  readonly socket: Socket;
  /** `tcp`: no upgrade at all, but messages of the carrier's own framing; a WebSocket when absent. */
  readonly transport?: 'websocket' | 'tcp';
  readonly headers: Readonly<Record<string, string>>;
  /** What the client sent behind its request; nothing, where it keeps to RFC 6455. */
  readonly early: Uint8Array;
  /** The upgrade was answered already, since the first messages had to say which call it is. */
  readonly answered?: boolean;
  readonly address: string;
}

/** The media of calls, where other processes have it. */
export interface MediaElsewhere extends MediaExpectations {
  /**
   * Hands the socket over to the process that has the call, which answers the upgrade.
   * @returns resolves when the media has started or was given up
   * @throws OffhookError when there is no such process any more; the socket is closed then
   */
  take(grant: StreamGrant, upgrade: MediaUpgrade): Promise<void>;
}

/**
 * Attachments that were promised and have not come. Each ends in exactly one way: it starts, it is given up by its
 * socket, or its time is over. Bounded by admission: nothing is expected that was not accepted.
 */
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

  /** @returns whether it was still expected; a second arrival must be sent away */
  arrived(attachmentId: string): boolean {
    this.#waiting.get(attachmentId)?.timer.cancel();
    return this.#waiting.delete(attachmentId);
  }

  abandon(attachmentId: string, reason: string): void {
    const callId = this.#waiting.get(attachmentId)?.callId;
    if (callId !== undefined && this.arrived(attachmentId)) this.#intake.abandon(callId, attachmentId, reason);
  }

  /** The server is closing: nothing more will come. */
  abandonAll(reason: string): void {
    for (const attachmentId of this.#waiting.keys()) this.abandon(attachmentId, reason);
  }
}
