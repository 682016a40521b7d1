/** Callers of one process waiting for the same agent, in order of arrival. */
export class TransferQueues {
  readonly #lines = new Map<string, string[]>();

  /** @returns the caller's place, from 1; a new caller comes last */
  place(tenantId: string, to: string, callId: string): number {
    const name = nameOf(tenantId, to);
    const line = this.#lines.get(name) ?? [];
    if (!line.includes(callId)) line.push(callId);
    this.#lines.set(name, line);
    return line.indexOf(callId) + 1;
  }

  /** The caller leaves the queue. */
  leave(tenantId: string, to: string, callId: string): void {
    const name = nameOf(tenantId, to);
    const line = (this.#lines.get(name) ?? []).filter((each) => each !== callId);
    if (line.length === 0) this.#lines.delete(name);
    else this.#lines.set(name, line);
  }
}

function nameOf(tenantId: string, to: string): string {
  return JSON.stringify([tenantId, to]);
}
