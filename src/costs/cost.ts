import { z } from 'zod';
import type { Price, PriceList } from '../config/prices.ts';
import { type PricedUse, usedUnits } from './usage.ts';

const known = z.number().min(0);
const knownOrNot = z.union([known, z.literal('unknown')]);

/** What one kind of units of a call costs. */
export const costPart = usedUnits.extend({
  /** The beginning of the called number that the price is for. */
  destination: z.string().max(16).optional(),
  /** Of `per` units; `unknown` where the price file has none. */
  price: knownOrNot,
  per: z.number().positive(),
  cost: knownOrNot,
});
export type CostPart = z.output<typeof costPart>;

/** What a call costs. `total` is unknown where the cost of a part is; `known` is the sum of the other parts. */
export const callCost = z.object({
  currency: z.string().length(3),
  total: knownOrNot,
  known,
  parts: z.array(costPart).max(500),
});
export type CallCost = z.output<typeof callCost>;

const MICROS = 1_000_000;
/** Sentences from the cache, which no vendor charges for. */
const FREE_UNITS: ReadonlySet<string> = new Set(['cached-characters']);
/** Units that only some vendors charge for: without a price they are no part of the cost. */
const OPTIONAL_UNITS: ReadonlySet<string> = new Set(['requests']);
/** Carriers round each leg up to whole minutes, where the price does not say otherwise. */
const CARRIER_STEP_S = 60;

/**
 * The cost of what a call used: units × price, each part rounded to a millionth of the currency. Minutes at a carrier count in begun steps.
 * A unit without a price has an unknown cost, never 0.
 */
export function costOf(usage: readonly PricedUse[], prices: PriceList): CallCost {
  const parts = usage.flatMap(({ calledNumber, ...used }): CostPart[] => {
    if (FREE_UNITS.has(used.unit)) return [{ ...used, price: 0, per: 1, cost: 0 }];
    const price = priceOf({ ...used, calledNumber }, prices);
    if (price === undefined || price.price === 'unknown')
      return price === undefined && OPTIONAL_UNITS.has(used.unit)
        ? []
        : [{ ...used, price: 'unknown', per: price?.per ?? 1, cost: 'unknown' }];
    const amount = chargedAmount(used, price);
    const { destination, per } = price;
    const toThere = destination === undefined ? {} : { destination };
    return [{ ...used, ...toThere, amount, price: price.price, per, cost: rounded((amount * price.price) / per) }];
  });
  return { currency: prices.currency, ...summed(parts), parts };
}

/** A call's cost with further parts, such as those of its analysis. */
export function withParts(cost: CallCost, more: readonly CostPart[]): CallCost {
  const parts = [...cost.parts, ...more];
  return { currency: cost.currency, ...summed(parts), parts };
}

/** The known part of a cost in millionths of its currency: a lower bound where the total is unknown. */
export function knownMicros({ known: sum }: Pick<CallCost, 'known'>): number {
  return Math.round(sum * MICROS);
}

/** The total in millionths; null where it is unknown. */
export function totalMicros({ total }: Pick<CallCost, 'total'>): number | null {
  return total === 'unknown' ? null : Math.round(total * MICROS);
}

function summed(parts: readonly CostPart[]): Pick<CallCost, 'total' | 'known'> {
  const sum = parts.reduce((micros, { cost }) => micros + (cost === 'unknown' ? 0 : Math.round(cost * MICROS)), 0) / MICROS;
  return { total: parts.some(({ cost }) => cost === 'unknown') ? 'unknown' : sum, known: sum };
}

/** The model's own price, else the vendor's for any model; to a number, the one with the longest beginning of it. */
export function priceOf(
  { vendor, model, unit, calledNumber = '' }: Omit<PricedUse, 'amount'>,
  { prices }: PriceList,
): Price | undefined {
  const fitting = prices
    .filter((price) => price.vendor === vendor && price.unit === unit)
    .filter(({ destination = '' }) => calledNumber.startsWith(destination))
    .toSorted((one, other) => (other.destination?.length ?? 0) - (one.destination?.length ?? 0));
  return (
    fitting.find((price) => price.model !== undefined && price.model === model) ??
    fitting.find((price) => price.model === undefined)
  );
}

/** Seconds and minutes in whole steps, as they are charged. */
function chargedAmount({ unit, amount }: PricedUse, { step }: Price): number {
  const inSeconds = unit.endsWith('-minutes') ? 60 : 1;
  const stepS = step ?? (unit.endsWith('-carrier-minutes') ? CARRIER_STEP_S : undefined);
  if (stepS === undefined || amount === 0) return amount;
  // Half a millisecond, since amounts are rounded.
  const steps = Math.ceil((amount * inSeconds - 0.0005) / stepS);
  return Math.round(((steps * stepS) / inSeconds) * 1e6) / 1e6;
}

function rounded(cost: number): number {
  return Math.round(cost * MICROS) / MICROS;
}
