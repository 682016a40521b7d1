import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
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
  /** Absent of a gateway that takes no orders to drain. */
  drain: z.enum(['taking-calls', 'draining', 'drained']).optional(),
});
export type RunningGateway = z.infer<typeof note> & {
  /** Whether the gateway is to drain, as a command wants it: there while it is. */
  readonly drainOrder: string;
};
type DrainState = NonNullable<RunningGateway['drain']>;

/** A gateway's note in its data folder, for commands on the same machine. */
export class GatewayNote {
  readonly #path: string;
  #note: z.infer<typeof note>;
  #written: Promise<void> = Promise.resolve();

  private constructor(path: string, url: string) {
    this.#path = path;
    this.#note = { owner: thisProcess(), url, reloads: 0, problems: [], drain: 'taking-calls' };
  }

  /** A note that commands see once it is written. @throws the file system's error */
  static async open(dataDir: string, url: string): Promise<GatewayNote> {
    const folder = folderOf(dataDir);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return new GatewayNote(join(folder, `${randomUUID()}.json`), url);
  }

  /** Whether a command wants the gateway to drain. */
  get wantsDrain(): boolean {
    return existsSync(drainOrderOf(this.#path));
  }

  /** Notes a reload. @param problems of the new bots; empty when they are in use */
  async reloaded(problems: readonly string[]): Promise<void> {
    this.#note = { ...this.#note, reloads: this.#note.reloads + 1, problems: [...problems] };
    await this.write();
  }

  async draining(drain: DrainState): Promise<void> {
    this.#note = { ...this.#note, drain };
    await this.write();
  }

  async remove(): Promise<void> {
    await this.#written.catch(() => undefined);
    await removeNote(this.#path);
  }

  /** One write after another: the last one is what is read. @throws the file system's error */
  write(): Promise<void> {
    const write = (): Promise<void> => writeFileAtomic(this.#path, JSON.stringify(this.#note));
    this.#written = this.#written.then(write, write);
    return this.#written;
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
    if (liveness === 'alive') found.push({ ...parsed.data, drainOrder: drainOrderOf(path) });
    else if (liveness === 'dead') await removeNote(path);
  }
  return found;
}

async function removeNote(path: string): Promise<void> {
  await Promise.all([path, drainOrderOf(path)].map((each) => rm(each, { force: true })));
}

function drainOrderOf(notePath: string): string {
  return notePath.replace(/\.json$/u, '.drain');
}

function folderOf(dataDir: string): string {
  return join(dataDir, 'gateways');
}
