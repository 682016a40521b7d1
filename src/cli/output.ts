import { styleText } from 'node:util';

/** Exit codes of every command. */
export const EXIT = { ok: 0, failed: 1, usage: 2 } as const;

/** Prints one JSON document as the last line of stdout. */
export function printJson(document: unknown): void {
  process.stdout.write(`${JSON.stringify(document)}\n`);
}

/** A line for people, on stdout. */
export function printLine(text = ''): void {
  process.stdout.write(`${text}\n`);
}

/** A line for people that is not the command's answer, on stderr. */
export function printNote(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Text in a colour where stdout is a terminal that shows one. */
export function coloured(style: 'bold' | 'dim' | 'green' | 'yellow' | 'cyan' | 'magenta' | 'red', text: string): string {
  return process.stdout.isTTY ? styleText(style, text) : text;
}

/** Columns padded with blanks; the first row is the heading. */
export function tableText(rows: readonly (readonly string[])[]): string {
  const columns = Math.max(...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
