import { type Language, localeOf, useLanguage } from '../../words.ts';

/** What an API field of a cost holds. */
export type Cost = number | 'unknown';

/** Currency of a gateway without a price file. */
const NO_CURRENCY = 'XXX';

/** `€0.0378`: to a hundredth of a cent, since a call costs cents. */
function moneyText(language: Language, value: number, currency: string): string {
  const digits = { minimumFractionDigits: 2, maximumFractionDigits: value !== 0 && Math.abs(value) < 100 ? 4 : 2 };
  const style = currency === NO_CURRENCY ? {} : ({ style: 'currency', currency } as const);
  return value.toLocaleString(localeOf(language), { ...style, ...digits });
}

/** How the reader's language writes an amount of money. */
export function useMoney(): (value: number, currency: string) => string {
  const language = useLanguage();
  return (value, currency) => moneyText(language, value, currency);
}
