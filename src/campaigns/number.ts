import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
// The `max` metadata has the patterns of every line type; with `min` most numbers would have no type, and the gate refuses those.
import { type CountryCode, isSupportedCountry, parsePhoneNumberFromString, type PhoneNumber } from 'libphonenumber-js/max';
import { z } from 'zod';

export const LINE_TYPES = [
  'mobile',
  'fixed-line',
  'fixed-line-or-mobile',
  'voip',
  'toll-free',
  'premium-rate',
  'shared-cost',
  'personal',
  'pager',
  'company',
  'voicemail',
] as const;
export type LineType = (typeof LINE_TYPES)[number];

/** A number that its country's numbering plan knows. */
export interface DialNumber {
  /** E.164: `+919876543210`. */
  readonly e164: string;
  /** ISO 3166 code; undefined for numbers of no country, such as satellite phones. */
  readonly country: string | undefined;
  readonly lineType: LineType | undefined;
}

const TYPES: Readonly<Record<NonNullable<ReturnType<PhoneNumber['getType']>>, LineType>> = {
  MOBILE: 'mobile',
  FIXED_LINE: 'fixed-line',
  FIXED_LINE_OR_MOBILE: 'fixed-line-or-mobile',
  VOIP: 'voip',
  TOLL_FREE: 'toll-free',
  PREMIUM_RATE: 'premium-rate',
  SHARED_COST: 'shared-cost',
  PERSONAL_NUMBER: 'personal',
  PAGER: 'pager',
  UAN: 'company',
  VOICEMAIL: 'voicemail',
};
const SPREADSHEET = /^\d(?:[.,]\d+)?E\+?\d+$/iu;

export function isRegion(code: string): boolean {
  return isSupportedCountry(code);
}

/**
 * Reads a number as people write it.
 * @param region ISO 3166 code that a number without `+` belongs to; undefined accepts international numbers only
 * @returns the number, or why it is none; the reason has nothing of the text, so that it can be logged
 */
export function readNumber(text: string, region?: string): DialNumber | { readonly reason: string } {
  // Spreadsheets write an apostrophe before a number that is kept as text.
  const written = text.trim().replace(/^'/u, '');
  if (written === '') return { reason: 'the number is empty' };
  if (SPREADSHEET.test(written)) {
    return { reason: 'a spreadsheet rounded the number: format the column as text and export it again' };
  }
  const country = region !== undefined && isSupportedCountry(region) ? region : undefined;
  const parsed = parsePhoneNumberFromString(written, { ...(country && { defaultCountry: country }), extract: false });
  if (parsed === undefined) {
    const hint =
      country === undefined && !/^[+0]/u.test(written)
        ? ': without a default region it has to begin with + and the country code'
        : '';
    return { reason: `not a telephone number${hint}` };
  }
  if (parsed.ext !== undefined) return { reason: 'a number with an extension cannot be dialled' };
  if (!parsed.isValid()) return { reason: `no such number in the numbering plan of ${placeOf(parsed, country)}` };
  const type = parsed.getType();
  return { e164: parsed.number, country: parsed.country, lineType: type === undefined ? undefined : TYPES[type] };
}

function placeOf(parsed: PhoneNumber, country: CountryCode | undefined): string {
  return parsed.country ?? country ?? `country code +${parsed.countryCallingCode}`;
}

/** Mobile numbers of these countries have an area code (libphonenumber's list of geographical mobile numbers). */
const MOBILE_BY_AREA = new Set(['MX', 'AR', 'BR', 'ID', 'CN']);
const BY_AREA: ReadonlySet<LineType> = new Set(['fixed-line', 'fixed-line-or-mobile']);
const zonesDocument = z.object({ groups: z.array(z.object({ zones: z.string(), prefixes: z.string() })) });

/** The zones that Offhook ships. */
const SHIPPED_ZONES = fileURLToPath(new URL('../../config/dialling/number-zones.json', import.meta.url));

/** Time zones of numbers, by their prefixes. */
export class NumberZones {
  readonly #byPrefix = new Map<string, readonly string[]>();
  readonly #longest: number;

  /** @param document content of `config/dialling/number-zones.json` */
  constructor(document: unknown) {
    for (const { zones, prefixes } of zonesDocument.parse(document).groups) {
      const names = zones.split(' ');
      for (const prefix of prefixes.split(' ')) this.#byPrefix.set(prefix, names);
    }
    this.#longest = Math.max(...[...this.#byPrefix.keys()].map(({ length }) => length));
  }

  /** @param path of `number-zones.json`; the shipped one when absent */
  static load(path = SHIPPED_ZONES): NumberZones {
    return new NumberZones(JSON.parse(readFileSync(path, 'utf8')));
  }

  /**
   * All zones that a number may be in: those of its area where the number has one, else those of its whole country code.
   * Empty where nothing is known of it.
   */
  of(number: DialNumber): readonly string[] {
    const { e164, lineType, country } = number;
    if (lineType === undefined) return [];
    const digits = e164.slice(1);
    const byArea = BY_AREA.has(lineType) || (lineType === 'mobile' && MOBILE_BY_AREA.has(country ?? ''));
    if (byArea) return this.#longestOf(digits) ?? [];
    // No country code is the beginning of another, so the shortest prefix that is known is that of the country code.
    for (let length = 1; length <= 3; length += 1) {
      const zones = this.#byPrefix.get(digits.slice(0, length));
      if (zones !== undefined) return zones;
    }
    return [];
  }

  #longestOf(digits: string): readonly string[] | undefined {
    for (let length = Math.min(this.#longest, digits.length); length > 0; length -= 1) {
      const zones = this.#byPrefix.get(digits.slice(0, length));
      if (zones !== undefined) return zones;
    }
    return undefined;
  }
}

/**
 * The zones in which a person's clock has to be inside the calling window: the zone that the contact came with where there is
 * one, else all those of the number.
 */
export function recipientZones(number: DialNumber, zones: NumberZones, given?: string): readonly string[] {
  return given === undefined ? zones.of(number) : [given];
}
