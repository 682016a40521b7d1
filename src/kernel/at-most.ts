/** These parts, as long as they are no more bytes together. @throws what `over` gives, at the part that is too much */
export async function* atMost(parts: AsyncIterable<Uint8Array>, mostBytes: number, over: () => Error): AsyncIterable<Uint8Array> {
  let bytes = 0;
  for await (const part of parts) {
    bytes += part.length;
    if (bytes > mostBytes) throw over();
    yield part;
  }
}
