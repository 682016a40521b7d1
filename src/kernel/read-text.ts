/**
 * Reads an answer's body as UTF-8, so that a server cannot fill the memory.
 * @param maxBytes what comes after these is left unread
 */
export async function readText(response: Response, maxBytes: number): Promise<string> {
  if (response.body === null) return '';
  const reader = response.body.getReader();
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value.subarray(0, maxBytes - bytes));
    bytes += value.length;
    if (bytes >= maxBytes) {
      await reader.cancel();
      break;
    }
  }
  return Buffer.concat(parts).toString('utf8');
}
