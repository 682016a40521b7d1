import { InvalidArgumentError } from 'commander';

/** The command was called in a way that makes no sense: exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** For an option that is a number. */
export function numberOption(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) throw new InvalidArgumentError('it is a number');
  return value;
}

/** For an option that is a whole number, 1 or more. */
export function countOption(text: string): number {
  const value = numberOption(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError('it is a whole number, 1 or more');
  return value;
}
