import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { hasCode } from '../../../kernel/errors.ts';
import type { Clock } from '../../../kernel/clock.ts';
import type { SpeakerProfile, SpeakerProfiles } from '../../engines/speakers/port.ts';
import { Refusal } from '../listener/refusal.ts';

/** Most profiles: the file is read and written as a whole. */
const maxProfiles = 10_000;

export interface StoredProfile extends SpeakerProfile {
  /** ISO 8601 in UTC without a zone (ASR doc, speaker profile). */
  readonly registeredAt: string;
}

const fileSchema = z.object({
  profiles: z.array(
    z.object({
      name: z.string(),
      project: z.string(),
      registered_at: z.string(),
      // Older files lack the kind.
      kind: z.string().default('built-in'),
      embedding: z.array(z.number()),
    }),
  ),
});

/** Stores the registered voices in a JSON file of the platform's data folder. */
export class SpeakerStore implements SpeakerProfiles {
  readonly #path: string;
  readonly #clock: Clock;
  #loaded: Promise<Map<string, StoredProfile>> | undefined;
  /** Changes run one after another. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(path: string, clock: Clock) {
    this.#path = path;
    this.#clock = clock;
  }

  /** Oldest first. */
  async list(project: string): Promise<readonly StoredProfile[]> {
    return [...(await this.#profiles()).values()].filter((profile) => profile.project === project);
  }

  /**
   * Stores a voice; replaces one of the same name and project.
   * @throws Refusal 400 when the store is full, or the file system's error
   */
  async register(profile: SpeakerProfile): Promise<void> {
    const registeredAt = new Date(this.#clock.wallMs()).toISOString().slice(0, -1);
    await this.#change((profiles) => {
      const key = keyOf(profile.project, profile.name);
      profiles.delete(key);
      if (profiles.size >= maxProfiles) throw new Refusal(400, `At most ${maxProfiles} speakers can be registered`);
      profiles.set(key, { ...profile, registeredAt });
    });
  }

  /** @returns whether there was one */
  async remove(name: string, project: string): Promise<boolean> {
    let there = false;
    await this.#change((profiles) => {
      there = profiles.delete(keyOf(project, name));
    });
    return there;
  }

  #profiles(): Promise<Map<string, StoredProfile>> {
    return (this.#loaded ??= load(this.#path));
  }

  /** Changes the memory only after the file was written. */
  #change(edit: (profiles: Map<string, StoredProfile>) => void): Promise<void> {
    const change = this.#last.then(async () => {
      const profiles = new Map(await this.#profiles());
      edit(profiles);
      await save(this.#path, [...profiles.values()]);
      this.#loaded = Promise.resolve(profiles);
    });
    this.#last = change.catch(() => undefined);
    return change;
  }
}

function keyOf(project: string, name: string): string {
  return JSON.stringify([project, name]);
}

async function load(path: string): Promise<Map<string, StoredProfile>> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return new Map();
    throw error;
  }
  const { profiles } = fileSchema.parse(JSON.parse(text));
  return new Map(
    profiles.map(({ name, project, registered_at: registeredAt, kind, embedding }) => [
      keyOf(project, name),
      { name, project, registeredAt, kind, embedding: Float32Array.from(embedding) },
    ]),
  );
}

/** Replaces the file atomically, so that a crash leaves the old or the new one. */
async function save(path: string, profiles: readonly StoredProfile[]): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const fresh = `${path}.${randomUUID()}`;
  const rows = profiles.map(({ name, project, registeredAt, kind, embedding }) => ({
    name,
    project,
    registered_at: registeredAt,
    kind,
    embedding: [...embedding],
  }));
  try {
    // A voice is a personal value.
    await writeFile(fresh, JSON.stringify({ profiles: rows }), { mode: 0o600, flush: true });
    await rename(fresh, path);
  } catch (error) {
    await rm(fresh, { force: true });
    throw error;
  }
}
