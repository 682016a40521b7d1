import type { JsonDialect } from './json-dialect.ts';

/** What follows a stretch that is the same in every message. */
const PAYLOAD = 0;
const NUMBER = 1;
const TIME = 2;
const ORDER = 3;
const END = 4;

const ZERO = 0x30;
const COLON = 0x3a;
/** As many as a number holds exactly. */
const MOST_DIGITS = 15;
/** A text or a number of nothing but digits, as messages count themselves by. */
const DIGITS = /(?<=")\d{1,15}(?=")|(?<=:)(?:0|[1-9]\d{0,14})(?=[,}])/gu;

/**
 * A media message of a stream, as a pattern for the ones that follow: they differ from it in digits and in what is between the
 * quotes of the payload. Whatever fits is the same JSON but for these, so that nothing of it need be parsed again; what does not
 * fit says nothing, and is read in full.
 */
export class MediaTemplate {
  /** All that is the same in every message, one stretch behind the other. */
  readonly #same: Uint8Array;
  /** Two numbers for each stretch: where it ends in `#same`, and what follows it. */
  readonly #stretches: readonly number[];
  readonly #payloadLength: number;
  /** Of the message that fitted last: where its payload begins and ends, and its timestamp if it has one. */
  payloadStart = 0;
  payloadEnd = 0;
  timestampMs: number | undefined;
  /** Of a carrier that counts its frames. */
  number: number | undefined;

  private constructor(same: Uint8Array, stretches: readonly number[], payloadLength: number) {
    this.#same = same;
    this.#stretches = stretches;
    this.#payloadLength = payloadLength;
  }

  /**
   * @param text a message that was read as audio
   * @param timestampMs what was read of it, and so is `number`
   * @returns undefined for one that is written in a way that leaves a doubt about what stands where
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
    // No `Buffer`: a small one is a part of a larger, and holds on to all of it.
    return new MediaTemplate(new TextEncoder().encode(same), stretches, to - from);
  }

  /** Whether this is such a message. What is between the quotes of its payload has still to be looked at. */
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
      // Digits without quotes are a number of JSON, which has no zero in front.
      if (count > 1 && data[start] === ZERO && data[start - 1] === COLON) return false;
      if (next === TIME) this.timestampMs = value;
      else if (next === ORDER) this.number = value;
    }
    return false;
  }
}

/** Where the value of this key begins; undefined when it is not written once and without blanks. */
function valueOf(text: string, key: string | undefined): number | undefined {
  const at = text.indexOf(`"${key}"`);
  const end = at + `"${key}":`.length;
  return at === -1 || text.includes(`"${key}"`, at + 1) || text[end - 1] !== ':' ? undefined : end;
}
