import type { CallAnswer, KeyedSlot } from '../call/admission/call-door.ts';
import type { OutboundCall } from '../call/admission/outbound-calls.ts';
import type { MediaProcess } from './media-process.ts';

/** A call's place: counted from before its process is asked until it is over. */
export interface Seat {
  readonly process: MediaProcess;
  readonly slot: KeyedSlot;
  readonly tenantId: string;
  /** The first answer; further ones wait for it. */
  answered: Promise<CallAnswer>;
  callId: string | undefined;
  /** `liveKey`; undefined for a call that is dialled, until its media comes. */
  carrierKey: string | undefined;
  /** Of a call that is dialled, until its media comes. */
  dialled: OutboundCall | undefined;
}
