import { type Document, isMap, isNode, isScalar, isSeq, parse, parseDocument, stringify } from 'yaml';

/** Keys and places from the top of a bot file. */
export type Path = readonly (string | number)[];

/** One text of a bot file, as a form shows it. */
export interface TextField {
  readonly path: Path;
  /** The keys below its step: `ask prompt`. */
  readonly label: string;
  readonly value: string;
}

export interface ListField {
  readonly path: Path;
  readonly label: string;
  readonly items: readonly string[];
}

/** What of a bot file has forms. */
export interface BotForms {
  readonly kind: string;
  /** First words; none where they are not in the file. */
  readonly greeting: readonly TextField[];
  /** A model's instructions. */
  readonly instructions: TextField | undefined;
  readonly steps: readonly { readonly id: string; readonly texts: readonly TextField[] }[];
  /** Phrases of each choice, by slot. */
  readonly choices: readonly { readonly slot: string; readonly options: readonly ListField[] }[];
  readonly hints: readonly string[];
  /** The value at a path, as text; empty where nothing is written. */
  readonly valueAt: (path: Path) => string;
}

/** Keys whose texts are spoken. */
const SPOKEN = new Set(['say', 'prompt', 'notUnderstood', 'noInput', 'refused', 'waiting', 'text', 'en', 'hi']);
const FLOW: Path = ['dialog', 'flow'];

/** Reads the forms of a bot file; undefined while it is not readable as YAML. */
export function readForms(source: string): BotForms | undefined {
  const document = parseDocument(source);
  if (document.errors.length > 0 || !isMap(document.contents)) return undefined;
  const kind = textAt(document, ['dialog', 'kind']);
  const steps = keysAt(document, [...FLOW, 'states']).map((id) => ({ id, texts: textsUnder(document, [...FLOW, 'states', id]) }));
  const start = textAt(document, [...FLOW, 'start']);
  const said: readonly TextField[] = steps.find(({ id }) => id === start)?.texts ?? [];
  const field = (name: string): TextField => ({ path: ['dialog', name], label: '', value: textAt(document, ['dialog', name]) });
  return {
    kind,
    greeting:
      kind === 'llm' || kind === 'relay' ? [field('greeting')] : said.filter(({ label }) => /^(?:say|ask prompt)\b/u.test(label)),
    instructions: kind === 'llm' ? field('instructions') : undefined,
    steps,
    choices: keysAt(document, [...FLOW, 'slots']).flatMap((slot) => {
      const options = keysAt(document, [...FLOW, 'slots', slot, 'options']).flatMap((option) =>
        phrasesOf(document, [...FLOW, 'slots', slot, 'options', option, 'phrases'], option),
      );
      return options.length === 0 ? [] : [{ slot, options }];
    }),
    hints: listAt(document, ['hints']) ?? [],
    valueAt: (path) => textAt(document, path),
  };
}

/**
 * Writes a value at a path and leaves the rest of the file as it is, comments and all. An empty text takes the setting out.
 * @param source readable as YAML
 */
export function setValue(source: string, path: Path, value: string | number): string {
  const document = parseDocument(source);
  const node = document.getIn(path, true);
  if (value === '') {
    if (node === undefined) return source;
    document.deleteIn(path);
    return String(document);
  }
  const written = scalarText(value);
  if (isScalar(node) && node.range) {
    const [from, to] = node.range;
    const tail = source.slice(from, to).endsWith('\n') ? '\n' : '';
    const next = source.slice(0, from) + written + tail + source.slice(to);
    if (textAt(parseDocument(next), path) === String(value)) return next;
  }
  const [key] = path;
  if (node === undefined && path.length === 1 && typeof key === 'string')
    return `${source.replace(/\n*$/u, '\n')}${key}: ${written}\n`;
  document.setIn(path, value);
  return document.toString({ lineWidth: 0 });
}

/** The same for a list of texts. */
export function setList(source: string, path: Path, items: readonly string[]): string {
  const document = parseDocument(source);
  const node = document.getIn(path, true);
  const written = `[${items.map((item) => scalarText(item, true)).join(', ')}]`;
  if (isSeq(node) && node.flow === true && node.range) {
    const [from, to] = node.range;
    return source.slice(0, from) + written + source.slice(to);
  }
  const [key] = path;
  if (node === undefined && path.length === 1 && typeof key === 'string')
    return items.length === 0 ? source : `${source.replace(/\n*$/u, '\n')}${key}: ${written}\n`;
  document.setIn(path, items);
  return document.toString({ lineWidth: 0 });
}

/** A value as it is written in one line: plain where YAML reads it back as it is, else in quotes. */
function scalarText(value: string | number, isInFlow = true): string {
  if (typeof value === 'number') return String(value);
  const plain = value.trim() === value && !/[\n\r{}[\],#&*!|>'"%@`:]/u.test(value) && !/^[-?~=]/u.test(value);
  try {
    if (plain && parse(isInFlow ? `[${value}]` : value)[0] === value) return value;
  } catch {
    // It needs quotes.
  }
  return stringify(value, { defaultStringType: 'QUOTE_DOUBLE', lineWidth: 0 }).trimEnd();
}

function textsUnder(document: Document, from: Path): TextField[] {
  const found: TextField[] = [];
  const walk = (node: unknown, path: Path): void => {
    if (isMap(node)) for (const { key, value } of node.items) walk(value, [...path, keyText(key)]);
    else if (isSeq(node)) for (const [index, item] of node.items.entries()) walk(item, [...path, index]);
    else if (isScalar(node) && typeof node.value === 'string') {
      const below = path.slice(from.length);
      const last = below.findLast((key) => typeof key === 'string');
      if (!SPOKEN.has(String(last))) return;
      const label = below.map((key) => (typeof key === 'number' ? String(key + 1) : key)).join(' ');
      found.push({ path, label, value: node.value });
    }
  };
  walk(document.getIn(from, true), from);
  return found;
}

/** Phrases of a choice, in each language where it has several. */
function phrasesOf(document: Document, path: Path, label: string): ListField[] {
  const items = listAt(document, path);
  if (items !== undefined) return [{ path, label, items }];
  return keysAt(document, path).flatMap((language) => {
    const own = listAt(document, [...path, language]);
    return own === undefined ? [] : [{ path: [...path, language], label: `${label} (${language})`, items: own }];
  });
}

function listAt(document: Document, path: Path): string[] | undefined {
  const node = document.getIn(path, true);
  return isSeq(node) ? node.items.map((item) => String(isScalar(item) ? item.value : item)) : undefined;
}

function keysAt(document: Document, path: Path): string[] {
  const node = document.getIn(path, true);
  return isMap(node) ? node.items.map(({ key }) => keyText(key)) : [];
}

function textAt(document: Document, path: Path): string {
  const node = document.getIn(path, true);
  const value = isScalar(node) ? node.value : undefined;
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}

function keyText(key: unknown): string {
  return String(isNode(key) && isScalar(key) ? key.value : key);
}
