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
