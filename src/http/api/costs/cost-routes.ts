import { z } from 'zod';
import { PRICED_UNITS, type PriceList } from '../../../config/prices.ts';
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
  /** The prices of now, for keys of the operator; null for other tenants. Costs of calls stay as they were when the call ended. */
  prices: z
    .object({
      currency: z.string(),
      prices: z.array(
        z.object({
          vendor: z.string(),
          model: z.string().nullable(),
          unit: z.enum(PRICED_UNITS),
          destination: z.string().nullable(),
          price: z.union([z.number(), z.literal('unknown')]),
          per: z.number(),
          date: z.string(),
          source: z.string(),
        }),
      ),
    })
    .nullable(),
});

const DAY_MS = 86_400_000;
const BY_DEFAULT_MS = 30 * DAY_MS;
const MOST_MS = 366 * DAY_MS;
const MICROS = 1_000_000;

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
        prices: tenantId === DEFAULT_TENANT ? shownPrices(prices) : null,
      };
    },
  );
}

function shownPrices({ currency, prices }: PriceList): z.output<typeof costsView>['prices'] {
  return {
    currency,
    prices: prices.map(({ vendor, model = null, unit, destination = null, price, per, date, source }) => ({
      vendor,
      model,
      unit,
      destination,
      price,
      per,
      date,
      source,
    })),
  };
}
