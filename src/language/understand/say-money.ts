import type { Language } from './language.ts';
import type { Currency } from './money.ts';
import { sayInteger } from './say-integer.ts';

interface UnitNames {
  readonly unit: readonly [string, string];
  readonly minor: readonly [string, string];
}

const NAMES: Readonly<Record<Language, Readonly<Record<Currency, UnitNames>>>> = {
  en: {
    INR: { unit: ['rupee', 'rupees'], minor: ['paisa', 'paise'] },
    USD: { unit: ['dollar', 'dollars'], minor: ['cent', 'cents'] },
  },
  hi: {
    INR: { unit: ['रुपया', 'रुपये'], minor: ['पैसा', 'पैसे'] },
    USD: { unit: ['डॉलर', 'डॉलर'], minor: ['सेंट', 'सेंट'] },
  },
};

/**
 * An amount as it is said: `एक लाख पच्चीस हज़ार रुपये पचास पैसे`, `twelve dollars and fifty cents`. Rupees are cut by lakh
 * and crore in English too.
 * @param amount a decimal with at most two places, `1250.50`
 * @throws RangeError for anything else
 */
export function sayMoney(language: Language, amount: string, currency: Currency): string {
  const parts = /^(\d{1,12})(?:\.(\d{1,2}))?$/.exec(amount);
  if (parts === null) throw new RangeError(`no amount of money: ${amount.slice(0, 20)}`);
  const whole = Number(parts[1]);
  const minor = Number((parts[2] ?? '').padEnd(2, '0'));
  const names = NAMES[language][currency];
  const named = (value: number, [one, many]: readonly [string, string]): string =>
    `${sayInteger(language, value, currency === 'INR' ? 'indian' : 'western')} ${value === 1 ? one : many}`;
  if (minor === 0) return named(whole, names.unit);
  if (whole === 0) return named(minor, names.minor);
  return `${named(whole, names.unit)}${language === 'en' ? ' and ' : ' '}${named(minor, names.minor)}`;
}
