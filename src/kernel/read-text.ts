/**
 * Reads an answer's body as UTF-8, so that a server cannot fill the memory.
 * @param maxBytes what comes after these is left unread
 */
export async function readText(response: Response, maxBytes: number): Promise<string> {
  return (await readUpTo(response, maxBytes)).toString('utf8');
}

/**
 * Reads an answer's body where a part of it is of no use.
 * @throws RangeError for one of more than `maxBytes`, the rest of which is left unread
 */
export async function readWhole(response: Response, maxBytes: number): Promise<Buffer> {
  const bytes = await readUpTo(response, maxBytes + 1);
  if (bytes.length > maxBytes) throw new RangeError(`an answer of more than ${maxBytes} bytes`);
  return bytes;
}

async function readUpTo(response: Response, maxBytes: number): Promise<Buffer> {
  if (response.body === null) return Buffer.alloc(0);
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
  return Buffer.concat(parts);
}
