import type { CallAnswer } from '../call/admission/call-registry.ts';
import type { Attachment, InboundCall } from '../carriers/port.ts';

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
  carrierStatus(carrierCallId: string, status: string, terminal: boolean): void;
}
