/** One element of MathML. */
export interface MathNode {
  /** Without a namespace: `mi`, `mfrac`. */
  readonly tag: string;
  readonly children: readonly MathNode[];
  /** Text of elements without children, trimmed; '' otherwise. */
  readonly text: string;
  /** Whether it is a fraction without a line, as binomials are written. */
  readonly lineless: boolean;
}

const TOKEN = /<(?<close>\/)?(?<tag>[a-z]+)(?<attributes>[^>]*?)(?<empty>\/)?>|(?<text>[^<]+)/gu;
const NAMED: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'", nbsp: ' ' };

/**
 * Reads the MathML that temml writes: well-formed, without comments and sections.
 * @throws SyntaxError when elements do not match
 */
export function mathTree(mathMl: string): MathNode {
  const root: Open = { tag: '', children: [], text: '', lineless: false };
  const open = [root];
  for (const { groups } of mathMl.matchAll(TOKEN)) {
    const { close, tag = '', attributes = '', empty, text } = groups ?? {};
    const last = open.at(-1) ?? root;
    if (text !== undefined) last.text += unescaped(text);
    else if (close === undefined) {
      const node: Open = { tag, children: [], text: '', lineless: /linethickness="0/u.test(attributes) };
      last.children.push(node);
      if (empty === undefined) open.push(node);
    } else if (open.pop()?.tag !== tag || open.length === 0) throw new SyntaxError(`MathML: </${tag}> closes nothing`);
  }
  const [math] = root.children;
  if (math === undefined || open.length > 1) throw new SyntaxError('MathML: an element is not closed');
  return trimmed(math);
}

interface Open {
  readonly tag: string;
  readonly children: Open[];
  text: string;
  readonly lineless: boolean;
}

function trimmed(node: Open): MathNode {
  const children = node.children.map((child) => trimmed(child));
  return { ...node, children, text: children.length > 0 ? '' : node.text.trim() };
}

function unescaped(text: string): string {
  return text.replaceAll(/&(?:#x(?<hex>[0-9a-f]+)|#(?<decimal>\d+)|(?<name>[a-z]+));/giu, (whole, ...parts: unknown[]) => {
    const { hex, decimal, name = '' } = parts.at(-1) as Readonly<Record<string, string | undefined>>;
    if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16));
    return decimal === undefined ? (NAMED[name] ?? whole) : String.fromCodePoint(Number(decimal));
  });
}
