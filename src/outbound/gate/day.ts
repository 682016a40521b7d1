import type { DaySpending } from '../../records/dialling.ts';
import type { DayFacts } from './facts.ts';

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
