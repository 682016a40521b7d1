import { InvalidArgumentError } from 'commander';
import { styleText } from 'node:util';

/** Exit codes of every command. */
export const EXIT = { ok: 0, failed: 1, usage: 2 } as const;

const end = (): never => process.exit(EXIT.ok);

/** Ends the process in order once nobody reads on: `offhook chat … | head` has seen enough. */
export function endWithReader(): void {
  process.stdout.off('error', end).once('error', end);
}

/** Prints one JSON document as the last line of stdout. */
export function printJson(document: unknown): void {
  process.stdout.write(`${JSON.stringify(document)}\n`);
}

/** A line for people, on stdout. */
export function printLine(text = ''): void {
  process.stdout.write(`${text}\n`);
}

/** A note for people besides the command's answer, on stderr. */
export function printNote(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Coloured text if stdout is a terminal that has colours, and `NO_COLOR` is not set. */
export function coloured(style: 'bold' | 'dim' | 'green' | 'yellow' | 'cyan' | 'magenta' | 'red', text: string): string {
  return process.stdout.isTTY && process.stdout.hasColors() ? styleText(style, text) : text;
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

/** Wrong usage of a command: exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Wrong usage whose message is a list of problems, a line each; it is printed as it is. */
export class ProblemList extends UsageError {}

export function numberOption(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) throw new InvalidArgumentError('it is a number');
  return value;
}

/** Parses an option that is a whole number, 1 or more. */
export function countOption(text: string): number {
  const value = numberOption(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError('it is a whole number, 1 or more');
  return value;
}
