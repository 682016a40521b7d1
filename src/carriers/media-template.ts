import type { JsonDialect } from './json-dialect.ts';

/** A stretch that is the same in every message, and what follows it. */
interface Piece {
  readonly bytes: Uint8Array;
  readonly next: 'payload' | 'digits' | 'time' | 'end';
  /** The digits are a number of JSON, which has no zero in front, and not a text. */
  readonly isNumber: boolean;
}

const ZERO = 0x30;
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
  readonly #pieces: readonly Piece[];
  readonly #payloadLength: number;
  /** Of the message that fitted last: where its payload begins and ends, and its timestamp if it has one. */
  payloadStart = 0;
  payloadEnd = 0;
  timestampMs: number | undefined;

  private constructor(pieces: readonly Piece[], payloadLength: number) {
    this.#pieces = pieces;
    this.#payloadLength = payloadLength;
  }

  /**
   * @param text a message that was read as audio
   * @param timestampMs what was read of it
   * @returns undefined for one that is written in a way that leaves a doubt about what stands where
   */
  static of(text: string, { payload, timestampMs: time }: JsonDialect['audio'], timestampMs: number | undefined) {
    const payloadStart = valueOf(text, payload.at(-1));
    const timeStart = valueOf(text, time.at(-1));
    if (text.includes('\\') || payloadStart === undefined || text[payloadStart] !== '"') return undefined;
    if ((timeStart === undefined) !== (timestampMs === undefined)) return undefined;
    const from = payloadStart + 1;
    const to = text.indexOf('"', from);
    const pieces: Piece[] = [];
    let at = 0;
    let hasTime = false;
    const add = (start: number, next: Piece['next']): void => {
      pieces.push({ bytes: Buffer.from(text.slice(at, start)), next, isNumber: text[start - 1] === ':' });
    };
    const addPayload = (): void => {
      add(from, 'payload');
      at = to;
    };
    for (const { index, 0: digits } of text.matchAll(DIGITS)) {
      if (index >= from && at < to) addPayload();
      if (index < at) continue;
      const isTime = index === timeStart || (index - 1 === timeStart && text[timeStart] === '"');
      hasTime ||= isTime;
      add(index, isTime ? 'time' : 'digits');
      at = index + digits.length;
    }
    if (at < to) addPayload();
    add(text.length, 'end');
    return hasTime === (timestampMs !== undefined) ? new MediaTemplate(pieces, to - from) : undefined;
  }

  /** Whether this is such a message. What is between the quotes of its payload has still to be looked at. */
  fits(data: Uint8Array): boolean {
    let at = 0;
    for (const { bytes, next, isNumber } of this.#pieces) {
      for (let index = 0; index < bytes.length; index += 1, at += 1) if (data[at] !== bytes[index]) return false;
      if (next === 'end') return at === data.length;
      if (next === 'payload') {
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
      if (count === 0 || count > MOST_DIGITS || (isNumber && count > 1 && data[start] === ZERO)) return false;
      if (next === 'time') this.timestampMs = value;
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
