import { z } from 'zod';
import { PRICED_UNITS } from '../../../config/prices.ts';
import { priceOf } from '../../../costs/cost.ts';
import { DEFAULT_TENANT } from '../../../config/tenant-id.ts';
import { COST_GROUPS } from '../../../records/statistics.ts';
import { RequestRefused } from '../../problem.ts';
import { about, type ApiApp, type ApiDeps } from '../api-app.ts';
import { isoTime } from '../views.ts';

const asked = z.strictObject({
  /** Start of the calls, from (included) to (excluded); the last thirty days where absent, at most a year. */
  from: z.iso.datetime({ offset: true }).optional(),
  to: z.iso.datetime({ offset: true }).optional(),
  by: z.enum(COST_GROUPS).default('day'),
});

/** Sums are in whole units of the currency. */
export const costsView = z.object({
  from: z.iso.datetime(),
  to: z.iso.datetime(),
  by: z.enum(COST_GROUPS),
  costs: z.array(
    z.object({
      /** A bot, a campaign (null: calls of none), a day of UTC, or a vendor. */
      group: z.string().nullable(),
      currency: z.string(),
      calls: z.int(),
      /** `unknown` where a part of a call has no price. */
      cost: z.union([z.number(), z.literal('unknown')]),
      /** Sum of the parts that have one. */
      known: z.number(),
      unknownCalls: z.int(),
    }),
  ),
});

const pricesView = z.object({
  currency: z.string(),
  /** Of now: costs of calls stay as they were when the call ended. */
  prices: z.array(
    z.object({
      vendor: z.string(),
      /** Null: any model without a price of its own. */
      model: z.string().nullable(),
      unit: z.enum(PRICED_UNITS),
      /** Minutes of a carrier: the beginning of the called numbers that the price is for. */
      destination: z.string().nullable(),
      price: z.union([z.number(), z.literal('unknown')]),
      per: z.number(),
      date: z.string(),
      source: z.string(),
    }),
  ),
  /** What the calls of the last thirty days used and that has no price now; in most calls first. */
  unpriced: z.array(z.object({ vendor: z.string(), model: z.string().nullable(), unit: z.string(), calls: z.int() })),
});

export type PricesView = z.output<typeof pricesView>;

const DAY_MS = 86_400_000;
const BY_DEFAULT_MS = 30 * DAY_MS;
const MOST_MS = 366 * DAY_MS;
const MICROS = 1_000_000;

/** What calls cost, and by which prices. */
export function costRoutes(app: ApiApp, { store, clock, prices }: ApiDeps): void {
  if (prices === undefined) return;
  app.get(
    '/costs',
    about('calls:read', 'What calls cost, by bot, campaign, day or vendor', { querystring: asked, response: { 200: costsView } }),
    async ({ principal: { tenantId }, query: { from, to, by } }) => {
      const toMs = to === undefined ? clock.wallMs() + 1 : Date.parse(to);
      const fromMs = from === undefined ? toMs - BY_DEFAULT_MS : Date.parse(from);
      if (fromMs >= toMs) throw new RequestRefused(400, 'from must be before to.');
      if (toMs - fromMs > MOST_MS) throw new RequestRefused(400, 'from and to may be 366 days apart at most.');
      const sums = await store.statistics.costs(tenantId, { fromMs, toMs }, by);
      return {
        from: isoTime(fromMs),
        to: isoTime(toMs),
        by,
        costs: sums.map(({ group = null, currency, calls, knownMicros, unknownCalls }) => ({
          group,
          currency,
          calls,
          cost: unknownCalls > 0 ? ('unknown' as const) : knownMicros / MICROS,
          known: knownMicros / MICROS,
          unknownCalls,
        })),
      };
    },
  );
  app.get(
    '/prices',
    about('calls:read', 'Prices of vendors and models, and what has none although calls use it', {
      response: { 200: pricesView },
    }),
    async ({ principal: { tenantId } }) => {
      if (tenantId !== DEFAULT_TENANT) throw new RequestRefused(403, 'Prices are the operator’s.');
      const nowMs = clock.wallMs();
      const unpriced = await store.statistics.unpriced(tenantId, { fromMs: nowMs - BY_DEFAULT_MS, toMs: nowMs + 1 });
      return {
        currency: prices.currency,
        prices: prices.prices.map(({ vendor, model = null, unit, destination = null, price, per, date, source }) => ({
          vendor,
          model,
          unit,
          destination,
          price,
          per,
          date,
          source,
        })),
        // Answers whose tokens were not reported can have no price, and one may have been entered since those calls.
        unpriced: unpriced
          .filter(({ unit }) => PRICED_UNITS.some((each) => each === unit))
          .filter((used) => (priceOf(used, prices)?.price ?? 'unknown') === 'unknown')
          .map(({ vendor, model = null, unit, calls }) => ({ vendor, model, unit, calls })),
      };
    },
  );
}
