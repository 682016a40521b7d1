import { z } from 'zod';
import { type AudioFile, openAudioFile, PacedFile } from './audio-source.ts';
import { SpeechRequestError } from '../client/errors.ts';
import { parseAnswer, type SpeechAnswer, type SpeechHttp } from '../client/requests.ts';
import { serviceUrl } from '../client/settings.ts';

/** A voice that the platform knows by name (ASR doc, "Speaker profile"). */
export interface SpeakerProfile {
  readonly name: string;
  /** Empty when the platform names none. */
  readonly project: string;
  /** As the platform wrote it: ISO 8601 without a zone (ASR doc, "Speaker profile"). */
  readonly registeredAt: string | undefined;
}

/** A profile in the list; other fields are ignored. */
export const readSpeakerProfile = z
  .looseObject({ name: z.string(), project: z.string().nullish(), registered_at: z.string().nullish().catch(undefined) })
  .transform(({ name, project, registered_at }): SpeakerProfile => ({
    name,
    project: project ?? '',
    registeredAt: registered_at ?? undefined,
  }));

/**
 * When the profile was registered. A time without a zone is UTC.
 * @returns undefined for a text that is not a time
 */
export function registeredDate({ registeredAt }: Pick<SpeakerProfile, 'registeredAt'>): Date | undefined {
  if (registeredAt === undefined) return undefined;
  const iso = registeredAt.trim().replace(' ', 'T');
  const hasZone = /(?:z|[+-]\d{2}:?\d{2})$/iu.test(iso) && iso.includes('T');
  const date = new Date(hasZone || !iso.includes('T') ? iso : `${iso}Z`);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

/** One address of the recognition service, with its HTTP sender. */
export interface SpeakerService {
  readonly http: SpeechHttp;
  readonly baseUrl: string;
}

export interface SpeakersOptions {
  /** For registering and deleting: the primary address, or Variant B when only that is known. */
  readonly write: () => SpeakerService;
  /** For listing and identifying: only Variant B has these (ASR doc, "GET /v1/speakers/list"). */
  readonly read: () => SpeakerService;
}

/** A profile's name and project. The name `unknown` is reserved: the platform uses it for unknown voices. */
export interface NamedSpeaker {
  readonly name: string;
  /** Groups profiles; whether one is required is not documented. */
  readonly project?: string;
}

/** The answer to a registration (ASR doc, "POST {asr_url}/v1/speakers/register"). */
export interface RegisteredSpeaker {
  /** The profile's name as the platform took it. */
  readonly speaker: string;
  readonly message: string | undefined;
  readonly requestId: string | undefined;
  /** Requests that were sent for it. */
  readonly attempts: number;
}

/** The answer to an identification (ASR doc, "POST /v1/speakers/identify"). `speaker` is null when no profile matches above the platform's threshold. */
export interface SpeakerMatch {
  readonly speaker: string | null;
  /** 0 to 1. */
  readonly confidence: number | undefined;
  readonly requestId: string | undefined;
}

const MOST_BYTES = 500 * 1024 * 1024;
const text = z.string().nullish();
const registered = z.looseObject({ success: z.boolean().nullish(), speaker: text, message: text });
const deleted = z.looseObject({ success: z.boolean().nullish(), message: text });
const listed = z.looseObject({ speakers: z.array(readSpeakerProfile) });
const identified = z.looseObject({ speaker: text, confidence: z.number().nullish().catch(undefined) });

/** Voice profiles, against which transcription names its speakers (ASR doc, "/v1/speakers"). */
export class Speakers {
  readonly #options: SpeakersOptions;

  constructor(options: SpeakersOptions) {
    this.#options = options;
  }

  /**
   * Registers a voice under a name.
   * @param clip best 5 to 15 clean seconds of the speaker alone
   * @throws SpeechRequestError for an empty name, or when the platform did not take the clip; SpeechError by status
   */
  async register(speaker: NamedSpeaker, clip: AudioFile, signal: AbortSignal): Promise<RegisteredSpeaker> {
    const audio = await openAudioFile(clip, MOST_BYTES);
    const fields = named(speaker);
    const answer = await send(this.#options.write(), 'POST', 'register', signal, () => {
      fields.set('file', new PacedFile(audio));
      return fields;
    });
    const { success, speaker: name, message } = parseAnswer(registered, answer, 'the answer to a speaker registration');
    if (success === false) refused('speaker registration', message, answer);
    const { requestId, attempts } = answer;
    return { speaker: name ?? speaker.name, message: message ?? undefined, requestId, attempts };
  }

  /**
   * Forgets a profile (ASR doc, "DELETE {asr_url}/v1/speakers/delete").
   * @throws SpeechRequestError when there is no such profile; SpeechError by status; the signal's reason when aborted
   */
  async delete(speaker: NamedSpeaker, signal: AbortSignal): Promise<void> {
    const fields = named(speaker);
    const answer = await send(this.#options.write(), 'DELETE', 'delete', signal, () => fields);
    const { success, message } = parseAnswer(deleted, answer, 'the answer to a speaker deletion');
    if (success === false) refused('speaker deletion', message, answer);
  }

  /**
   * The project's profiles. Needs `asrAltUrl` and an API key.
   * @throws SpeechRequestError without them; SpeechError by status; the signal's reason when aborted
   */
  async list(project: string, signal: AbortSignal): Promise<SpeakerProfile[]> {
    const { http, baseUrl } = this.#options.read();
    const url = serviceUrl(baseUrl, '/v1/speakers/list');
    url.searchParams.set('project', project);
    const answer = await http.send({ what: 'speaker list', url, method: 'GET' }, signal);
    return parseAnswer(listed, answer, 'the speaker list').speakers;
  }

  /**
   * Identifies a voice. Needs `asrAltUrl` and an API key.
   * @throws SpeechRequestError without them, or for a clip that cannot be read; SpeechError by status; the signal's reason
   * when aborted
   */
  async identify(clip: AudioFile, project: string, signal: AbortSignal): Promise<SpeakerMatch> {
    const audio = await openAudioFile(clip, MOST_BYTES);
    const answer = await send(this.#options.read(), 'POST', 'identify', signal, () => {
      const form = new FormData();
      form.set('file', audio.blob, audio.name);
      form.set('project', project);
      return form;
    });
    const { speaker, confidence } = parseAnswer(identified, answer, 'the answer to a speaker identification');
    // `unknown` is how the platform names a stranger.
    const known = speaker === 'unknown' || speaker === undefined ? null : speaker;
    return { speaker: known, confidence: confidence ?? undefined, requestId: answer.requestId };
  }
}

function named({ name, project }: NamedSpeaker): FormData {
  if (name.trim() === '') throw new SpeechRequestError('a speaker profile needs a name');
  if (name.trim().toLowerCase() === 'unknown') throw new SpeechRequestError('`unknown` is how the platform names a stranger');
  const form = new FormData();
  form.set('name', name);
  if (project !== undefined) form.set('project', project);
  return form;
}

function send(
  { http, baseUrl }: SpeakerService,
  method: 'POST' | 'DELETE',
  action: string,
  signal: AbortSignal,
  body: () => FormData,
): Promise<SpeechAnswer> {
  return http.send({ what: `speaker ${action}`, url: serviceUrl(baseUrl, `/v1/speakers/${action}`), method, body }, signal);
}

function refused(
  what: string,
  message: string | null | undefined,
  { status, requestId, text, attempts, mask }: SpeechAnswer,
): never {
  const said = mask(message ?? 'refused without a reason');
  throw new SpeechRequestError(`${what}: ${said}`, { status, requestId, body: mask(text), attempts });
}
