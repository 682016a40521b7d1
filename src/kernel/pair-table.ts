/**
 * A table that is written as text: `key=value` entries, here between blanks. A value may be empty; the key `=` is written `==word`.
 * @param between what separates two entries, for values with blanks
 * @throws RangeError for an entry without `=`, and for a key that stands there twice
 */
export function pairTable(text: string, between: string | RegExp = /\s+/u): ReadonlyMap<string, string> {
  const table = new Map<string, string>();
  for (const entry of text.split(between).map((each) => each.trim())) {
    if (entry === '') continue;
    const at = entry.indexOf('=', 1);
    const key = entry.slice(0, at);
    if (at === -1 || table.has(key)) throw new RangeError(`no entry of a table: ${entry}`);
    table.set(key, entry.slice(at + 1));
  }
  return table;
}
