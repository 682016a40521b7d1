const UNSTORABLE = /\0|\p{Surrogate}/u;

/** Whether PostgreSQL can store a text unchanged: see `storable`. */
export function isStorable(text: string): boolean {
  return !UNSTORABLE.test(text);
}

/**
 * A copy of a JSON value that PostgreSQL can store: zero characters, refused by `text` and `jsonb`, and lone surrogates, refused by `jsonb`, become
 * U+FFFD. Input from a caller's software must never make a record unwritable.
 */
export function storable(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll(/\0|\p{Surrogate}/gu, '\uFFFD');
  if (Array.isArray(value)) return value.map(storable);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [storable(key), storable(item)]));
}
