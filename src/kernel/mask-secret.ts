/** Replaces a secret in a text that came from a server, so that it can be shown and logged. */
export type MaskSecret = (text: string) => string;

/** Shorter beginnings of a secret are not masked. */
const MOST_SHOWN = 16;
/** A character in percent-encoding, HTML or JSON, also when encoded twice, with the base of its number. */
const ENCODINGS = [
  [/%(?:25)*([0-9a-f]{2})/iy, 16],
  [/%([0-9a-f]{2})/iy, 16],
  [/&(?:amp;)*#x([0-9a-f]{1,6});/iy, 16],
  [/&(?:amp;)*#(\d{1,7});/y, 10],
  [/\\+u([0-9a-f]{4})/iy, 16],
] as const;
const ESCAPED = /\\+([^])/y;

/**
 * Masks a credential in a server's text: as it was sent, percent-encoded, escaped in JSON or HTML, or cut off after its
 * sixteenth character.
 * @param label the replacement
 */
export function maskSecret(secret: string, label = '[token]'): MaskSecret {
  if (secret === '') return (text) => text;
  return (text) => {
    let masked = '';
    let shownTo = 0;
    for (let at = 0; at < text.length;) {
      const length = echoLength(text, at, secret);
      if (length > 0) {
        masked += text.slice(shownTo, at) + label;
        shownTo = at + length;
      }
      at += Math.max(1, length);
    }
    return shownTo === 0 ? text : masked + text.slice(shownTo);
  };
}

/** Length of the secret's echo at this position; 0 without one. */
function echoLength(text: string, from: number, secret: string): number {
  let at = from;
  for (let index = 0; index < secret.length; index += 1) {
    const wanted = secret.charAt(index);
    const units = encodedUnits(text, at, wanted) || (text.charAt(at) === wanted ? 1 : 0);
    if (units === 0) return index > MOST_SHOWN ? at - from : 0;
    at += units;
  }
  return at - from;
}

/** Length of the encoded form of `wanted` at this position; 0 without one. */
function encodedUnits(text: string, at: number, wanted: string): number {
  const first = text.charAt(at);
  if (first !== '%' && first !== '\\' && first !== '&') return 0;
  for (const [pattern, base] of ENCODINGS) {
    pattern.lastIndex = at;
    const [whole = '', code = ''] = pattern.exec(text) ?? [];
    if (Number.parseInt(code, base) === wanted.charCodeAt(0)) return whole.length;
  }
  ESCAPED.lastIndex = at;
  const [whole = '', character] = ESCAPED.exec(text) ?? [];
  return character === wanted ? whole.length : 0;
}
