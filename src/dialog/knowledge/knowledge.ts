import { readdir, readFile, stat } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { z } from 'zod';
import { CsvReader } from '../../kernel/csv-reader.ts';
import { errorText, OffhookError } from '../../kernel/errors.ts';
import { MOST_RESULT_CHARACTERS, type Tool } from '../tools/tool.ts';
import { type Passage, SearchIndex } from './search-index.ts';

export const SEARCH_KNOWLEDGE = 'search_knowledge';

/** Limits of one bot's knowledge. */
const MOST_FILES = 500;
const MOST_FILE_BYTES = 20 * 1024 * 1024;
const MOST_PASSAGES = 20_000;
/** A passage ends at the first paragraph behind this length; a longer paragraph is cut at a sentence. */
const PASSAGE_CHARACTERS = 700;
const MOST_PASSAGE_CHARACTERS = 1_400;
const MOST_ROW_CHARACTERS = 20_000;

/** A bot's knowledge cannot be read; the message names the file. */
export class KnowledgeError extends OffhookError {
  readonly code = 'OFFHOOK_KNOWLEDGE';
  readonly retryable = false;
}

/** Cuts a document into passages. @param name its path in the folder */
type Reader = (bytes: Buffer, name: string) => Passage[] | Promise<Passage[]>;

const READERS: Readonly<Record<string, Reader>> = {
  '.md': (bytes, name) => markdownPassages(textOf(bytes), name),
  '.txt': (bytes, name) => markdownPassages(textOf(bytes), name),
  '.csv': (bytes, name) => csvPassages(textOf(bytes), name),
  '.pdf': pdfPassages,
};

/**
 * Reads the documents of a folder and those below it: `.md`, `.txt`, `.csv` and `.pdf`; other files and hidden ones are left out.
 * @throws KnowledgeError for a folder without documents, a file that cannot be read, and what is over a limit
 */
export async function loadKnowledge(folder: string): Promise<SearchIndex> {
  const names = await documentsOf(folder);
  if (names.length === 0) throw new KnowledgeError(`${folder} holds no document: ${Object.keys(READERS).join(', ')} are read`);
  if (names.length > MOST_FILES)
    throw new KnowledgeError(`${folder} holds ${names.length} documents; at most ${MOST_FILES} are read`);
  const passages: Passage[] = [];
  for (const name of names) {
    passages.push(...(await readDocument(join(folder, name), name)));
    if (passages.length > MOST_PASSAGES)
      throw new KnowledgeError(`${folder} holds more than ${MOST_PASSAGES} passages; ${name} is one document too many`);
  }
  return new SearchIndex(passages);
}

async function documentsOf(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile() && extname(entry.name).toLowerCase() in READERS)
      .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
      .filter((name) => !name.split(sep).some((part) => part.startsWith('.')))
      .sort();
  } catch (cause) {
    throw new KnowledgeError(`${folder} cannot be read: ${errorText(cause)}`, { cause });
  }
}

async function readDocument(path: string, name: string): Promise<Passage[]> {
  try {
    const { size } = await stat(path);
    if (size > MOST_FILE_BYTES) throw new Error(`it has ${size} bytes, and at most ${MOST_FILE_BYTES} are read`);
    const read = READERS[extname(name).toLowerCase()];
    const passages = (await read?.(await readFile(path), name)) ?? [];
    if (passages.length === 0) throw new Error('it has no text');
    return passages;
  } catch (cause) {
    throw new KnowledgeError(`${path} cannot be used: ${errorText(cause)}`, { cause });
  }
}

function textOf(bytes: Buffer): string {
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
}

/** Cuts Markdown at its headings; the headings above a passage are part of its source. */
export function markdownPassages(text: string, name: string): Passage[] {
  const passages: Passage[] = [];
  let headings: string[] = [];
  let lines: string[] = [];
  let isCode = false;
  const flush = (): void => {
    const source = [name, ...headings.filter((heading) => heading !== '')].join(' › ');
    for (const piece of pieces(lines.join('\n'))) passages.push({ source, text: piece });
    lines = [];
  };
  for (const line of text.split(/\r?\n/u)) {
    if (/^\s*(?:```|~~~)/u.test(line)) isCode = !isCode;
    const [, marks = '', title = ''] = isCode ? [] : (/^(#{1,6})\s+(.*?)\s*#*$/u.exec(line) ?? []);
    if (marks === '') {
      lines.push(line);
      continue;
    }
    flush();
    headings = [...Array.from({ length: marks.length - 1 }, (_, level) => headings[level] ?? ''), title];
  }
  flush();
  return passages;
}

/** One passage a row: `column: value; column: value`. */
function csvPassages(text: string, name: string): Passage[] {
  const reader = new CsvReader(MOST_ROW_CHARACTERS);
  const [head, ...rows] = [...reader.push(text), ...reader.end()];
  if (head === undefined) return [];
  if ('reason' in head) throw new Error(`line ${head.line}: ${head.reason}`);
  return rows.map((row) => {
    if ('reason' in row) throw new Error(`line ${row.line}: ${row.reason}`);
    const cells = row.cells.flatMap((cell, index) => (cell === '' ? [] : [`${head.cells[index] ?? ''}: ${cell}`]));
    return { source: `${name}, line ${row.line}`, text: cells.join('; ').slice(0, MOST_PASSAGE_CHARACTERS) };
  });
}

async function pdfPassages(bytes: Buffer, name: string): Promise<Passage[]> {
  const { extractText } = await import('unpdf');
  const { text } = await extractText(new Uint8Array(bytes), { mergePages: false });
  return text.flatMap((page, index) => pieces(page).map((piece) => ({ source: `${name}, page ${index + 1}`, text: piece })));
}

/** Joins paragraphs up to a passage's length; cuts one that is longer behind a sentence, else anywhere. */
function pieces(text: string): string[] {
  const paragraphs = text
    .split(/\n\s*\n/u)
    .map((paragraph) => paragraph.replaceAll(/\s+/gu, ' ').trim())
    .filter((paragraph) => paragraph !== '')
    .flatMap((paragraph) => paragraph.match(LONG_PIECES) ?? []);
  const joined: string[] = [];
  for (const paragraph of paragraphs) {
    const last = joined.at(-1);
    if (last !== undefined && last.length + paragraph.length < PASSAGE_CHARACTERS)
      joined[joined.length - 1] = `${last}\n${paragraph}`;
    else joined.push(paragraph.trim());
  }
  return joined;
}

const LONG_PIECES = new RegExp(`.{1,${MOST_PASSAGE_CHARACTERS}}(?:(?<=[.!?।])\\s|$)|.{1,${MOST_PASSAGE_CHARACTERS}}`, 'gu');

const query = z.object({ query: z.string().min(1).max(500) });

/** The search as a tool of a model: passages with their sources. @param results most passages of one search */
export function knowledgeTool(index: SearchIndex, results: number): Tool {
  const parameters = {
    type: 'object',
    properties: { query: { type: 'string', description: 'What is asked, in the words of the documents' } },
    required: ['query'],
  };
  const description =
    'Searches the documents of this business. Use it before you state a fact, and answer only with what it finds, without reading the sources out.';
  return {
    name: SEARCH_KNOWLEDGE,
    timeoutMs: 5_000,
    define: () => ({ name: SEARCH_KNOWLEDGE, description, parameters }),
    run: async (args) => {
      const parsed = query.safeParse(args);
      if (!parsed.success) return 'error: the arguments cannot be used';
      const hits = index.search(parsed.data.query, results);
      if (hits.length === 0) return 'error: nothing was found. Say that you do not know, or search with other words.';
      return hits
        .map(({ source, text }) => `[${source}]\n${text}`)
        .join('\n\n')
        .slice(0, MOST_RESULT_CHARACTERS);
    },
  };
}
