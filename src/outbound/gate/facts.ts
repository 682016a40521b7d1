import type { Consent, Purpose, Suppression, DaySpending } from '../../records/dialling.ts';
import type { ReachedSpend } from '../../costs/spend.ts';
import type { DialNumber } from '../number.ts';
import type { DiallingProfile, Duty, TimingRules } from './profile.ts';

/**
 * Reasons for a refusal, in order of precedence: those that need a person before those that pass with time, and those about the person before those
 * about the campaign.
 */
export const REFUSALS = [
  'number-invalid',
  'suppressed',
  'line-type',
  'destination-not-allowed',
  'purpose-missing',
  'no-consent',
  'consent-expired',
  'list-too-old',
  'caller-id-not-allowed',
  'zone-unknown',
  'cap-campaign',
  'cap-week',
  'cap-day',
  'ceiling-calls',
  'ceiling-cost',
  'ceiling-spend',
  'holiday',
  'outside-window',
  'too-soon',
] as const;
export type RefusalName = (typeof REFUSALS)[number];

/** The name of the tenant's own do-not-call list. Consent never overrides it. */
export const OWN_LIST = 'own';

/** Rules of a campaign, the tenant's calendar, or the person; they only narrow the profile's. */
export interface NarrowingRules {
  /** Origin of the rule, for the refusal's detail: `campaign`, `person`. */
  readonly name: string;
  readonly rules: TimingRules;
}

/** Calls on this UTC day before the one in question, and the limits. */
interface DayFacts {
  /** First moment of the next day. */
  readonly endsAtMs: number;
  /** Estimated cost of this call, in millionths of the price list's currency; undefined for a number without a price. */
  readonly costMicros: number | undefined;
  readonly spent: readonly {
    readonly of: 'tenant' | 'key';
    readonly calls: number;
    readonly mostCalls: number;
    /** Cost of the calls with known prices. */
    readonly costMicros: number;
    readonly mostCostMicros: number | undefined;
  }[];
}

/** The facts of a dial. The caller must supply all: a missing one counts as unknown, and unknown means no. */
export interface DialFacts {
  readonly tenantId: string;
  /** Milliseconds since the Unix epoch. */
  readonly nowMs: number;
  /** The result of `readNumber`, or the reason for its failure. */
  readonly number: DialNumber | { readonly reason: string };
  /** Why the configured destinations exclude the number; undefined where they include it. */
  readonly destinationRefusal: string | undefined;
  readonly day: DayFacts;
  /** The limit that the real cost of the day's calls has reached; undefined for none. */
  readonly spend?: ReachedSpend | undefined;
  /** Possible zones of the person, from `recipientZones`. Empty: unknown. */
  readonly zones: readonly string[];
  readonly purpose: Purpose | undefined;
  /** The campaign's ids, by the names that the profile gives them. */
  readonly registrations: Readonly<Record<string, string>>;
  /** Every consent of this number to this tenant. */
  readonly consents: readonly Consent[];
  /** Every list of any kind that this number is on. */
  readonly suppressions: readonly Suppression[];
  /** When each list was obtained, or the number was checked against it. */
  readonly lists: Readonly<Record<string, number>>;
  /** `isOwn`: the tenant may show this number, as confirmed by the carrier. */
  readonly callerId: { readonly number: string; readonly isOwn: boolean } | undefined;
  readonly campaignId: string | undefined;
  /** Start of every attempt of this tenant to this number, back to `attemptHistoryMs`; in any order. */
  readonly attemptsMs: readonly number[];
  /** Attempts to this number in this campaign, at any time. */
  readonly attemptsInCampaign: number;
  readonly narrowing: readonly NarrowingRules[];
  /** When the person asked to be called. */
  readonly callBack: { readonly promisedAtMs: number } | undefined;
}

export interface Refusal {
  readonly refusal: RefusalName;
  /** For people: the rule and its origin, never the number. */
  readonly detail: string;
}

interface Decided {
  readonly atMs: number;
  readonly profile: Pick<DiallingProfile, 'name' | 'hash'>;
  /** Applicable overlays of the profile. */
  readonly overlays: readonly string[];
  /** The recipient's wall clocks, as `mon 2026-03-02 08:59`. */
  readonly local: readonly { readonly zone: string; readonly time: string }[];
}

export interface AllowedDial extends Decided {
  readonly allowed: true;
  /** The consent relied on; undefined where the profile requires none. */
  readonly consentId: string | undefined;
  /** Refusals waived by a promised call-back. */
  readonly waived: readonly RefusalName[];
  /** Duties of the call itself. */
  readonly duties: readonly Duty[];
}

export interface RefusedDial extends Decided, Refusal {
  readonly allowed: false;
  /** All refusals in the order of `REFUSALS`; the first is `refusal`. */
  readonly refusals: readonly Refusal[];
  /** The earliest moment at which the same facts are allowed; undefined if none within a year. */
  readonly retryAtMs: number | undefined;
}

export type DialDecision = AllowedDial | RefusedDial;

const DAY_MS = 86_400_000;
/** Number of earlier days that define the usual. */
export const EARLIER_DAYS = 7;

/** Ceilings of a tenant's day, and when it is reported as unusual. Costs are in the price list's currency. */
export interface DayLimits {
  readonly callsPerDay: number;
  readonly callsPerDayOfKey: number;
  readonly costPerDay?: number | undefined;
  readonly costPerDayOfKey?: number | undefined;
  readonly alarmFactor: number;
  readonly alarmCalls: number;
}

/** A tenant calls much more often today than usual. */
export interface DialJump {
  readonly tenantId: string;
  /** Calls so far on this UTC day. */
  readonly calls: number;
  /** Average over last week's days with calls; 0 without any. */
  readonly usual: number;
}

/** One tenant's calls today, growing while the gate decides about several numbers. */
export class CallDay {
  readonly #limits: DayLimits;
  readonly #endsAtMs: number;
  readonly #spending: DaySpending;
  #calls = 0;
  #costMicros = 0;

  constructor(limits: DayLimits, startMs: number, spending: DaySpending) {
    this.#limits = limits;
    this.#endsAtMs = startMs + DAY_MS;
    this.#spending = spending;
  }

  /** Start of a moment's UTC day. */
  static startOf(atMs: number): number {
    return Math.floor(atMs / DAY_MS) * DAY_MS;
  }

  /** Calls allowed meanwhile. */
  get added(): { readonly calls: number; readonly costMicros: number } {
    return { calls: this.#calls, costMicros: this.#costMicros };
  }

  /** @param costMicros of the call in question; undefined if unknown */
  facts(costMicros: number | undefined): DayFacts {
    const { callsPerDay, callsPerDayOfKey, costPerDay, costPerDayOfKey } = this.#limits;
    const { tenant, asker } = this.#spending;
    const spent = (of: 'tenant' | 'key', before: DaySpending['tenant'], mostCalls: number, mostCost: number | undefined) => ({
      of,
      calls: before.calls + this.#calls,
      mostCalls,
      costMicros: before.costMicros + this.#costMicros,
      mostCostMicros: mostCost === undefined ? undefined : Math.round(mostCost * 1_000_000),
    });
    const ofAsker = asker === undefined ? [] : [spent('key', asker, callsPerDayOfKey, costPerDayOfKey)];
    return { endsAtMs: this.#endsAtMs, costMicros, spent: [...ofAsker, spent('tenant', tenant, callsPerDay, costPerDay)] };
  }

  /** A call was allowed. */
  add(costMicros: number | undefined): void {
    this.#calls += 1;
    this.#costMicros += costMicros ?? 0;
  }

  /** The day's unusual jump; undefined without one, or if already reported. */
  get jump(): Omit<DialJump, 'tenantId'> | undefined {
    const { alarmFactor, alarmCalls } = this.#limits;
    const { tenant, earlier, isTold } = this.#spending;
    const calls = tenant.calls + this.#calls;
    const usual = earlier.length === 0 ? 0 : earlier.reduce((sum, each) => sum + each, 0) / earlier.length;
    return !isTold && this.#calls > 0 && calls >= alarmCalls && calls > alarmFactor * usual ? { calls, usual } : undefined;
  }
}
