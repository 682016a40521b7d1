import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';

/** The file's name in the data folder. */
export const AUDIT_FILE = 'audit.jsonl';

/** One action of a person or a program, without words or numbers of callers. */
export interface AuditEvent {
  /** The id of an API key, or the name of a command. */
  readonly by: string;
  readonly tenantId: string;
  /** For example `live-call.mute`, or `hold.set`. */
  readonly action: string;
  /** What it was done to: the id of a call. */
  readonly subject: string;
  readonly outcome: 'done' | 'refused' | 'failed';
  /** Why, as the person wrote it, with numbers masked. */
  readonly reason?: string | undefined;
}

/** Who did what, one line of JSON each, in a file that only grows; any number of processes may write to it. */
export class AuditLog {
  readonly #path: string;
  readonly #wallMs: () => number;

  constructor(path: string, wallMs: () => number) {
    this.#path = path;
    this.#wallMs = wallMs;
  }

  /** On the disk when it returns. @throws Error when the disk refuses */
  async add(event: AuditEvent): Promise<void> {
    const line = `${JSON.stringify({ at: new Date(this.#wallMs()).toISOString(), ...event })}\n`;
    await mkdir(dirname(this.#path), { recursive: true });
    const file = await open(this.#path, 'a', 0o600);
    try {
      await file.appendFile(line);
      await file.datasync();
    } finally {
      await file.close();
    }
  }
}
