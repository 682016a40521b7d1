import type { CallerId } from './caller-ids.ts';
import { callingCodeOf, countryOf, type DialNumber, isRegion, type LineType } from './phone-number.ts';

/** In `dialling.destinations`: the countries of the numbers that calls come from, and those of the dialling profile. */
const HOME = 'home';
/** In `dialling.destinations`: every country. */
const ANY = 'any';
/** Line types that are expensive, or pay the called party: only called where their prefix is named, never for their country alone. */
const COSTLY: ReadonlySet<LineType> = new Set(['premium-rate', 'shared-cost', 'personal', 'pager']);
/** The codes of numbers that are no country's, such as `870` and `881` of satellites, have three digits. */
const NO_COUNTRY_DIGITS = 3;
/** Lines of either may call the other without being told: they share one numbering plan, in which the islands with high prices are others. */
const ONE_PLAN = ['US', 'CA'] as const;

/** What `dialling.destinations` allows. */
export interface DestinationList {
  readonly home: boolean;
  readonly any: boolean;
  /** ISO 3166 codes. */
  readonly countries: readonly string[];
  /** Digits that numbers begin with, without `+`. */
  readonly prefixes: readonly string[];
}

/**
 * Reads the setting `dialling.destinations`: `home, GB, +8816`.
 * @returns the list, and every invalid entry
 */
export function readDestinations(text: string): { readonly list: DestinationList; readonly wrong: readonly string[] } {
  const entries = text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  const isPrefix = (entry: string): boolean => /^\+[1-9]\d{0,14}\*?$/u.test(entry);
  const countries = entries.filter((entry) => isRegion(entry));
  const prefixes = entries.filter(isPrefix);
  const isKnown = (entry: string): boolean => entry === HOME || entry === ANY || isRegion(entry) || isPrefix(entry);
  return {
    list: {
      home: entries.includes(HOME),
      any: entries.includes(ANY),
      countries,
      prefixes: prefixes.map((prefix) => prefix.replaceAll(/[+*]/gu, '')),
    },
    wrong: entries.filter((entry) => !isKnown(entry)),
  };
}

/** Which numbers the calls of one tenant may go to, those that callers are connected to included. */
export class Destinations {
  /** For uses that place no calls: a chat, a replay. Expensive lines are refused there too. */
  static readonly anywhere = new Destinations({ home: false, any: true, countries: [], prefixes: [] }, []);

  readonly #list: DestinationList;
  readonly #countries: ReadonlySet<string>;

  /** @param homes numbers that the tenant calls from, or their beginnings, and countries of its rules, by ISO 3166 code */
  constructor(list: DestinationList, homes: readonly string[]) {
    this.#list = list;
    const home = list.home ? homes.flatMap((each) => (isRegion(each) ? each : (countryOf(each) ?? []))) : [];
    this.#countries = withPlan([...list.countries, ...home]);
  }

  /**
   * Why a number is not called; undefined where it may be. For logs: only the country of the number is named.
   * @param line our number that the caller reached, whose country counts as home too
   */
  refusalOf({ e164, country, lineType }: DialNumber, line?: string): string | undefined {
    const digits = e164.slice(1);
    const prefixDigits = Math.max(0, ...this.#list.prefixes.map((prefix) => (digits.startsWith(prefix) ? prefix.length : 0)));
    const isNamed = prefixDigits > (country === undefined ? NO_COUNTRY_DIGITS - 1 : (callingCodeOf(country) ?? '').length);
    if (country === undefined)
      return isNamed
        ? undefined
        : `numbers of no country, as of satellite phones, are called where dialling.destinations names their prefix`;
    if (lineType !== undefined && COSTLY.has(lineType) && !isNamed)
      return `${lineType} numbers are called where dialling.destinations names their prefix`;
    if (prefixDigits > 0 || this.#list.any || this.#countries.has(country)) return undefined;
    if (this.#list.home && line !== undefined && withPlan([countryOf(line) ?? '']).has(country)) return undefined;
    return `a number of ${country}: dialling.destinations allows ${this.text}`;
  }

  /** The list in words: `CA, US, numbers that begin with +8816`. */
  get text(): string {
    const { any, prefixes } = this.#list;
    const countries = any ? ['every country'] : [...this.#countries].sort();
    const begins = prefixes.length === 0 ? [] : [`numbers that begin with ${prefixes.map((each) => `+${each}`).join(' or ')}`];
    return [...countries, ...begins].join(', ') || 'none';
  }
}

function withPlan(countries: readonly string[]): ReadonlySet<string> {
  return new Set(countries.some((each) => ONE_PLAN.some((one) => one === each)) ? [...countries, ...ONE_PLAN] : countries);
}

/** The destinations of each tenant. */
export type DestinationsOf = (tenantId: string) => Destinations;

/**
 * @param written the setting `dialling.destinations`
 * @param callerIds of a tenant
 * @param profileCountries of the profile of the settings
 */
export function destinationsOf(
  written: string,
  callerIds: (tenantId: string) => readonly CallerId[],
  profileCountries: readonly string[] = [],
): DestinationsOf {
  const { list } = readDestinations(written);
  const known = new Map<string, Destinations>();
  return (tenantId) => {
    const destinations =
      known.get(tenantId) ?? new Destinations(list, [...callerIds(tenantId).map(({ number }) => number), ...profileCountries]);
    known.set(tenantId, destinations);
    return destinations;
  };
}
