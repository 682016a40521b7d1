import { readFileSync } from 'node:fs';
import { errorText, OffhookError } from '../kernel/errors.ts';

/** The price file is unreadable, or has an invalid line. The message names the line. */
export class DialPricesError extends OffhookError {
  readonly code = 'OFFHOOK_DIAL_PRICES';
  readonly retryable = false;
}

/** Cost of a call in millionths of the list's currency. */
interface Price {
  readonly perMinuteMicros: number;
  readonly perCallMicros: number;
}

const COLUMNS = 'prefix,per_minute,per_call';
const AMOUNT = /^\d{1,6}(?:\.\d{1,6})?$/u;
const MICROS = 1_000_000;

/** Prices of calls by number prefix. A number without a price has an unknown cost. */
export class DialPrices {
  static readonly none = new DialPrices(new Map());

  readonly #byPrefix: ReadonlyMap<string, Price>;
  readonly #longest: number;

  private constructor(byPrefix: ReadonlyMap<string, Price>) {
    this.#byPrefix = byPrefix;
    this.#longest = Math.max(0, ...Array.from(byPrefix.keys(), ({ length }) => length));
  }

  /** @param path of a CSV file; no prices when absent. @throws DialPricesError */
  static load(path: string | undefined): DialPrices {
    if (path === undefined) return DialPrices.none;
    let text: string;
    try {
      text = readFileSync(path, 'utf8');
    } catch (error) {
      throw new DialPricesError(`the prices in ${path} cannot be read: ${errorText(error)}`);
    }
    return DialPrices.parse(text, path);
  }

  /** @param csv with the columns `prefix,per_minute,per_call`. @throws DialPricesError */
  static parse(csv: string, path: string): DialPrices {
    const [header = '', ...lines] = csv.replace(/^\uFEFF/u, '').split(/\r?\n/u);
    if (header.replaceAll(' ', '') !== COLUMNS) throw new DialPricesError(`${path}, line 1: the columns are ${COLUMNS}`);
    const byPrefix = new Map<string, Price>();
    for (const [at, line] of lines.entries()) {
      if (line.trim() === '') continue;
      const [prefix = '', perMinute = '', perCall = '', ...more] = line.split(',').map((cell) => cell.trim());
      const digits = /^\+?([1-9]\d{0,14})$/u.exec(prefix)?.[1];
      if (digits === undefined || !AMOUNT.test(perMinute) || !/^$/u.test(perCall.replace(AMOUNT, '')) || more.length > 0)
        throw new DialPricesError(`${path}, line ${at + 2}: a line is +44,0.012,0.005, with prices below a million`);
      byPrefix.set(digits, { perMinuteMicros: microsOf(perMinute), perCallMicros: microsOf(perCall) });
    }
    return new DialPrices(byPrefix);
  }

  get size(): number {
    return this.#byPrefix.size;
  }

  /**
   * Highest cost of a call of this length, in whole millionths of the currency, by the number's longest priced prefix.
   * @param e164 the number
   * @returns undefined without a matching prefix
   */
  costMicros(e164: string, minutes: number): number | undefined {
    const digits = e164.replace(/^\+/u, '');
    for (let length = Math.min(this.#longest, digits.length); length > 0; length -= 1) {
      const price = this.#byPrefix.get(digits.slice(0, length));
      if (price !== undefined) return Math.ceil(price.perCallMicros + price.perMinuteMicros * minutes);
    }
    return undefined;
  }
}

function microsOf(amount: string): number {
  return Math.round(Number(amount === '' ? 0 : amount) * MICROS);
}
