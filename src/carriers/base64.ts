const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const PADDING = 0x3d;
const CODES = Uint8Array.from(DIGITS, (digit) => digit.charCodeAt(0));
/** Value of each byte as a base64 digit; -1 for other bytes, which makes any combined value negative. */
const WORTH = new Int8Array(256).fill(-1);
for (const [worth, code] of CODES.entries()) WORTH[code] = worth;

/**
 * Decodes standard base64, with or without padding, directly from bytes. Stricter than `Buffer`, which skips unknown characters; like `Buffer` it
 * ignores the bits after the last whole byte.
 * @param text ASCII; base64 from `start` up to, not including, `end`
 * @param out takes the bytes at its beginning; undefined content when the text is refused
 * @returns the number of bytes written; -1 for an invalid byte, or a wrong number of digits or padding
 * @throws RangeError when `text` ends before `end`, or `out` is too short
 */
export function decodeBase64Into(text: Uint8Array, start: number, end: number, out: Uint8Array): number {
  if (start < 0 || start > end || end > text.length) throw new RangeError(`${start} to ${end} of ${text.length} bytes`);
  const digits = end - start - paddingOf(text, start, end);
  const rest = digits & 3;
  if (rest === 1) return -1;
  const length = (digits * 3) >> 2;
  if (out.length < length) throw new RangeError(`out holds ${out.length} bytes, ${length} are needed`);
  const wholeEnd = start + digits - rest;
  let seen = 0;
  let to = 0;
  for (let at = start; at < wholeEnd; at += 4, to += 3) {
    const group =
      (WORTH[text[at]!]! << 18) | (WORTH[text[at + 1]!]! << 12) | (WORTH[text[at + 2]!]! << 6) | WORTH[text[at + 3]!]!;
    seen |= group;
    out[to] = group >> 16;
    out[to + 1] = group >> 8;
    out[to + 2] = group;
  }
  if (rest !== 0) {
    const third = rest === 3 ? WORTH[text[wholeEnd + 2]!]! : 0;
    const group = (WORTH[text[wholeEnd]!]! << 18) | (WORTH[text[wholeEnd + 1]!]! << 12) | (third << 6);
    seen |= group;
    out[to] = group >> 16;
    if (rest === 3) out[to + 1] = group >> 8;
  }
  return seen < 0 ? -1 : length;
}

/** Length of padded base64 for this many bytes. */
export function base64Length(bytes: number): number {
  return 4 * Math.ceil(bytes / 3);
}

/**
 * Writes bytes as padded standard base64.
 * @param out takes it from `at` on
 * @returns the end of what was written
 * @throws RangeError when `out` is too short
 */
export function encodeBase64Into(bytes: Uint8Array, out: Uint8Array, at: number): number {
  const end = at + base64Length(bytes.length);
  if (end > out.length) throw new RangeError(`out holds ${out.length} bytes, ${end} are needed`);
  const rest = bytes.length % 3;
  const wholeEnd = bytes.length - rest;
  let to = at;
  for (let from = 0; from < wholeEnd; from += 3, to += 4) {
    const group = (bytes[from]! << 16) | (bytes[from + 1]! << 8) | bytes[from + 2]!;
    out[to] = CODES[group >> 18]!;
    out[to + 1] = CODES[(group >> 12) & 63]!;
    out[to + 2] = CODES[(group >> 6) & 63]!;
    out[to + 3] = CODES[group & 63]!;
  }
  if (rest !== 0) {
    const group = (bytes[wholeEnd]! << 16) | (rest === 2 ? bytes[wholeEnd + 1]! << 8 : 0);
    out[to] = CODES[group >> 18]!;
    out[to + 1] = CODES[(group >> 12) & 63]!;
    out[to + 2] = rest === 2 ? CODES[(group >> 6) & 63]! : PADDING;
    out[to + 3] = PADDING;
  }
  return end;
}

/** Padding completes a group of four; elsewhere `=` is left in place as an invalid digit. */
function paddingOf(text: Uint8Array, start: number, end: number): number {
  if (start === end || ((end - start) & 3) !== 0 || text[end - 1] !== PADDING) return 0;
  return text[end - 2] === PADDING ? 2 : 1;
}
