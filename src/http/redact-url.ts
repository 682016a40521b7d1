/** A request's path as logs may show it: no query, no stream token. */
export function redactUrl(url: string): string {
  const path = url.split(/[?#]/, 1)[0] ?? '';
  return path.replace(/(\/carriers\/[^/]*\/stream\/).+/i, '$1[token]').slice(0, 300);
}
