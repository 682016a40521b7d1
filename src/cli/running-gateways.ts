import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { writeFileAtomic } from '../kernel/temporary.ts';
import { livenessOf, processIdentity, thisProcess } from '../kernel/process-identity.ts';

const note = z.object({
  owner: processIdentity,
  url: z.string(),
  /** Number of reloads, and the problems of the last one. */
  reloads: z.int(),
  problems: z.array(z.string()),
});
export type RunningGateway = z.infer<typeof note>;

/** A gateway's note in its data folder, for commands on the same machine. */
export class GatewayNote {
  readonly #path: string;
  #note: RunningGateway;

  private constructor(path: string, url: string) {
    this.#path = path;
    this.#note = { owner: thisProcess(), url, reloads: 0, problems: [] };
  }

  /** @throws the file system's error */
  static async write(dataDir: string, url: string): Promise<GatewayNote> {
    const folder = folderOf(dataDir);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const written = new GatewayNote(join(folder, `${randomUUID()}.json`), url);
    await written.#write();
    return written;
  }

  /** Notes a reload. @param problems of the new bots; empty when they are in use */
  async reloaded(problems: readonly string[]): Promise<void> {
    this.#note = { ...this.#note, reloads: this.#note.reloads + 1, problems: [...problems] };
    await this.#write();
  }

  remove(): Promise<void> {
    return rm(this.#path, { force: true });
  }

  #write(): Promise<void> {
    return writeFileAtomic(this.#path, JSON.stringify(this.#note));
  }
}

/** The live gateways of a data folder that this process can see; removes notes of dead ones. */
export async function runningGateways(dataDir: string): Promise<readonly RunningGateway[]> {
  const folder = folderOf(dataDir);
  const names = await readdir(folder).catch(() => []);
  const found: RunningGateway[] = [];
  for (const name of names.filter((each) => each.endsWith('.json'))) {
    const path = join(folder, name);
    const text = await readFile(path, 'utf8').catch(() => '');
    const parsed = note.safeParse(text === '' ? undefined : JSON.parse(text));
    if (!parsed.success) continue;
    const liveness = livenessOf(parsed.data.owner);
    if (liveness === 'alive') found.push(parsed.data);
    else if (liveness === 'dead') await rm(path, { force: true });
  }
  return found;
}

function folderOf(dataDir: string): string {
  return join(dataDir, 'gateways');
}
