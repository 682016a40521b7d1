/** Countries with a known national number format. */
export type PhoneRegion = 'IN' | 'US';

export interface PhoneReading {
  /** E.164, once the number is whole. */
  readonly number: string | undefined;
  /** Fewest missing digits; 0 when complete, negative when there are too many. */
  readonly missing: number;
  /** No number of this country begins like this. */
  readonly impossible: boolean;
  /** Complete, but may be the beginning of a longer form: `91` may be a country code. */
  readonly open: boolean;
}

interface Plan {
  readonly countryCode: string;
  /** The national trunk prefix. */
  readonly trunk: string;
  readonly national: RegExp;
}

/** National numbers have ten digits in both. */
const DIGITS = 10;
const PLANS: Readonly<Record<PhoneRegion, Plan>> = {
  IN: { countryCode: '91', trunk: '0', national: /^[1-9]/ },
  // North American numbering: area code and exchange begin with 2 to 9.
  US: { countryCode: '1', trunk: '1', national: /^[2-9](?:\d{2}(?:[2-9]|$)|\d?$)/ },
};

/**
 * Reads spoken or keyed digits as a country's telephone number, with or without country code, international prefix (`00`, `011`) and
 * trunk prefix.
 * @param plus a plus was said, so the country code comes first
 */
export function readPhoneNumber(digits: string, region: PhoneRegion, plus = false): PhoneReading {
  const { countryCode, trunk, national } = PLANS[region];
  const exit = region === 'IN' ? '00' : '011';
  if (!plus && digits !== '' && digits.length < exit.length && exit.startsWith(digits)) return incomplete(DIGITS);
  if (!plus && digits.startsWith(exit)) return readPhoneNumber(digits.slice(exit.length), region, true);
  if (plus) {
    if (!digits.startsWith(countryCode)) {
      return { ...incomplete(countryCode.length + DIGITS - digits.length), impossible: !countryCode.startsWith(digits) };
    }
    return ofNational(digits.slice(countryCode.length), national, countryCode, false);
  }
  if (digits.startsWith(trunk)) return ofNational(digits.slice(trunk.length), national, countryCode, false);
  const coded = digits.startsWith(countryCode);
  if (coded && digits.length > DIGITS) return ofNational(digits.slice(countryCode.length), national, countryCode, false);
  return ofNational(digits, national, countryCode, coded);
}

function ofNational(digits: string, national: RegExp, countryCode: string, open: boolean): PhoneReading {
  const missing = DIGITS - digits.length;
  const impossible = missing < 0 || (digits !== '' && !national.test(digits));
  const number = missing === 0 && !impossible ? `+${countryCode}${digits}` : undefined;
  return { number, missing, impossible, open };
}

function incomplete(missing: number): PhoneReading {
  return { number: undefined, missing, impossible: false, open: false };
}

/** The national digits of an E.164 number in the groups in which they are said: 5-5 in India, 3-3-4 in North America. */
export function phoneGroups(number: string): string[] {
  const national = number.slice(-DIGITS);
  return number.startsWith('+91')
    ? [national.slice(0, 5), national.slice(5)]
    : [national.slice(0, 3), national.slice(3, 6), national.slice(6)];
}
