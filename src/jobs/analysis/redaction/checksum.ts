/** Luhn's check of a card number (ISO/IEC 7812-1, annex B). @param digits digits alone */
export function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let index = 0; index < digits.length; index += 1) {
    const digit = Number(digits[digits.length - 1 - index]);
    const doubled = index % 2 === 1 ? 2 * digit : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return digits !== '' && sum % 10 === 0;
}

/** Products of the dihedral group D5, in which Verhoeff's check calculates. */
function product(left: number, right: number): number {
  if (left < 5) return right < 5 ? (left + right) % 5 : 5 + ((left + right - 5) % 5);
  return right < 5 ? 5 + ((left - 5 - right + 5) % 5) : (left - right + 5) % 5;
}

const PERMUTATION = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4];

/** Verhoeff's check, which an Aadhaar number ends with. @param digits digits alone */
export function passesVerhoeff(digits: string): boolean {
  let check = 0;
  for (let index = 0; index < digits.length; index += 1) {
    let value = Number(digits[digits.length - 1 - index]);
    for (let times = 0; times < index % 8; times += 1) value = PERMUTATION[value]!;
    check = product(check, value);
  }
  return digits !== '' && check === 0;
}
