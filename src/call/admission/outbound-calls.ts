import type { CarrierWitness, DialProgress } from '../../carriers/port.ts';
import type { OutboundFacts } from '../log/call-record.ts';
import type { CallRefusal } from './call-door.ts';

/** A call about to be dialled, as data that can pass between processes. */
export interface OutboundCall extends OutboundFacts {
  /** Our own id, made before the dial. */
  readonly callId: string;
  readonly tenantId: string;
  readonly carrier: string;
  /** E.164, both. */
  readonly from: string;
  readonly to: string;
  readonly botName: string;
}

/** A place among the calls and a recognition slot, held from before the dial until the call is over. */
export interface ReservedCall {
  readonly kind: 'reserved';
  /** Attachment id of the expected media socket, for its token. */
  readonly attachmentId: string;
}

/** What a carrier reports of a dialled call; ignored for another account's call or another id. */
export interface OutboundReport {
  /** The account that reports. */
  readonly carrier: string;
  readonly carrierCallId: string;
  readonly progress?: DialProgress | undefined;
  readonly witness?: CarrierWitness | undefined;
}

/** Why a hold ended: no media in time, the gateway or the owning process stops, that process died, or an operator hung up. */
export type GivenUp = 'no-media' | 'stopping' | 'process-died' | 'hung-up';
export type GivenUpListener = (call: OutboundCall, why: GivenUp) => void;

/** The outbound calls of a gateway, in whichever process. */
export interface OutboundCalls {
  /** Holds a place and a slot for a call about to be dialled, or says why not. Exactly one of its media socket and `release` ends the hold. */
  reserve(call: OutboundCall): Promise<ReservedCall | CallRefusal>;
  /** The dial failed, or the call is over at the carrier: frees the place and the slot. No effect twice, or on an unknown id. */
  release(callId: string, reason: string): void;
  /**
   * Takes a carrier's report of a call, in any order and possibly repeated: who answered goes to the call; an ended call ends, or frees its place and
   * slot. No effect on an unknown id.
   */
  reported(callId: string, report: OutboundReport): void;
  /** Called for each call whose hold ends by neither its media nor `release`. It may still be ringing: cancel it at its carrier. */
  onGivenUp(listener: GivenUpListener): void;
  /** Outbound calls that could be reserved now, beside the places kept free for callers. */
  readonly room: number;
}
