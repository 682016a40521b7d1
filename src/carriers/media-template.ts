import type { JsonDialect } from './json-dialect.ts';

/** Markers of what follows a constant stretch. */
const PAYLOAD = 0;
const NUMBER = 1;
const TIME = 2;
const ORDER = 3;
const END = 4;

const ZERO = 0x30;
const COLON = 0x3a;
/** Most digits that a number holds exactly. */
const MOST_DIGITS = 15;
/** A text or number of digits only, such as a message counter. */
const DIGITS = /(?<=")\d{1,15}(?=")|(?<=:)(?:0|[1-9]\d{0,14})(?=[,}])/gu;

/**
 * An audio message of a stream as a pattern for the following ones, which differ only in digits and in the payload between its quotes. A matching
 * message is the same JSON otherwise, and need not be parsed; any other is parsed in full.
 */
export class MediaTemplate {
  /** All constant stretches, concatenated. */
  readonly #same: Uint8Array;
  /** Two numbers for each stretch: its end in `#same`, and what follows it. */
  readonly #stretches: readonly number[];
  readonly #payloadLength: number;
  /** In the last matching message: start and end of its payload, and its timestamp if it has one. */
  payloadStart = 0;
  payloadEnd = 0;
  timestampMs: number | undefined;
  /** Its number, for a carrier that counts frames. */
  number: number | undefined;

  private constructor(same: Uint8Array, stretches: readonly number[], payloadLength: number) {
    this.#same = same;
    this.#stretches = stretches;
    this.#payloadLength = payloadLength;
  }

  /**
   * @param text a message that was parsed as audio
   * @param timestampMs its parsed timestamp, like `number`
   * @returns undefined for a message whose layout is ambiguous
   */
  static of(
    text: string,
    { payload, timestampMs: time, order }: JsonDialect['audio'],
    timestampMs: number | undefined,
    number?: number,
  ) {
    const payloadStart = valueOf(text, payload.at(-1));
    const timeStart = valueOf(text, time.at(-1));
    const orderStart = order === undefined ? undefined : valueOf(text, order.at(-1));
    if (text.includes('\\') || payloadStart === undefined || text[payloadStart] !== '"') return undefined;
    if ((timeStart === undefined) !== (timestampMs === undefined)) return undefined;
    if ((orderStart === undefined) !== (number === undefined)) return undefined;
    const from = payloadStart + 1;
    const to = text.indexOf('"', from);
    const stretches: number[] = [];
    let same = '';
    let sameBytes = 0;
    let at = 0;
    let hasTime = false;
    let hasOrder = false;
    const isAt = (index: number, start: number | undefined): boolean =>
      index === start || (index - 1 === start && text[start] === '"');
    const add = (start: number, next: number): void => {
      const stretch = text.slice(at, start);
      same += stretch;
      sameBytes += Buffer.byteLength(stretch);
      stretches.push(sameBytes, next);
    };
    const addPayload = (): void => {
      add(from, PAYLOAD);
      at = to;
    };
    for (const { index, 0: digits } of text.matchAll(DIGITS)) {
      if (index >= from && at < to) addPayload();
      if (index < at) continue;
      const isTime = isAt(index, timeStart);
      const isOrder = isAt(index, orderStart);
      hasTime ||= isTime;
      hasOrder ||= isOrder;
      add(index, isTime ? TIME : isOrder ? ORDER : NUMBER);
      at = index + digits.length;
    }
    if (at < to) addPayload();
    add(text.length, END);
    if (hasTime !== (timestampMs !== undefined) || hasOrder !== (number !== undefined)) return undefined;
    // Not a `Buffer`: a small one would keep its larger pool alive.
    return new MediaTemplate(new TextEncoder().encode(same), stretches, to - from);
  }

  /** Whether the message matches. The payload between its quotes is not checked. */
  fits(data: Uint8Array): boolean {
    const same = this.#same;
    const stretches = this.#stretches;
    let at = 0;
    let index = 0;
    for (let stretch = 0; stretch < stretches.length; stretch += 2) {
      const end = stretches[stretch]!;
      const next = stretches[stretch + 1]!;
      for (; index < end; index += 1, at += 1) if (data[at] !== same[index]) return false;
      if (next === END) return at === data.length;
      if (next === PAYLOAD) {
        this.payloadStart = at;
        at += this.#payloadLength;
        this.payloadEnd = at;
        continue;
      }
      const start = at;
      let value = 0;
      for (let digit = data[at]! - ZERO; digit >= 0 && digit <= 9; digit = data[at]! - ZERO) {
        value = value * 10 + digit;
        at += 1;
      }
      const count = at - start;
      if (count === 0 || count > MOST_DIGITS) return false;
      // Unquoted digits are a JSON number, which has no leading zero.
      if (count > 1 && data[start] === ZERO && data[start - 1] === COLON) return false;
      if (next === TIME) this.timestampMs = value;
      else if (next === ORDER) this.number = value;
    }
    return false;
  }
}

/** Start of this key's value; undefined unless it is written once and without blanks. */
function valueOf(text: string, key: string | undefined): number | undefined {
  const at = text.indexOf(`"${key}"`);
  const end = at + `"${key}":`.length;
  return at === -1 || text.includes(`"${key}"`, at + 1) || text[end - 1] !== ':' ? undefined : end;
}
