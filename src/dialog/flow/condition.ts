import type { Condition } from './schema.ts';

/** Whether a detail is what a branch wants: a value, one of several, known at all, or anything but a value. */
export function conditionHolds(wanted: Condition, value: string | undefined): boolean {
  if (typeof wanted === 'string') return value === wanted;
  if (Array.isArray(wanted)) return value !== undefined && wanted.includes(value);
  const filled = value !== undefined && value !== '';
  if (wanted.filled !== undefined && wanted.filled !== filled) return false;
  return wanted.not === undefined || ![wanted.not].flat().includes(value ?? '');
}
