/** Replaces a secret in a text that came from a server, so that it can be shown and logged. */
export type MaskSecret = (text: string) => string;

/** An echo that was cut off shows this much of the secret at most. */
const MOST_SHOWN = 16;
/** A character as percent-encoding, HTML or JSON write it, also where one of them was encoded again; the base of its number. */
const ENCODINGS = [
  [/%(?:25)*([0-9a-f]{2})/iy, 16],
  [/%([0-9a-f]{2})/iy, 16],
  [/&(?:amp;)*#x([0-9a-f]{1,6});/iy, 16],
  [/&(?:amp;)*#(\d{1,7});/y, 10],
  [/\\+u([0-9a-f]{4})/iy, 16],
] as const;
const ESCAPED = /\\+([^])/y;

/**
 * Finds a credential that a server repeats: as it was sent, percent-encoded, escaped in JSON or HTML, or cut off behind its
 * sixteenth character.
 * @param label what stands in its place
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

/** How many characters of the text from here on are the secret; 0 when it does not stand here. */
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

/** Length of an encoded character at this place; 0 when it is not this one. */
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
