import type { Attempt, Purpose } from '../records/dialling.ts';
import type { NarrowingRules, RefusedDial } from './gate/facts.ts';

/** A wish for one call. */
export interface DialRequest {
  readonly tenantId: string;
  /** Id of the attempt and its call; generated when absent. */
  readonly callId?: string | undefined;
  /** E.164, both. */
  readonly to: string;
  readonly from: string;
  readonly botName: string;
  /** The one that the caller id belongs to when absent. */
  readonly carrier?: string | undefined;
  readonly variables: Readonly<Record<string, string>>;
  readonly metadata: Readonly<Record<string, string>>;
  readonly ringTimeoutMs: number;
  /** Name of the dialling profile. */
  readonly profile: string;
  readonly purpose?: Purpose | undefined;
  /** By the names that the profile gives them. */
  readonly registrations: Readonly<Record<string, string>>;
  /** The person's time zone, where it is known; else the number's zones count. */
  readonly zone?: string | undefined;
  /** Whether that zone counts alone; beside those of the number where absent. */
  readonly zoneAlone?: boolean | undefined;
  /** The API key or person whose ceilings apply; only the tenant's when absent. */
  readonly askedBy?: string | undefined;
  readonly narrowing: readonly NarrowingRules[];
  /** When the person asked to be called. */
  readonly callBackAtMs?: number | undefined;
  readonly campaign?: { readonly id: string; readonly contactId: string; readonly index: number } | undefined;
}

/** What the gate made of a wish: an attempt that is to be placed, or a refusal that was logged. Either has an attempt's id. */
export type GatedDial =
  | { readonly allowed: true; readonly attempt: Attempt }
  | { readonly allowed: false; readonly attempt: Attempt; readonly refusal: RefusedDial };

/** The only way to a dial. */
export interface Dialler {
  /**
   * Asks the gate about wishes, of one tenant and each of another number, and keeps what it says. Places nothing yet: what is
   * allowed stands in the store as `queued`, and is placed by `place`, here or in another process.
   * @throws StoreUnavailableError
   */
  ask(requests: readonly DialRequest[]): Promise<readonly GatedDial[]>;
  /**
   * Reserves a place and a recognition slot and has the carrier dial. Any number of processes may try: one does. Resolves when the
   * carrier has taken the order, or the attempt is over.
   * @returns `no-room` where this gateway has no place or slot now: the attempt stays queued
   */
  place(tenantId: string, attemptId: string): Promise<'placed' | 'over' | 'elsewhere' | 'no-room'>;
  /** Ends an attempt that is queued or rings. @param cause why, in a word @returns false when it is answered or over */
  cancel(tenantId: string, attemptId: string, cause?: string): Promise<boolean>;
  /** Told of every attempt that ends, in this process, once what came of it is stored. */
  onEnded(listener: (attempt: Attempt) => void): void;
}
