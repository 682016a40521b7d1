/** Wraps elements into a `<Response>`, the answer document of many carriers. @param inner elements, escaped */
export function xmlResponse(inner: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?><Response>${inner}</Response>`;
}

/** Has the carrier ask for the next document by a signed POST. */
export function redirectXml(url: string): string {
  return `<Redirect method="POST">${escapeXml(url)}</Redirect>`;
}

/** Ends the call. */
export function hangUpXml(): string {
  return xmlResponse('<Hangup/>');
}

export const XML_TYPE = 'text/xml; charset=utf-8';

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' };

/** Also removes what XML 1.0 cannot hold at all: control characters, lone surrogates, U+FFFE and U+FFFF. */
export function escapeXml(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\p{Cs}\uFFFE\uFFFF]/gu, (mark) => ('\t\n\r'.includes(mark) ? mark : ''))
    .replaceAll(/[&<>"']/g, (mark) => entities[mark] ?? '');
}
