// The `max` metadata has the patterns of every line type; with `min` most numbers would have no type, and the gate refuses those.
import {
  type CountryCode,
  getCountryCallingCode,
  isSupportedCountry,
  parsePhoneNumberFromString,
  type PhoneNumber,
} from 'libphonenumber-js/max';

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
 * @param region ISO 3166 code for numbers without `+`; undefined accepts international numbers only
 * @returns the number, or the reason for rejecting it, without any of the text, for logs
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

/** A country's calling code; undefined for an unknown country. */
export function callingCodeOf(country: string): string | undefined {
  return isSupportedCountry(country) ? getCountryCallingCode(country) : undefined;
}

/** Longest number in E.164, its plus sign included. */
const E164_LENGTH = 16;

/**
 * The country that a number in E.164, or the beginning of one, is of. Where several countries share a code and the digits do not tell, it is the
 * first of them in the numbering plans: the United States for `+1555`.
 * @returns undefined for numbers of no country, such as satellite phones
 */
export function countryOf(text: string): string | undefined {
  for (let written = text; written.length <= E164_LENGTH; written += '0') {
    const parsed = parsePhoneNumberFromString(written, { extract: false });
    const country = parsed?.country ?? parsed?.getPossibleCountries()[0];
    if (country !== undefined) return country;
  }
  return undefined;
}
