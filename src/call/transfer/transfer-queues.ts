/** Callers of one process who wait for the same agent, in the order in which they came. */
export class TransferQueues {
  readonly #lines = new Map<string, string[]>();

  /** @returns the caller's place, 1 for the first; one who is new comes last */
  place(tenantId: string, to: string, callId: string): number {
    const name = nameOf(tenantId, to);
    const line = this.#lines.get(name) ?? [];
    if (!line.includes(callId)) line.push(callId);
    this.#lines.set(name, line);
    return line.indexOf(callId) + 1;
  }

  /** The caller does not wait any more. */
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
