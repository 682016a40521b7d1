import type { Attempt, Purpose } from '../records/dialling.ts';
import type { NarrowingRules, RefusedDial } from './gate/facts.ts';
import { OffhookError } from '../kernel/errors.ts';

export interface DialRequest {
  readonly tenantId: string;
  /** Id of the attempt and its call; generated when absent. */
  readonly callId?: string | undefined;
  /** E.164, both. */
  readonly to: string;
  readonly from: string;
  readonly botName: string;
  /** The caller id's carrier when absent. */
  readonly carrier?: string | undefined;
  readonly variables: Readonly<Record<string, string>>;
  readonly metadata: Readonly<Record<string, string>>;
  readonly ringTimeoutMs: number;
  /** Name of the dialling profile. */
  readonly profile: string;
  readonly purpose?: Purpose | undefined;
  /** Registration ids by the profile's names. */
  readonly registrations: Readonly<Record<string, string>>;
  /** The person's time zone, if known; otherwise the number's zones apply. */
  readonly zone?: string | undefined;
  /** Whether that zone counts alone; beside the number's when absent. */
  readonly zoneAlone?: boolean | undefined;
  /** The API key or person whose ceilings apply; only the tenant's when absent. */
  readonly askedBy?: string | undefined;
  readonly narrowing: readonly NarrowingRules[];
  /** When the person asked to be called. */
  readonly callBackAtMs?: number | undefined;
  readonly campaign?: { readonly id: string; readonly contactId: string; readonly index: number } | undefined;
}

/** The gate's result: an attempt to be placed, or a logged refusal. Both have an attempt's id. */
export type GatedDial =
  | { readonly allowed: true; readonly attempt: Attempt }
  | { readonly allowed: false; readonly attempt: Attempt; readonly refusal: RefusedDial };

/** The only way to a dial. */
export interface Dialler {
  /**
   * Asks the gate about requests of one tenant, each for another number, and stores the decisions. Allowed ones are stored as `queued`; `place`
   * places them, here or in another process.
   * @throws StoreUnavailableError
   */
  ask(requests: readonly DialRequest[]): Promise<readonly GatedDial[]>;
  /**
   * Reserves a place and a recognition slot and has the carrier dial. Of any number of processes one does. Resolves when the carrier has accepted the
   * order, or the attempt is over.
   * @returns `no-room` without a free place or slot: the attempt stays queued
   */
  place(tenantId: string, attemptId: string): Promise<'placed' | 'over' | 'elsewhere' | 'no-room'>;
  /** Ends a queued or ringing attempt. @param cause in a word @returns false when it is answered or over */
  cancel(tenantId: string, attemptId: string, cause?: string): Promise<boolean>;
  /** Called for every attempt that ends in this process, once its result is stored. */
  onEnded(listener: (attempt: Attempt) => void): void;
}

/** A call cannot be requested as it was: no carrier, bot or profile of that name can place it. Nothing was written. */
export class DialRequestError extends OffhookError {
  readonly code = 'OFFHOOK_DIAL_REQUEST';
  readonly retryable = false;
}
