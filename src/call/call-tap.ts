import type { Attachment, CarrierWitness } from '../carriers/port.ts';
import type { CallOrder } from './control/supervision.ts';
import type { CallIdentity } from './log/call-record.ts';
import type { CallServices } from './services.ts';

/** Stands around a call that is kept for replay: everything that reaches the call goes through it. */
export interface CallTap {
  /** What the call is given in place of its own. */
  readonly identity: CallIdentity;
  readonly services: CallServices;
  attach(attachment: Attachment, attach: (attachment: Attachment) => void): void;
  told(what: 'carrier-ended' | 'shut-down', reason: string, tell: () => void): void;
  witnessed(witness: CarrierWitness, tell: () => void): void;
  /** @param obey has the call do it */
  ordered(order: CallOrder, obey: () => Promise<void>): Promise<void>;
}
