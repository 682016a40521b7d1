/** One instruction of an answer document that the simulated carrier obeys. */
export type Verb =
  | {
      readonly verb: 'stream';
      readonly url: string;
      readonly parameters: Readonly<Record<string, string>>;
      readonly attributes: Readonly<Record<string, string>>;
    }
  | { readonly verb: 'say'; readonly text: string }
  | { readonly verb: 'play'; readonly url: string; readonly digits: string }
  | { readonly verb: 'pause'; readonly seconds: number }
  | { readonly verb: 'redirect'; readonly url: string }
  /** The call goes on with somebody else. */
  | { readonly verb: 'dial'; readonly to: string }
  /** The call goes on in a conference. */
  | { readonly verb: 'conference'; readonly room: string; readonly attributes: Readonly<Record<string, string>> }
  | { readonly verb: 'hang-up' }
  /** Passed over. */
  | { readonly verb: 'unknown'; readonly name: string };

interface Tag {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly closing: boolean;
  readonly empty: boolean;
  /** Text between this tag and the next. */
  readonly text: string;
}

/**
 * Reads an answer document: the verbs inside `<Response>`, in order. Strict about nesting, so that a document that a
 * carrier would refuse is refused here.
 * @throws SyntaxError when the text is no well-formed TwiML
 */
export function readTwiml(document: string): readonly Verb[] {
  const tags = tagsOf(document);
  if (tags[0]?.name !== 'Response' || tags[0].closing) throw new SyntaxError('an answer document starts with <Response>');
  const verbs: Verb[] = [];
  const open: string[] = [];
  let parameters: Record<string, string> = {};
  for (const tag of tags) {
    if (tag.closing) {
      if (open.pop() !== tag.name) throw new SyntaxError(`</${tag.name}> closes nothing`);
      continue;
    }
    const path = [...open, tag.name].join('/');
    if (path === 'Response/Connect/Stream') {
      parameters = {};
      verbs.push({ verb: 'stream', url: tag.attributes['url'] ?? '', parameters, attributes: tag.attributes });
    } else if (path === 'Response/Connect/Stream/Parameter') {
      parameters[tag.attributes['name'] ?? ''] = tag.attributes['value'] ?? '';
    } else if (/^Response\/Dial\/(Number|Sip)$/u.test(path)) verbs.push({ verb: 'dial', to: tag.text.trim() });
    else if (path === 'Response/Dial/Conference')
      verbs.push({ verb: 'conference', room: tag.text.trim(), attributes: tag.attributes });
    else if (open.length === 1 && tag.name !== 'Connect' && tag.name !== 'Dial') verbs.push(verbOf(tag));
    if (!tag.empty) open.push(tag.name);
  }
  if (open.length > 0) throw new SyntaxError(`<${open.at(-1)}> is never closed`);
  return verbs;
}

function verbOf({ name, attributes, text }: Tag): Verb {
  switch (name) {
    case 'Say':
      return { verb: 'say', text: text.trim() };
    case 'Play':
      return { verb: 'play', url: text.trim(), digits: attributes['digits'] ?? '' };
    case 'Pause':
      return { verb: 'pause', seconds: Number(attributes['length'] ?? 1) };
    case 'Redirect':
      return { verb: 'redirect', url: text.trim() };
    case 'Hangup':
    case 'Reject':
      return { verb: 'hang-up' };
    default:
      return { verb: 'unknown', name };
  }
}

function tagsOf(document: string): readonly Tag[] {
  const body = document.replaceAll(/<\?[^]*?\?>|<!--[^]*?-->/gu, '');
  const tags: Tag[] = [];
  const pattern = /<(\/?)([A-Za-z]+)((?:\s+[A-Za-z]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>([^<]*)/gu;
  let at = body.search(/\S/u);
  for (const match of body.matchAll(pattern)) {
    if (match.index !== at) break;
    at = match.index + match[0].length;
    tags.push({
      name: match[2]!,
      attributes: attributesOf(match[3]!),
      closing: match[1] === '/',
      empty: match[4] === '/',
      text: unescapeXml(match[5]!),
    });
  }
  if (at !== body.length) throw new SyntaxError(`not well-formed at character ${at}`);
  return tags;
}

function attributesOf(text: string): Record<string, string> {
  const pairs = text.matchAll(/([A-Za-z]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/gu);
  return Object.fromEntries(Array.from(pairs, (match) => [match[1]!, unescapeXml(match[2] ?? match[3] ?? '')]));
}

function unescapeXml(text: string): string {
  const named: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };
  return text.replaceAll(/&(#x[0-9a-f]+|#\d+|[a-z]+);/giu, (whole, entity: string) => {
    if (entity.startsWith('#x')) return String.fromCodePoint(Number.parseInt(entity.slice(2), 16));
    if (entity.startsWith('#')) return String.fromCodePoint(Number(entity.slice(1)));
    return named[entity] ?? whole;
  });
}
