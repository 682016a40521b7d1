/** A masked number: its last two digits, and the count of the hidden ones. Not reversible. */
export function maskNumber(number: string): string {
  const user = /^(sips?:)?([^@;]*)/iu.exec(number)?.[2] ?? number;
  return user.length <= 4 ? '*'.repeat(user.length) : '*'.repeat(user.length - 2) + user.slice(-2);
}

/** Five or more digits with separators: possibly a mistyped telephone number. */
const DIGITS = /\d(?:[^\d\p{L}]{0,2}\d){4,}/gu;

/** Masks text that may contain numbers: all but the last two digits of anything like one. */
export function maskDigits(text: string): string {
  return text.replaceAll(DIGITS, (digits) => digits.replaceAll(/\d(?=.*\d.*\d)/gu, '*'));
}

/** A number in E.164 form, as an answer contract writes it. */
const E164 = /\+\d{7,15}(?!\d)/gu;
/** Shorter numbers (service numbers, withheld ones) would match amounts and dates. */
const LEAST_OWN = 7;

/**
 * Masks numbers in a text: those in E.164 form, and the call's own in any notation.
 * @param own the call's numbers: caller and called
 */
export function maskNumbersIn(text: string, own: readonly string[]): string {
  const known = own.filter((number) => number.length >= LEAST_OWN);
  return known.reduce((masked, number) => masked.replaceAll(number, maskNumber(number)), text).replaceAll(E164, maskNumber);
}
