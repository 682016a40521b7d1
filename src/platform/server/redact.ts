const hidden = '[removed]';

/**
 * A request target fit for a log: the value of every query parameter that can carry a credential is removed (platform
 * doc, authentication rule 3: URLs are logged in plaintext), and so is text to speak, which is the caller's.
 * @param target path and query as received, any bytes
 */
export function redactTarget(target: string): string {
  const at = target.indexOf('?');
  if (at === -1) return target.slice(0, 200);
  const shown = target
    .slice(at + 1)
    .split('&')
    .slice(0, 20)
    .map((pair) => {
      const name = pair.split('=', 1)[0] ?? '';
      return harmless.has(name) ? pair.slice(0, 100) : `${name.slice(0, 40)}=${hidden}`;
    });
  return `${target.slice(0, Math.min(at, 200))}?${shown.join('&')}`;
}

const harmless = new Set(['expires_in', 'model', 'voice', 'encoding', 'response_format', 'speed', 'language', 'sm-sdk']);
