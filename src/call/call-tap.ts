import type { Attachment, CarrierWitness } from '../carriers/port.ts';
import type { CallOrder } from './control/supervision.ts';
import type { CallIdentity } from './log/call-record.ts';
import type { CallServices } from './services.ts';

/** Wraps a call that is recorded for replay: all that reaches the call passes through it. */
export interface CallTap {
  /** The wrapped identity and services, in place of the call's own. */
  readonly identity: CallIdentity;
  readonly services: CallServices;
  attach(attachment: Attachment, attach: (attachment: Attachment) => void): void;
  told(what: 'carrier-ended' | 'shut-down', reason: string, tell: () => void): void;
  witnessed(witness: CarrierWitness, tell: () => void): void;
  /** @param obey carries out the order */
  ordered(order: CallOrder, obey: () => Promise<void>): Promise<void>;
}
