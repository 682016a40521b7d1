import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Clock } from '../../../kernel/clock.ts';
import { Resampler } from '../../../audio/resample.ts';
import { identifySpeaker, type SpeakerEngine } from '../../engines/speakers/port.ts';
import { type AudioIntake, openAudio, type DecodedAudio } from '../uploads/open-audio.ts';
import { recognitionRateHz } from '../asr/transcribe.ts';
import { readUploadForm, type UploadForm } from '../uploads/upload-form.ts';
import { withDeadline, clientSignal } from '../listener/request-slots.ts';
import { joinSamples } from '../../../audio/samples.ts';
import { Refusal } from '../listener/refusal.ts';
import type { SpeakerStore } from './speaker-store.ts';

/** Seconds of a clip that are used; the documents advise 5 to 15. */
const maxClipSeconds = 30;
const maxNameCharacters = 200;
/** The answer when no voice matches (ASR doc, POST /v1/speakers/identify); reserved as a name. */
const unknownSpeaker = 'unknown';

/** A parameter sent twice counts as absent. */
const listQuery = z.object({ project: z.string().catch('') });

type Hook = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

export interface SpeakerRoutesOptions {
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
