import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { hasCode } from '../../../kernel/errors.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { type SpeakerProfile, type SpeakerProfiles, identifySpeaker, type SpeakerEngine } from '../../engines/speakers/port.ts';
import { Refusal } from '../listener/refusal.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Resampler } from '../../../audio/resample.ts';
import { type AudioIntake, openAudio, type DecodedAudio } from '../uploads/open-audio.ts';
import { recognitionRateHz } from '../asr/transcribe.ts';
import { readUploadForm, type UploadForm } from '../uploads/upload-form.ts';
import { withDeadline, clientSignal } from '../listener/limits.ts';
import { joinSamples } from '../../../audio/samples.ts';

/** Most profiles: the file is read and written as a whole. */
const maxProfiles = 10_000;

interface StoredProfile extends SpeakerProfile {
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

/** Seconds of a clip that are used; the documents advise 5 to 15. */
const maxClipSeconds = 30;
const maxNameCharacters = 200;
/** The answer when no voice matches (ASR doc, POST /v1/speakers/identify); reserved as a name. */
const unknownSpeaker = 'unknown';

/** A parameter sent twice counts as absent. */
const listQuery = z.object({ project: z.string().catch('') });

type Hook = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

interface SpeakerRoutesOptions {
  readonly speakers: SpeakerStore;
  readonly engine: SpeakerEngine;
  readonly intake: AudioIntake;
  readonly clock: Clock;
  /** Checks credentials and slots. */
  readonly onRequest: Hook[];
}

/** Routes to register and delete speaker profiles, on both addresses (ASR doc, /v1/speakers). */
export function addSpeakerRoutes(app: FastifyInstance, options: SpeakerRoutesOptions): void {
  const { speakers, onRequest } = options;

  app.post('/v1/speakers/register', { onRequest }, async (request, reply) => {
    await using form = await readUploadForm(request, options.intake.limits.audioBytes, options.intake.uploadFolder);
    const name = nameOf(form);
    if (name.toLowerCase() === unknownSpeaker) throw new Refusal(400, `name: ${unknownSpeaker} is reserved for unknown voices`);
    const embedding = await embeddingOf(form, reply, options);
    if (embedding.every((value) => value === 0)) throw new Refusal(400, 'file: no voice is heard in the clip');
    await speakers.register({ name, project: projectOf(form), kind: options.engine.kind, embedding });
    return { success: true, speaker: name, message: `Speaker ${name} is registered` };
  });

  app.route({
    method: 'DELETE',
    url: '/v1/speakers/delete',
    onRequest,
    handler: async (request) => {
      await using form = await readUploadForm(request, options.intake.limits.audioBytes, options.intake.uploadFolder);
      const name = nameOf(form);
      if (!(await speakers.remove(name, projectOf(form)))) throw new Refusal(404, 'There is no such speaker in the project');
      return { success: true };
    },
  });
}

/** Routes to list and identify speakers, on Variant B only. */
export function addSpeakerQueries(app: FastifyInstance, options: SpeakerRoutesOptions): void {
  const { speakers, onRequest } = options;

  app.route({
    method: 'GET',
    url: '/v1/speakers/list',
    onRequest,
    handler: async (request) => {
      const profiles = await speakers.list(listQuery.parse(request.query).project.trim());
      return {
        success: true,
        speakers: profiles.map(({ name, project, registeredAt }) => ({ name, project, registered_at: registeredAt })),
      };
    },
  });

  app.post('/v1/speakers/identify', { onRequest }, async (request, reply) => {
    await using form = await readUploadForm(request, options.intake.limits.audioBytes, options.intake.uploadFolder);
    const embedding = await embeddingOf(form, reply, options);
    const { name, confidence } = identifySpeaker(embedding, await speakers.list(projectOf(form)), options.engine);
    return { success: true, speaker: name ?? unknownSpeaker, confidence: Math.round(confidence * 1000) / 1000 };
  });
}

function nameOf(form: UploadForm): string {
  const name = form.fields.get('name')?.trim() ?? '';
  if (name === '') throw new Refusal(400, 'name is required');
  if (name.length > maxNameCharacters) throw new Refusal(400, `name: longer than ${maxNameCharacters} characters`);
  return name;
}

/** The project; an empty one is a project of its own (D). */
function projectOf(form: UploadForm): string {
  const project = form.fields.get('project')?.trim() ?? '';
  if (project.length > maxNameCharacters) throw new Refusal(400, `project: longer than ${maxNameCharacters} characters`);
  return project;
}

async function embeddingOf(form: UploadForm, reply: FastifyReply, options: SpeakerRoutesOptions): Promise<Float32Array> {
  const { file } = form;
  if (file === undefined) throw new Refusal(400, 'file is required');
  const { intake, clock, engine } = options;
  return await withDeadline(clock, intake.limits.batchMs, clientSignal(reply), async (signal) => {
    await using audio = await openAudio(file, intake, signal);
    return engine.embed(await firstSeconds(audio));
  });
}

async function firstSeconds(audio: DecodedAudio): Promise<Int16Array> {
  const resampler = new Resampler(audio.rateHz, recognitionRateHz);
  const wanted = maxClipSeconds * recognitionRateHz;
  const parts: Int16Array[] = [];
  let samples = 0;
  for await (const block of audio.blocks()) {
    const part = resampler.process(block);
    parts.push(part);
    samples += part.length;
    if (samples >= wanted) break;
  }
  return joinSamples([...parts, resampler.flush()]).subarray(0, wanted);
}
