import type { CheckKind } from '../contract/contract.ts';

/**
 * Whether a value's check digits are right. `luhn` and `verhoeff` are over digits (the last one checks); `mod97` is
 * ISO 7064 as in IBAN, over letters and digits with the first four characters moved to the end; `mod11` is ISBN-10.
 */
export function checkHolds(kind: CheckKind, value: string): boolean {
  switch (kind) {
    case 'luhn':
      return /^\d{2,}$/.test(value) && luhn(value);
    case 'verhoeff':
      return /^\d{2,}$/.test(value) && verhoeff(value);
    case 'mod97':
      return /^[A-Z0-9]{5,}$/.test(value) && mod97(value);
    case 'mod11':
      return /^\d{9}[\dX]$/.test(value) && mod11(value);
  }
}

function luhn(digits: string): boolean {
  let sum = 0;
  for (const [place, digit] of digits.split('').reverse().entries()) {
    const doubled = Number(digit) * (place % 2 === 1 ? 2 : 1);
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

/** Permutation of a digit by its place from the right, mod 8 (J. Verhoeff, Error Detecting Decimal Codes, 1969). */
const VERHOEFF_STEP = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4] as const;

/** The dihedral group of the pentagon: 0-4 turn, 5-9 turn and flip. */
function dihedral(left: number, right: number): number {
  if (left < 5) return right < 5 ? (left + right) % 5 : ((left + right) % 5) + 5;
  return right < 5 ? ((left - right) % 5) + 5 : (left - right + 5) % 5;
}

function verhoeff(digits: string): boolean {
  let state = 0;
  for (const [place, digit] of digits.split('').reverse().entries()) {
    let permuted = Number(digit);
    for (let turn = 0; turn < place % 8; turn++) permuted = VERHOEFF_STEP[permuted] ?? 0;
    state = dihedral(state, permuted);
  }
  return state === 0;
}

function mod97(value: string): boolean {
  let rest = 0;
  for (const sign of value.slice(4) + value.slice(0, 4)) rest = Number(`${rest}${Number.parseInt(sign, 36)}`) % 97;
  return rest === 1;
}

function mod11(value: string): boolean {
  const sum = value.split('').reduce((total, sign, place) => total + (10 - place) * (sign === 'X' ? 10 : Number(sign)), 0);
  return sum % 11 === 0;
}
