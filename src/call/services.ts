import type { CallSpeech, Recogniser } from '../speech/port.ts';
import type { CarrierServices } from './control/carrier-control.ts';
import type { DialogServices } from './control/dialog-driver.ts';
import type { RefusedCalls } from './control/refusals.ts';
import type { SecretVault } from './control/secret-vault.ts';
import type { CallLogServices } from './log/call-log.ts';
import type { CallRecord } from './log/call-record.ts';
import type { MediaServices } from './media.ts';
import type { WarmTransferServices } from './transfer/warm-transfers.ts';
import type { ResumeState } from './resume/resume-state.ts';
import type { TurnMachine } from './turn/turn.ts';

/** What a call has to itself: who recognises and speaks for it. */
type OwnServices = 'legs' | 'recogniser' | 'synthesizer' | 'spareRecognition' | 'watchSpeech';

/** What every call of a process shares. */
export type SharedServices = Omit<CallServices, OwnServices>;

/** What each part of a call needs, and the rest. */
export interface CallServices extends CallLogServices, MediaServices, DialogServices, CarrierServices, WarmTransferServices {
  /** The rules of turn-taking. */
  readonly machine: TurnMachine;
  readonly recogniser: Recogniser;
  /** A recognition slot beside those that live calls hold, or undefined when none is free. */
  readonly spareRecognition: () => { release(): void } | undefined;
  /** Tells who recognises and who speaks, and each switch of either; nobody does where absent. */
  readonly watchSpeech?: CallSpeech['listen'] | undefined;
  /** Where card numbers and passwords are, which nothing else keeps. */
  readonly vault: SecretVault;
  /** The person of a call wants no more calls: it is durable when this returns. Never throws. */
  readonly refused: (refused: RefusedCalls) => void;
  /** Keeps what another process would need to go on with a call; nobody does where absent. Never throws. */
  readonly keepState?: ((callId: string, state: ResumeState) => void) | undefined;
  /** Takes over the record of a call that has ended. */
  readonly ended: (record: CallRecord) => Promise<void>;
}

/** Pauses and limits of a call that are the process's, not the bot's. */
export interface CallTiming {
  readonly hangupAfterMarkMs: number;
  /** How long a call whose socket died waits for a new one. */
  readonly reattachMs: number;
  /** How long after a carrier's stop the call may still come back, as it does after a redirect. */
  readonly stopGraceMs: number;
  /** How long a caller waits in silence for a reply that has stopped in its middle. */
  readonly stalledMs: number;
}

export const DEFAULT_CALL_TIMING: CallTiming = {
  hangupAfterMarkMs: 400,
  reattachMs: 10_000,
  stopGraceMs: 1_500,
  stalledMs: 5_000,
};
