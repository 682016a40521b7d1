import type { Attachment, CarrierWitness } from '../carriers/port.ts';
import type { CallSpeech, Recogniser } from '../speech/port.ts';
import type { CarrierServices } from './control/carrier-control.ts';
import type { DialogServices } from './control/dialog-driver.ts';
import type { RefusedCalls } from './control/refusals.ts';
import type { SecretVault } from './control/secret-vault.ts';
import type { SpendServices } from './control/spend-guard.ts';
import type { CallOrder } from './control/supervision.ts';
import type { CallLogServices } from './log/call-log.ts';
import type { CallIdentity, CallRecord } from './log/call-record.ts';
import type { MediaServices } from './media.ts';
import type { WarmTransferServices } from './transfer/warm-transfers.ts';
import type { ResumeState } from './resume/resume-state.ts';
import type { TurnMachine } from './turn/turn.ts';

/** Services that belong to a single call. */
type OwnServices = 'legs' | 'recogniser' | 'synthesizer' | 'spareRecognition' | 'watchSpeech' | 'usedSpeech';

/** Services that all calls of a process share. */
export type SharedServices = Omit<CallServices, OwnServices>;

/** Everything a call needs. */
export interface CallServices
  extends CallLogServices, MediaServices, DialogServices, CarrierServices, WarmTransferServices, SpendServices {
  readonly machine: TurnMachine;
  readonly recogniser: Recogniser;
  /** A recognition slot beside those of live calls; undefined when none is free. */
  readonly spareRecognition: () => { release(): void } | undefined;
  /** Reports the recogniser and synthesizer, and each switch; not reported where absent. */
  readonly watchSpeech?: CallSpeech['listen'] | undefined;
  /** The store of card numbers and passwords. */
  readonly vault: SecretVault;
  /** The person wants no more calls: durable when this returns. Never throws. */
  readonly refused: (refused: RefusedCalls) => void;
  /** Stores what another process needs to continue a call; not stored where absent. Never throws. */
  readonly keepState?: ((callId: string, state: ResumeState) => void) | undefined;
  /** Takes over the record of an ended call. */
  readonly ended: (record: CallRecord) => Promise<void>;
}

/** Pauses and limits that are the process's, not the bot's. */
export interface CallTiming {
  readonly hangupAfterMarkMs: number;
  /** How long a call waits for a new socket after losing one. */
  readonly reattachMs: number;
  /** How long after a carrier's stop the call may return, as after a redirect. */
  readonly stopGraceMs: number;
  /** How long a caller waits in silence for a stalled reply. */
  readonly stalledMs: number;
}

export const DEFAULT_CALL_TIMING: CallTiming = {
  hangupAfterMarkMs: 400,
  reattachMs: 10_000,
  stopGraceMs: 1_500,
  stalledMs: 5_000,
};

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
