/** A row with a cell for each column, or a row that cannot be read. */
export type CsvRow =
  | { readonly line: number; readonly cells: readonly string[] }
  | { readonly line: number; readonly reason: string };

/** Most lines of a quoted cell, which limits what a stray quote can swallow. */
const MOST_LINES_A_ROW = 500;

/**
 * Reads CSV (RFC 4180; also with semicolons or tabs, after a byte order mark, and with any ends of lines) piece by piece, in memory
 * for one row. The first row names the columns; a row with another number of cells is refused, empty ones at its end aside. A row
 * that cannot be read is named by its first line, and reading goes on with the line after that: a stray quote loses one line and
 * not the rest of the file. A quote inside an unquoted cell is text. Space around unquoted cells is removed.
 */
export class CsvReader {
  readonly #maxRowCharacters: number;
  /** Text after the last end of a line. */
  #rest = '';
  #line = 0;
  #isLong = false;
  #hasBegun = false;
  #delimiter: string | undefined;
  #columns: number | undefined;
  /** Line number and lines of the row whose quoted cell is open. */
  #firstLine = 0;
  #lines: { readonly text: string; readonly end: string }[] = [];
  #characters = 0;
  #cells: string[] = [];
  #quoted: string | undefined;
  #rows: CsvRow[] = [];

  constructor(maxRowCharacters: number) {
    this.#maxRowCharacters = maxRowCharacters;
  }

  /** @returns the rows that are whole now; the first one of a file holds the names of the columns, or why it cannot be read */
  push(text: string): CsvRow[] {
    const whole = this.#rest + (this.#hasBegun || !text.startsWith('\uFEFF') ? text : text.slice(1));
    this.#hasBegun ||= text !== '';
    const ends = /\r\n|\n|\r(?!$)/gu;
    let from = 0;
    for (let end = ends.exec(whole); end !== null; end = ends.exec(whole)) {
      this.#physicalLine(whole.slice(from, end.index), end[0]);
      from = ends.lastIndex;
    }
    this.#rest = whole.slice(from);
    if (this.#rest.length > this.#maxRowCharacters) {
      this.#isLong = true;
      // A carriage return at the end may be half of an end of line.
      this.#rest = this.#rest.endsWith('\r') ? '\r' : '';
    }
    return this.#taken();
  }

  /** @returns the last rows. The reader is done. */
  end(): CsvRow[] {
    const last = this.#rest.replace(/\r$/u, '');
    if (this.#rest !== '' || this.#isLong) this.#physicalLine(last, '');
    while (this.#lines.length > 0) this.#giveUp('a quote is opened and never closed');
    return this.#taken();
  }

  #taken(): CsvRow[] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }

  #physicalLine(text: string, end: string): void {
    this.#line += 1;
    if (!this.#isLong && text.length <= this.#maxRowCharacters) {
      this.#read(text, end, this.#line);
      return;
    }
    this.#isLong = false;
    while (this.#lines.length > 0) this.#giveUp('a quote is opened and never closed');
    this.#add({ line: this.#line, reason: `the line is longer than ${this.#maxRowCharacters} characters` });
  }

  /** @param line number of this line in the file */
  #read(text: string, end: string, line: number): void {
    if (this.#lines.length === 0 && text.trim() === '') return;
    this.#delimiter ??= delimiterOf(text);
    if (this.#lines.length === 0) this.#firstLine = line;
    this.#lines.push({ text, end });
    this.#characters += text.length;
    const mistake = this.#scan(text, end, this.#delimiter);
    const isTooLong = this.#lines.length > MOST_LINES_A_ROW || this.#characters > this.#maxRowCharacters;
    if (mistake !== undefined) this.#giveUp(mistake);
    else if (this.#quoted !== undefined) {
      if (isTooLong) this.#giveUp('a quote is opened and not closed for too long');
    } else {
      const row = { line: this.#firstLine, cells: this.#cells };
      this.#forget();
      this.#add(row);
    }
  }

  /** Refuses the first line of the open row, and reads its other lines again as rows of their own. */
  #giveUp(reason: string): void {
    const line = this.#firstLine;
    const [, ...again] = this.#lines;
    this.#forget();
    this.#add({ line, reason });
    for (const [index, { text, end }] of again.entries()) this.#read(text, end, line + 1 + index);
  }

  #forget(): void {
    this.#lines = [];
    this.#characters = 0;
    this.#cells = [];
    this.#quoted = undefined;
  }

  /** Splits a line, going on where the line before left a quoted cell open. @returns what is wrong with it */
  #scan(text: string, end: string, delimiter: string): string | undefined {
    const hasQuotes = text.includes('"');
    const spaces = /[^\S\t]*/uy;
    let at = 0;
    for (;;) {
      if (this.#quoted === undefined) {
        spaces.lastIndex = at;
        const quote = hasQuotes ? at + (spaces.exec(text)?.[0].length ?? 0) : -1;
        if (text[quote] === '"') {
          this.#quoted = '';
          at = quote + 1;
          continue;
        }
        const next = text.indexOf(delimiter, at);
        this.#cells.push(text.slice(at, next < 0 ? text.length : next).trim());
        if (next < 0) return undefined;
        at = next + 1;
        continue;
      }
      const close = text.indexOf('"', at);
      if (close < 0) {
        this.#quoted += text.slice(at) + end;
        return undefined;
      }
      this.#quoted += text.slice(at, close);
      if (text[close + 1] === '"') {
        this.#quoted += '"';
        at = close + 2;
        continue;
      }
      this.#cells.push(this.#quoted);
      this.#quoted = undefined;
      const next = text.indexOf(delimiter, close + 1);
      const between = text.slice(close + 1, next < 0 ? text.length : next);
      if (between.trim() !== '') return 'text follows a closing quote: quotes inside of a quoted cell are written twice';
      if (next < 0) return undefined;
      at = next + 1;
    }
  }

  #add(row: CsvRow): void {
    if ('reason' in row) {
      this.#rows.push(row);
      return;
    }
    const { line, cells } = row;
    const columns = (this.#columns ??= cells.length);
    if (cells.length === columns) this.#rows.push(row);
    else if (cells.length > columns && cells.slice(columns).every((cell) => cell === '')) {
      this.#rows.push({ line, cells: cells.slice(0, columns) });
    } else this.#rows.push({ line, reason: `has ${cells.length} cells where the header has ${columns}` });
  }
}

/** The sign that the first line has most of, outside quotes. */
function delimiterOf(text: string): string {
  const header = text.replaceAll(/"[^"]*"/gu, '');
  const count = (sign: string): number => header.split(sign).length;
  return [',', ';', '\t'].reduce((best, sign) => (count(sign) > count(best) ? sign : best));
}
