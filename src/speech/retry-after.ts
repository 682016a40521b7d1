/** No server's wish keeps a caller longer than this. */
const MOST_WAIT_MS = 60_000;

/**
 * Reads a Retry-After header, seconds or a date, as a wait in ms; undefined when there is none to follow. A date in the
 * past or zero still waits a little, so that nothing loops hot.
 */
export function retryAfterMs(header: string | null, wallMs: number): number | undefined {
  if (header === null) return undefined;
  const seconds = Number(header);
  const waitMs = Number.isFinite(seconds) && header.trim() !== '' ? seconds * 1000 : Date.parse(header) - wallMs;
  if (Number.isNaN(waitMs)) return undefined;
  return Math.min(MOST_WAIT_MS, Math.max(50, waitMs));
}
