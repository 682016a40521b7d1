/**
 * Whether a new session may be opened after a WebSocket closed with this code. Going away, no code, abnormal, internal
 * error, restart, try later and a failed TLS handshake pass; a normal end and everything that says "you did wrong" do not.
 */
export function isRecoverableClose(code: number): boolean {
  return RECOVERABLE.has(code);
}

const RECOVERABLE: ReadonlySet<number> = new Set([1001, 1005, 1006, 1011, 1012, 1013, 1015]);
