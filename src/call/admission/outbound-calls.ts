import type { CarrierWitness, DialProgress } from '../../carriers/port.ts';
import type { OutboundFacts } from '../log/call-record.ts';
import type { CallRefusal } from './call-door.ts';

/** A call that is about to be dialled. As data, so that another process can be given it. */
export interface OutboundCall extends OutboundFacts {
  /** Our own, made before the dial. */
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
  /** Of the media socket that is expected: for its token. */
  readonly attachmentId: string;
}

/** What a carrier reports of a call that was dialled; of no effect on a call of another account or of another id. */
export interface OutboundReport {
  /** The account that reports. */
  readonly carrier: string;
  readonly carrierCallId: string;
  readonly progress?: DialProgress | undefined;
  readonly witness?: CarrierWitness | undefined;
}

/**
 * Why a hold ended: no media came in time, the gateway or the process that had it stops, that process died, or somebody had the
 * call hung up.
 */
export type GivenUp = 'no-media' | 'stopping' | 'process-died' | 'hung-up';
export type GivenUpListener = (call: OutboundCall, why: GivenUp) => void;

/** The outbound calls of a gateway, wherever their process is. */
export interface OutboundCalls {
  /**
   * Holds a place and a slot for a call that is about to be dialled, or says why there is none.
   * Exactly one of its media socket and `release` ends the hold.
   */
  reserve(call: OutboundCall): Promise<ReservedCall | CallRefusal>;
  /** The dial came to nothing, or the call is over at the carrier: gives place and slot back. No effect twice, or on an unknown id. */
  release(callId: string, reason: string): void;
  /**
   * What the carrier reports of a call, in any order, perhaps more than once: who answered is told to the call; one that is over ends,
   * or gives place and slot back. No effect on an unknown id.
   */
  reported(callId: string, report: OutboundReport): void;
  /** Told of each call whose hold ends by neither its media nor `release`. It may ring still: cancel it at its carrier. */
  onGivenUp(listener: GivenUpListener): void;
  /** Outbound calls that could be reserved now, beside those that are kept free for callers. */
  readonly room: number;
}
