import { Refusal } from '../refusal.ts';

/** A `data:` prefix is tolerated (D); none is near this long. */
const maxPrefixCharacters = 200;

/**
 * Decodes base64 as it arrives, of either alphabet, with or without padding and line ends.
 * @throws Refusal 400 for anything else, and for nothing at all
 */
export async function* decodeBase64(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  let pending = '';
  let begun = false;
  let padded = false;
  let any = false;
  const take = (text: string): Buffer => {
    if (padded && text !== '') throw notBase64();
    padded = text.includes('=');
    if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(text)) throw notBase64();
    any ||= text !== '';
    return Buffer.from(text, 'base64');
  };
  for await (const chunk of chunks) {
    // Any character outside ASCII becomes one that is no base64 either.
    pending += Buffer.from(chunk).toString('latin1').replaceAll(/\s+/g, '');
    if (!begun) {
      const comma = pending.indexOf(',');
      const prefixed = 'data:'.startsWith(pending.slice(0, 5));
      if (prefixed && comma === -1 && pending.length <= maxPrefixCharacters) continue;
      if (prefixed && comma !== -1) pending = pending.slice(comma + 1);
      begun = true;
    }
    const whole = pending.length - (pending.length % 4);
    yield take(pending.slice(0, whole));
    pending = pending.slice(whole);
  }
  if (pending.replace(/=+$/, '').length === 1) throw notBase64();
  yield take(pending);
  if (!any) throw notBase64();
}

function notBase64(): Refusal {
  return new Refusal(400, 'audio_base64: not base64');
}
