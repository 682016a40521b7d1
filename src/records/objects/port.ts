/** A place for whole files under keys like `default/2026-01-31/call_1.wav.sealed`. Every method may be repeated. */
export interface ObjectStore {
  /** What it is, for people: a folder or a bucket. */
  readonly place: string;
  /**
   * Durable when it returns, in place of what stood there; a reader never finds half of it.
   * @param bytes how many bytes the parts are together
   * @throws ObjectStoreError (retryable) when it cannot be done now: nothing is kept then
   */
  put(key: string, parts: AsyncIterable<Uint8Array>, bytes: number, signal?: AbortSignal): Promise<void>;
  /** In bytes; undefined when there is nothing under this key. */
  size(key: string, signal?: AbortSignal): Promise<number | undefined>;
  /** @param start first byte, @param end the byte after the last */
  read(key: string, start: number, end: number, signal?: AbortSignal): AsyncIterable<Uint8Array>;
  /** Nothing happens when there is nothing. */
  remove(key: string, signal?: AbortSignal): Promise<void>;
}

/**
 * One key of several parts. Each part is written so that it names no folder and nothing above it.
 * @throws TypeError for an empty part
 */
export function objectKey(...parts: readonly string[]): string {
  return parts
    .map((part) => {
      if (part === '') throw new TypeError('a part of an object key is empty');
      const plain = encodeURIComponent(part);
      return /^\.+$/.test(plain) ? plain.replaceAll('.', '%2E') : plain;
    })
    .join('/');
}
