/**
 * Reads the beginning of an answer's body as UTF-8.
 * @param maxBytes the rest is not read, so that a server cannot fill the memory
 */
export async function readText(response: Response, maxBytes: number): Promise<string> {
  return (await readUpTo(response, maxBytes)).toString('utf8');
}

/**
 * Reads an answer's whole body.
 * @throws RangeError for a body of more than `maxBytes`; its rest is not read
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

/** Passes parts on up to a number of bytes. @throws the error of `over` at the part that exceeds it */
export async function* atMost(parts: AsyncIterable<Uint8Array>, mostBytes: number, over: () => Error): AsyncIterable<Uint8Array> {
  let bytes = 0;
  for await (const part of parts) {
    bytes += part.length;
    if (bytes > mostBytes) throw over();
    yield part;
  }
}
