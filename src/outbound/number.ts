import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { DialNumber, LineType } from '../config/phone-number.ts';

export { type DialNumber, isRegion, LINE_TYPES, readNumber } from '../config/phone-number.ts';

/** Mobile numbers of these countries have an area code (libphonenumber's list of geographical mobile numbers). */
const MOBILE_BY_AREA = new Set(['MX', 'AR', 'BR', 'ID', 'CN']);
const BY_AREA: ReadonlySet<LineType> = new Set(['fixed-line', 'fixed-line-or-mobile']);
const zonesDocument = z.object({ groups: z.array(z.object({ zones: z.string(), prefixes: z.string() })) });

/** The zones that Offhook ships. */
const SHIPPED_ZONES = fileURLToPath(new URL('../../config/dialling/number-zones.json', import.meta.url));

/** Time zones of numbers, by prefix. */
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

  /** Possible zones of a number: its area's where it has one, else its country code's. Empty if unknown. */
  of(number: DialNumber): readonly string[] {
    const { e164, lineType, country } = number;
    if (lineType === undefined) return [];
    const digits = e164.slice(1);
    const byArea = BY_AREA.has(lineType) || (lineType === 'mobile' && MOBILE_BY_AREA.has(country ?? ''));
    if (byArea) return this.#longestOf(digits) ?? [];
    // No country code is a prefix of another, so the shortest known prefix is the country code.
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
 * The zones in which the calling window must be open: all those of the number, and the given one. The given one counts alone if it is one of the
 * number's, or if its author may choose the rules.
 */
export function recipientZones(number: DialNumber, zones: NumberZones, given?: string, givenAlone = false): readonly string[] {
  const own = zones.of(number);
  if (given === undefined) return own;
  return givenAlone || own.includes(given) ? [given] : own.length === 0 ? own : [...own, given];
}
