/**
 * A job id in the form that BullMQ takes: it splits keys at colons and refuses whole numbers. Different ids stay
 * different.
 * @throws TypeError for an empty id or one longer than 200 characters once written so
 */
export function encodeJobId(id: string): string {
  const encoded = `j.${encodeURIComponent(id)}`;
  if (id === '' || encoded.length > 200) throw new TypeError('a job id has 1 to about 200 characters');
  return encoded;
}

/** The id that was encoded; any other text as it stands. */
export function decodeJobId(encoded: string): string {
  return encoded.startsWith('j.') ? decodeURIComponent(encoded.slice(2)) : encoded;
}
