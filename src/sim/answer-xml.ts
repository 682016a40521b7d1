/** An element of an answer document, as the carriers read it that answer with `<Response>`s. */
export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** Before its first child, without the blanks around it. */
  readonly text: string;
  readonly children: readonly XmlElement[];
}

/**
 * Reads an answer document; strict about nesting and escapes, so that one that a carrier would refuse is refused here.
 * @param rootName of the outermost element
 * @returns what is inside it, in order
 * @throws SyntaxError
 */
export function readAnswerXml(document: string, rootName = 'Response'): readonly XmlElement[] {
  const body = document.replaceAll(/<\?[^]*?\?>|<!--[^]*?-->/gu, '').trim();
  const root = { name: '', attributes: {}, text: '', children: [] as XmlElement[] };
  const open: { readonly name: string; readonly children: XmlElement[] }[] = [root];
  const pattern =
    /<(?<end>\/?)(?<name>[A-Za-z]+)(?<attributes>(?:\s+[A-Za-z]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(?<empty>\/?)>(?<text>[^<]*)/gu;
  let at = 0;
  for (const match of body.matchAll(pattern)) {
    if (match.index !== at) break;
    at += match[0].length;
    const { end, name = '', attributes = '', empty, text = '' } = match.groups ?? {};
    if (end === '/') {
      if (open.length === 1 || open.pop()?.name !== name) throw new SyntaxError(`</${name}> closes nothing`);
      continue;
    }
    const children: XmlElement[] = [];
    open.at(-1)?.children.push({ name, attributes: attributesOf(attributes), text: unescaped(text).trim(), children });
    if (empty === '') open.push({ name, children });
  }
  if (at !== body.length) throw new SyntaxError(`not well-formed at character ${at}`);
  if (open.length > 1) throw new SyntaxError(`<${open.at(-1)?.name}> is never closed`);
  const [outermost, other] = root.children;
  if (outermost?.name !== rootName || other !== undefined) throw new SyntaxError(`the document is not one <${rootName}>`);
  return outermost.children;
}

function attributesOf(text: string): Record<string, string> {
  const pairs = text.matchAll(/([A-Za-z]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/gu);
  return Object.fromEntries(Array.from(pairs, ([, name = '', one, other = '']) => [name, unescaped(one ?? other)]));
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };

function unescaped(text: string): string {
  return text.replaceAll(/&([^;\s]*);?/gu, (whole, entity: string) => {
    const [, hexadecimal, decimal] = /^#(?:x([0-9a-f]+)|(\d+))$/iu.exec(entity) ?? [];
    if (hexadecimal !== undefined) return String.fromCodePoint(Number.parseInt(hexadecimal, 16));
    const found = decimal === undefined ? ENTITIES[entity] : String.fromCodePoint(Number(decimal));
    if (found === undefined) throw new SyntaxError(`${whole} is no entity`);
    return found;
  });
}
