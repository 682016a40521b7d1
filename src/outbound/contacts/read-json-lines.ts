import { NumberSet } from './number-set.ts';
import {
  checkRegion,
  columnNamed,
  type Columns,
  CONTACT_LIMITS,
  contactOfCells,
  type ContactRow,
  ContactsFileError,
  type ContactsOptions,
  decoded,
  meaningOf,
  NUMBER_COLUMNS,
  readContacts,
  variableName,
  ZONE_COLUMNS,
} from './read-contacts.ts';

const BRACE = 0x7b;
/** Byte order mark, blanks and ends of lines, which may stand before the first object. */
const LEADING: readonly number[] = [0xef, 0xbb, 0xbf, 0x20, 0x09, 0x0a, 0x0d];
const OBJECT = 'an object on a line of its own, such as {"phone": "+919876543210", "name": "Asha"}';

/**
 * Reads contacts from CSV or JSON Lines, which begins with `{`.
 * @throws ContactsFileError for an unusable file
 */
export async function* readContactsFile(source: AsyncIterable<Uint8Array>, options: ContactsOptions): AsyncGenerator<ContactRow> {
  const parts = source[Symbol.asyncIterator]();
  const head: Uint8Array[] = [];
  let first: number | undefined;
  async function* whole(): AsyncGenerator<Uint8Array> {
    yield* head;
    yield* { [Symbol.asyncIterator]: () => parts };
  }
  try {
    while (first === undefined) {
      const { done, value } = await parts.next();
      if (done === true) break;
      head.push(value);
      first = value.find((byte) => !LEADING.includes(byte));
    }
    yield* first === BRACE ? readJsonLines(whole(), options) : readContacts(whole(), options);
  } finally {
    await parts.return?.();
  }
}

/**
 * Reads contacts from JSON Lines: an object's members are columns, and the members of `variables` are variables too. Values are texts, numbers and
 * booleans; null and missing ones are empty cells.
 * @throws ContactsFileError when no contact has a number, or a limit is exceeded
 */
async function* readJsonLines(source: AsyncIterable<Uint8Array>, options: ContactsOptions): AsyncGenerator<ContactRow> {
  checkRegion(options.defaultRegion);
  const limits = { ...CONTACT_LIMITS, ...options.limits };
  const seen = new NumberSet();
  let count = 0;
  for await (const { line, text } of linesOf(source, limits.maxRowCharacters)) {
    if (text?.trim() === '') continue;
    count += 1;
    if (count > limits.maxRows) throw new ContactsFileError(`the file has more than ${limits.maxRows} rows: split it`);
    if (text === undefined) {
      yield { kind: 'refused', line, reason: `the line is longer than ${limits.maxRowCharacters} characters` };
      continue;
    }
    const cells = cellsOf(text);
    if (cells === undefined) {
      yield { kind: 'refused', line, reason: `the line is not ${OBJECT}` };
      continue;
    }
    if (cells.size > limits.maxColumns) {
      yield { kind: 'refused', line, reason: `the object has ${cells.size} members, at most ${limits.maxColumns} are read` };
      continue;
    }
    const columns = placesOf([...cells.keys()], options, count === 1);
    if (count === 1) options.onColumns?.(columns.view);
    yield contactOfCells(line, cells, columns, { ...options, limits }, seen);
  }
  if (count === 0) throw new ContactsFileError(`the file is empty: ${OBJECT} is expected`);
}

/** Lines without their ends; undefined for one that is too long. */
async function* linesOf(
  source: AsyncIterable<Uint8Array>,
  most: number,
): AsyncGenerator<{ line: number; text: string | undefined }> {
  let rest = '';
  let isLong = false;
  let line = 0;
  const whole = (text: string): { line: number; text: string | undefined } => {
    line += 1;
    const found = { line, text: isLong || text.length > most ? undefined : text };
    isLong = false;
    return found;
  };
  for await (const text of decoded(source, 'utf-8')) {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const each of lines) yield whole(each.replace(/^\uFEFF/u, ''));
    if (rest.length > most) [isLong, rest] = [true, ''];
  }
  if (rest !== '' || isLong) yield whole(rest);
}

/** Cells by column name; undefined for a line that is not an object. Other values are left as they are. */
function cellsOf(text: string): Map<string, unknown> | undefined {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(given)) return undefined;
  const { variables } = given;
  const members = isObject(variables) ? { ...given, variables: null, ...variables } : given;
  const cells = Object.entries(members).flatMap(([name, value]): [string, unknown][] => {
    if (value === null || name === '') return [];
    return [[variableName(name), typeof value === 'number' || typeof value === 'boolean' ? String(value) : value]];
  });
  return new Map(cells);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** @throws ContactsFileError */
function placesOf(names: readonly string[], { numberColumn, zoneColumn, variables }: ContactsOptions, isFirst: boolean): Columns {
  const found = columnNamed(numberColumn, NUMBER_COLUMNS, names);
  const wanted = numberColumn ?? `one of ${NUMBER_COLUMNS.join(', ')}`;
  if (found === undefined && isFirst)
    throw new ContactsFileError(`no member is called ${wanted}: the first line has ${names.join(', ').slice(0, 200)}`);
  // A missing member is an empty cell.
  const known = Object.fromEntries(Object.entries(variables ?? {}).filter(([column]) => names.includes(variableName(column))));
  const zone = columnNamed(zoneColumn, ZONE_COLUMNS, names);
  return meaningOf(names, found ?? variableName(numberColumn ?? 'phone'), zone, known);
}
