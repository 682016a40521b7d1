import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { errorText } from '../kernel/errors.ts';
import { nearest } from './nearest.ts';
import { complaint, type Problem } from './problem.ts';
import { readYaml } from './yaml-document.ts';

/** Units that have a price: what recognisers, synthesizers, models and carriers charge for. */
export const PRICED_UNITS = [
  'recogniser-seconds',
  'synthesized-characters',
  'input-text-tokens',
  'input-audio-tokens',
  'cached-tokens',
  'output-text-tokens',
  'output-audio-tokens',
  'requests',
  'inbound-carrier-minutes',
  'outbound-carrier-minutes',
] as const;
export type PricedUnit = (typeof PRICED_UNITS)[number];

const isTimed = (unit: string): boolean => unit.endsWith('-seconds') || unit.endsWith('-minutes');
const currency = z.string().regex(/^[A-Z]{3}$/, 'an ISO 4217 code such as USD');

const NOT_A_PRICE = 'a number from 0, or unknown';
const pricedUnit = z.enum(PRICED_UNITS, {
  error: ({ input }) => {
    const meant = typeof input === 'string' ? nearest(input, PRICED_UNITS) : undefined;
    return `one of ${PRICED_UNITS.join(', ')}${meant === undefined ? '' : `; did you mean ${meant}?`}`;
  },
});

const price = z
  .strictObject({
    /** Name of a speech vendor, of a carrier, or of whoever serves a model, as a call's cost names it. */
    vendor: z.string().min(1).max(200),
    /** Only this model; any model of the vendor without a price of its own when absent. */
    model: z.string().min(1).max(200).optional(),
    unit: pricedUnit,
    /** Carriers' minutes: only calls to numbers that begin so; of several prices, the longest such beginning counts. */
    destination: z
      .string()
      .regex(/^\+\d{1,15}$/, 'the beginning of a number, such as "+44", in quotes')
      .optional(),
    /** Of `per` units. */
    price: z.union([z.number().min(0, NOT_A_PRICE).max(1_000_000), z.literal('unknown')], { error: NOT_A_PRICE }),
    currency: currency.optional(),
    per: z.number().positive().max(1_000_000_000).default(1),
    /** Minutes and seconds: the length of a step that is charged whole, in seconds; 60 is "each minute begun". */
    step: z.number().positive().max(3600).optional(),
    /** The day on which the price was looked up. */
    date: z.iso.date('a day such as 2026-11-01, in quotes'),
    /** Where the price is published or agreed. */
    source: z.string().min(1).max(500),
  })
  .refine(({ unit, step }) => step === undefined || isTimed(unit), { path: ['step'], error: 'is for seconds and minutes alone' })
  .refine(({ unit, destination }) => destination === undefined || unit.endsWith('-carrier-minutes'), {
    path: ['destination'],
    error: "is for carriers' minutes alone",
  });

const pricesFile = z
  .strictObject({ currency, prices: z.array(price).max(2000).nullish() })
  .transform((file) => ({ currency: file.currency, prices: file.prices ?? [] }))
  .superRefine((file, context) => {
    const names = new Map<string, number>();
    for (const [at, each] of file.prices.entries()) {
      if (each.currency !== undefined && each.currency !== file.currency)
        context.addIssue({
          code: 'custom',
          path: ['prices', at, 'currency'],
          message: `all prices are in the file's currency, ${file.currency}`,
        });
      const name = JSON.stringify([each.vendor, each.model, each.unit, each.destination]);
      const earlier = names.get(name);
      if (earlier !== undefined)
        context.addIssue({
          code: 'custom',
          path: ['prices', at],
          message: `repeats prices.${earlier}: one price a vendor, model, unit and destination`,
        });
      else names.set(name, at);
    }
  });

/** What one unit of a vendor or a model costs. */
export type Price = z.output<typeof price>;

/** The prices an operator has entered, in one currency. */
export interface PriceList {
  readonly currency: string;
  readonly prices: readonly Price[];
}

/** Currency of a list without a file, in which only our own parts have a price, of 0. */
const NO_CURRENCY = 'XXX';
export const NO_PRICES: PriceList = { currency: NO_CURRENCY, prices: [] };

/** Parts of Offhook that charge nothing: the browser as a carrier, and the embedded speech platform where it is the one in use. */
function ownPrices(embedsPlatform: boolean): Price[] {
  const free = (vendor: string, unit: PricedUnit): Price => ({
    vendor,
    unit,
    price: 0,
    per: 1,
    date: '2026-11-01',
    source: 'part of Offhook',
  });
  return [
    free('browser', 'inbound-carrier-minutes'),
    free('browser', 'outbound-carrier-minutes'),
    ...(embedsPlatform ? [free('platform', 'recogniser-seconds'), free('platform', 'synthesized-characters')] : []),
  ];
}

/**
 * Reads the price file, and adds the parts of Offhook that charge nothing, unless the file prices them.
 * @param path undefined without a file
 * @returns only our own prices where the file has problems
 */
export function loadPrices(
  path: string | undefined,
  embedsPlatform: boolean,
): { readonly prices: PriceList; readonly problems: readonly Problem[] } {
  const own = ownPrices(embedsPlatform);
  const nothing = { currency: NO_CURRENCY, prices: own };
  if (path === undefined) return { prices: nothing, problems: [] };
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    return {
      prices: nothing,
      problems: [{ key: 'spend.prices', where: path, message: `cannot be read: ${errorText(error)}` }],
    };
  }
  const document = readYaml(text, path);
  if ('problem' in document) return { prices: nothing, problems: [document.problem] };
  const parsed = pricesFile.safeParse(document.written);
  if (!parsed.success) return { prices: nothing, problems: parsed.error.issues.map((issue) => problemOf(issue, document)) };
  const { currency: named, prices } = parsed.data;
  const isGiven = ({ vendor, unit }: Price): boolean => prices.some((each) => each.vendor === vendor && each.unit === unit);
  return { prices: { currency: named, prices: [...prices, ...own.filter((each) => !isGiven(each))] }, problems: [] };
}

function problemOf(
  issue: z.core.$ZodIssue,
  { written, whereOf }: Exclude<ReturnType<typeof readYaml>, { problem: Problem }>,
): Problem {
  const unknown = issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
  const path = [...issue.path, ...unknown];
  const value = path.reduce<unknown>(
    (at, key) => (typeof at === 'object' && at !== null ? (Reflect.get(at, key) as unknown) : undefined),
    written,
  );
  const said = unknown.length > 0 ? { message: 'is no field of a price' } : complaint(issue.message, value);
  const told = typeof value === 'object' ? { message: said.message } : said;
  return { key: path.map(String).join('.') || 'prices', where: whereOf(path), ...told };
}
