import { pairTable } from '../../../kernel/pair-table.ts';
import { type Mathematics, NoWordError } from './mathematics.ts';

/** One element of MathML. */
interface MathNode {
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

/** Signs, with the keys of their words. */
const signs = pairTable(
  `+=plus ±=plusMinus ×=times *=times ∗=times ⋅=dot ·=dot ÷=dividedBy /=dividedBy :=ratio ==equals ≠=notEqual
  ≈=approximately ≅=approximately ≃=approximately ∼=approximately ≡=equivalent <=less >=greater ≤=lessOrEqual
  ⩽=lessOrEqual ≥=greaterOrEqual ⩾=greaterOrEqual ∝=proportional ∈=in ∉=notIn ⊂=subset ⊆=subset ∪=union ∩=intersection
  ∅=emptySet ⌀=emptySet ∧=and ∨=or ¬=not ⇒=implies ⟹=implies ⇔=iff ⟺=iff ∀=forAll ∃=exists ∴=therefore →=tends ⟶=tends
  !=factorial %=percent °=degrees ∘=degrees ′=prime ∞=infinity ∂=partial ∇=nabla ∠=angle △=triangle ∥=parallel
  ⊥=perpendicular ⟂=perpendicular …=andSoOn ⋯=andSoOn (=openBracket [=openBracket {=openBracket )=closeBracket
  ]=closeBracket }=closeBracket ∫=integral ∮=integral ∑=sum ∏=product`,
);
/** Names of functions, with the keys of their words. */
const functions = pairTable(
  `sin=sine cos=cosine tan=tangent cot=cotangent sec=secant csc=cosecant sinh=hyperbolic+sine cosh=hyperbolic+cosine
  tanh=hyperbolic+tangent log=logarithm ln=naturalLogarithm exp=exponential mod=modulo max=maximum min=minimum sup=maximum
  inf=minimum gcd=gcd det=determinant`,
);
const accents: Readonly<Record<string, string>> = { '→': 'vector', ˆ: 'hat', '^': 'hat', '‾': 'bar', '¯': 'bar' };
/** Signs between which limits are read. */
const fromTo: Readonly<Record<string, string>> = { '∫': 'integral', '∮': 'integral', '∑': 'sum', '∏': 'product' };
/** Letters that name functions when a bracket follows. */
const FUNCTION_LETTER = /^[fghFGH]$/u;
/** Invisible operators, and braces that only mark a part. */
const SILENT = /^[\u2061-\u2064\u23de\u23df]?$/u;
const PAUSE = /^[,;.]$/u;
/** Commas separate groups (`1,00,000`), or else numbers (`1,2`). */
const NUMERAL = /\d{1,3}(?:,\d{2,3})*,\d{3}(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+/gu;
/** Longer runs of letters are the client's own words. */
const MOST_SPELT = 3;

/**
 * Reads a formula in a language's own words.
 * @throws NoWordError for something the language has no word for
 */
export function nativeReading(formula: MathNode, words: Mathematics): string {
  return new Reading(words)
    .node(formula)
    .replaceAll(/\s*,\s*/gu, ', ')
    .replaceAll(/\s+/gu, ' ')
    .trim();
}

class Reading {
  readonly #words: Mathematics;
  constructor(words: Mathematics) {
    this.#words = words;
  }

  node(node: MathNode): string {
    const { tag, children, text } = node;
    const [first = EMPTY, second = EMPTY, third = EMPTY] = children;
    switch (tag) {
      case 'mn':
        return this.#text(text);
      case 'mtext':
      case 'ms':
        return this.#text(text);
      case 'mi':
      case 'mo':
        return this.#sign(text);
      case 'mspace':
        return '';
      case 'mfrac':
        return this.#words.say(node.lineless ? 'binomial' : 'fraction', this.node(first), this.node(second));
      case 'msqrt':
        return this.#words.say('squareRoot', this.#row(children));
      case 'mroot':
        return second.text === '3'
          ? this.#words.say('cubeRoot', this.node(first))
          : this.#words.say('nthRoot', this.node(first), this.node(second));
      case 'msup':
        return this.#raised(first, second);
      case 'msub':
      case 'munder':
        return this.#lowered(first, second);
      case 'msubsup':
      case 'munderover': {
        const range = fromTo[core(first)];
        if (range !== undefined) return this.#words.say(`${range}FromTo`, this.node(second), this.node(third));
        return this.#power(this.#lowered(first, second), third);
      }
      case 'mover': {
        const accent = accents[second.text];
        return accent === undefined ? `${this.node(first)} ${this.node(second)}` : this.#marked(accent, this.node(first));
      }
      case 'menclose':
        return this.#words.say('bar', this.#row(children));
      case 'mtable':
        return this.#cells(node)
          .map((cells) => cells.join(' '))
          .join(', ');
      default:
        return this.#row(children);
    }
  }

  #row(given: readonly MathNode[]): string {
    const children = given.filter(
      ({ tag, text, children: inner }) => tag !== 'mspace' && (inner.length > 0 || !SILENT.test(text)),
    );
    const [open, middle, close] = children;
    if (middle !== undefined && children.length <= 3 && open?.text !== undefined) {
      const fenced = this.#fenced(open.text, middle, close?.text ?? '');
      if (fenced !== undefined) return fenced;
    }
    const said: string[] = [];
    for (let at = 0; at < children.length; at += 1) {
      const child = children[at] ?? EMPTY;
      const next = children[at + 1];
      const end = isBar(child) ? children.findIndex((each, index) => index > at && each.text === child.text) : -1;
      if (end !== -1) {
        said.push(this.#words.say('absolute', this.#row(children.slice(at + 1, end))));
        at = end;
      } else if (next !== undefined && FUNCTION_LETTER.test(core(child)) && isBracketed(next)) {
        said.push(this.#words.say('applied', this.node(child), this.#row(next.children.slice(1, -1))));
        at += 1;
      } else if (isMinus(child) && isPrefix(children[at - 1])) said.push(this.#words.say('negative'));
      else said.push(this.node(child));
    }
    return said.join(' ');
  }

  /** A matrix, determinant, list of cases or binomial within its brackets. */
  #fenced(open: string, inner: MathNode, close: string): string | undefined {
    const [content = inner] = inner.tag === 'mrow' && inner.children.length === 1 ? inner.children : [];
    if (content.tag === 'mfrac' && content.lineless && open === '(') return this.node(content);
    if (content.tag !== 'mtable') return undefined;
    if (open === '{') return `${this.#words.say('cases')}, ${this.#rows(content)}`;
    const size = [content.children.length, content.children[0]?.children.length ?? 0].map((count) =>
      this.#words.number(String(count)),
    );
    const head = open === '|' && close === '|' ? this.#words.say('determinant') : this.#words.say('matrix', size[0], size[1]);
    return `${head}, ${this.#rows(content)}`;
  }

  #rows(table: MathNode): string {
    const name = (index: number): string => this.#words.say('row', this.#words.number(String(index + 1)));
    return this.#cells(table)
      .map((cells, index) => [name(index), ...cells].join(', '))
      .join(', ');
  }

  #cells({ children }: MathNode): string[][] {
    return children.map((row) => row.children.map((cell) => this.#row(cell.children)).filter((cell) => cell !== ''));
  }

  #raised(base: MathNode, exponent: MathNode): string {
    const marks = textOf(exponent);
    if (textOf(base) === '' && base.children.length === 0) return this.node(exponent);
    if (/^(?:′+|[°∘])$/u.test(marks)) return [this.node(base), ...Array.from(marks, (mark) => this.#sign(mark))].join(' ');
    if (functions.has(core(base)) && /^[−-]1$/u.test(marks)) return this.#words.say('inverse', this.node(base));
    return this.#power(this.node(base), exponent);
  }

  #power(base: string, exponent: MathNode): string {
    const marks = textOf(exponent);
    if (marks === '2') return this.#words.say('squared', base);
    if (marks === '3') return this.#words.say('cubed', base);
    return this.#words.say('power', base, this.node(exponent));
  }

  #lowered(base: MathNode, below: MathNode): string {
    const name = core(base);
    if (name === 'lim') return this.#words.say('limit', this.node(below));
    if (name === 'log') return this.#words.say('logBase', this.node(below));
    if (name in fromTo || functions.has(name) || base.tag === 'munder') return `${this.node(base)} ${this.node(below)}`;
    return this.#words.say('subscript', this.node(base), this.node(below));
  }

  /** The place of the mark is in some words the whole, in others beside it. */
  #marked(accent: string, inner: string): string {
    return accent === 'hat' ? `${inner} ${this.#words.say('hat')}` : this.#words.say(accent, inner);
  }

  /** One sign, letter or name. */
  #sign(text: string): string {
    if (SILENT.test(text)) return '';
    if (PAUSE.test(text)) return ',';
    if (text === '−' || text === '-') return this.#words.say('minus');
    if (text === 'lim') return this.#words.say('limit', '');
    const sign = signs.get(text);
    const keys = functions.get(text)?.split('+') ?? (sign === undefined ? undefined : [sign]);
    if (keys !== undefined) return keys.map((key) => this.#words.say(key)).join(' ');
    const plain = text.normalize('NFKC');
    if (/^\p{Script=Greek}$/u.test(plain)) return this.#words.letter(plain);
    if (/^[a-z]+$/iu.test(plain))
      return plain.length > MOST_SPELT ? plain : Array.from(plain, (each) => this.#words.letter(each)).join(' ');
    if (/^∫+$/u.test(plain)) return Array.from(plain, () => this.#words.say('integral')).join(' ');
    if (/^[\p{L}\p{M}\s]+$/u.test(plain)) return plain;
    if (/\d/u.test(plain)) return this.#text(plain);
    throw new NoWordError(text.replaceAll('\ufe0e', ''));
  }

  /** The client's own text, with its numbers spelled. */
  #text(text: string): string {
    return text.replaceAll(NUMERAL, (numeral) => this.#words.number(numeral));
  }
}

const EMPTY: MathNode = { tag: 'mrow', children: [], text: '', lineless: false };

/** All text of a node, without blanks. */
function textOf({ children, text }: MathNode): string {
  return children.length === 0 ? text : children.map((child) => textOf(child)).join('');
}

/** The sign or name that scripts are attached to. */
function core(node: MathNode): string {
  if (['msup', 'msub', 'msubsup', 'munder', 'mover', 'munderover'].includes(node.tag)) return core(node.children[0] ?? EMPTY);
  const visible = node.children.filter(
    ({ tag, text, children }) => tag !== 'mspace' && (children.length > 0 || !SILENT.test(text)),
  );
  const [only, other] = visible;
  if (only !== undefined && other === undefined) return core(only);
  return node.children.length === 0 ? node.text : '';
}

function isBar({ text }: MathNode): boolean {
  return text === '|' || text === '‖';
}

function isMinus({ text }: MathNode): boolean {
  return text === '−' || text === '-';
}

/** Whether what stands here makes the minus after it a sign, not an operation. */
function isPrefix(before: MathNode | undefined): boolean {
  return before === undefined || (before.tag === 'mo' && !/^[)\]}!|‖]$/u.test(before.text));
}

function isBracketed({ tag, children }: MathNode): boolean {
  return tag === 'mrow' && children.at(0)?.text === '(' && children.at(-1)?.text === ')';
}
