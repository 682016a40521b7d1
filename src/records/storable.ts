const UNSTORABLE = /\0|\p{Surrogate}/u;

/** Whether PostgreSQL can keep a text as it is: see `storable`. */
export function isStorable(text: string): boolean {
  return !UNSTORABLE.test(text);
}

/**
 * A copy of a JSON value that PostgreSQL can keep: zero characters, which `text` and `jsonb` refuse, and halves of
 * surrogate pairs, which `jsonb` refuses, become U+FFFD. What a caller's software sent must never make a call's record
 * impossible to write.
 */
export function storable(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll(/\0|\p{Surrogate}/gu, '\uFFFD');
  if (Array.isArray(value)) return value.map(storable);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [storable(key), storable(item)]));
}
