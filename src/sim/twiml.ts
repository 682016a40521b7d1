/** What an answer document tells the simulated carrier to do. */
export interface Twiml {
  readonly stream: { readonly url: string; readonly parameters: Readonly<Record<string, string>> } | undefined;
  readonly say: readonly string[];
}

/** Reads the few verbs that the simulated carrier obeys. @throws Error when the text is no TwiML */
export function readTwiml(text: string): Twiml {
  if (!/<Response\b/u.test(text)) throw new Error(`not TwiML: ${text.slice(0, 200)}`);
  const stream = /<Stream\b([^>]*?)\/?>/u.exec(text);
  const url = stream === null ? undefined : attribute(stream[1] ?? '', 'url');
  const parameters = Object.fromEntries(
    [...text.matchAll(/<Parameter\b([^>]*?)\/?>/gu)].map((match) => [
      attribute(match[1] ?? '', 'name') ?? '',
      attribute(match[1] ?? '', 'value') ?? '',
    ]),
  );
  const say = [...text.matchAll(/<Say\b[^>]*>([^<]*)<\/Say>/gu)].map((match) => unescapeXml(match[1] ?? ''));
  return { stream: url === undefined ? undefined : { url, parameters }, say };
}

function attribute(attributes: string, name: string): string | undefined {
  const value = new RegExp(`\\b${name}="([^"]*)"`, 'u').exec(attributes)?.[1];
  return value === undefined ? undefined : unescapeXml(value);
}

function unescapeXml(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&apos;', "'")
    .replaceAll('&amp;', '&');
}
