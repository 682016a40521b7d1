import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Clock } from '../../../kernel/clock.ts';
import { entryFile } from '../../../kernel/entry-file.ts';
import type { Logger } from '../../../observability/logger.ts';
import { errorText, OffhookError } from '../../../kernel/errors.ts';
import { languages } from '../../languages.ts';

/** The user's models, opened once without error, and what an engine needs to use them. */
export interface OpenedModels {
  readonly modelsFolder: string;
  readonly models: OwnModels;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** @throws OwnModelError saying what is missing: the package, a folder, a file, or a file that is no model */
export async function openModels(modelsFolder: string, clock: Clock, logger: Logger): Promise<OpenedModels> {
  const models = await findModels(modelsFolder);
  await probeModels({ modelsFolder, models }, clock);
  return { modelsFolder, models, clock, logger };
}

/** Large models take tens of seconds from a slow disk. */
const DEADLINE_MS = 120_000;
/** Only the start of the library's message is shown: a stack trace may follow. */
const KEPT_CHARACTERS = 500;

/**
 * Opens the models in a separate process first, since the library ends its process for a bad file.
 * @throws OwnModelError with the library's message when one is no model
 */
async function probeModels(data: ThreadData, clock: Clock): Promise<void> {
  const { path, execArgv } = entryFile(import.meta.url, 'probe-child');
  const child = spawn(process.execPath, [...execArgv, path, JSON.stringify(data)], { stdio: ['ignore', 'ignore', 'pipe'] });
  const deadline = clock.after(DEADLINE_MS, () => child.kill('SIGKILL'));
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output = (output + text).slice(0, KEPT_CHARACTERS);
  });
  try {
    const [code] = (await once(child, 'close')) as [number | null];
    if (code === 0) return;
  } finally {
    deadline.cancel();
  }
  const words = output.trim().replaceAll(/\s+/g, ' ');
  throw new OwnModelError(`the models cannot be opened: ${words === '' ? 'the library ended without a message' : words}`);
}

/** A streaming transducer for one language; paths. */
const recognitionFiles = z.object({
  language: z.string(),
  encoder: z.string(),
  decoder: z.string(),
  joiner: z.string(),
  tokens: z.string(),
});

/** A VITS voice for one language; paths, empty for files it does not have. */
const voiceFiles = z.object({
  language: z.string(),
  model: z.string(),
  tokens: z.string(),
  lexicon: z.string(),
  dataDir: z.string(),
});

const ownModels = z.object({
  recognition: z.array(recognitionFiles),
  voices: z.array(voiceFiles),
  /** Path of the speaker embedding model. */
  embedding: z.string().optional(),
  /** Path of the segmentation model, which diarizes together with `embedding`. */
  segmentation: z.string().optional(),
});

export type RecognitionFiles = z.infer<typeof recognitionFiles>;
export type VoiceFiles = z.infer<typeof voiceFiles>;
/** The models in the user's folder. */
export type OwnModels = z.infer<typeof ownModels>;

/** Start data of the threads with the user's models, and of the process that probes them. */
export const threadDataSchema = z.object({ modelsFolder: z.string(), models: ownModels });

export type ThreadData = z.infer<typeof threadDataSchema>;

/** The user's models cannot be used: the package, a folder or a file is missing, or a file is no model. */
export class OwnModelError extends OffhookError {
  readonly code = 'OFFHOOK_OWN_MODEL';
  readonly retryable = false;
}

type Kind = 'recognition' | 'voices' | 'speakers';

/**
 * Finds the user's models: folders named by the code of a language in `recognition/` (a streaming transducer: encoder,
 * decoder, joiner, tokens) and `voices/` (a VITS voice: model, tokens, and lexicon or espeak-ng-data where it has one), and
 * `speakers/` (embedding, and segmentation for diarization). Files begin with these words, as models are published.
 * @throws OwnModelError when there is none, a folder names no language of ours, or a file is missing
 */
export async function findModels(modelsFolder: string): Promise<OwnModels> {
  const kinds = await listed(modelsFolder);
  const inLanguages = async <Files>(kind: Kind, read: (folder: ModelFiles, language: string) => Files): Promise<Files[]> => {
    if (!kinds.includes(kind)) return [];
    const names = await listed(join(modelsFolder, kind));
    if (names.length === 0) throw new OwnModelError(`no models: ${join(modelsFolder, kind)} is empty`);
    return Promise.all(
      names.map(async (language) => {
        const folder = join(modelsFolder, kind, language);
        if (!languages.some(({ code }) => code === language)) {
          throw new OwnModelError(`${folder}: the folder's name is not the code of a language`);
        }
        return read(new ModelFiles(folder, await listed(folder)), language);
      }),
    );
  };
  const recognition = await inLanguages('recognition', (files, language) => ({
    language,
    encoder: files.need('encoder', '.onnx'),
    decoder: files.need('decoder', '.onnx'),
    joiner: files.need('joiner', '.onnx'),
    tokens: files.need('tokens', '.txt'),
  }));
  const voices = await inLanguages('voices', (files, language) => ({
    language,
    // A voice's model has any name; it is the only one in its folder.
    model: files.need('', '.onnx'),
    tokens: files.need('tokens', '.txt'),
    lexicon: files.find('lexicon', '.txt') ?? '',
    dataDir: files.find('espeak-ng-data', '') ?? '',
  }));
  const models = { recognition, voices, ...(kinds.includes('speakers') ? await speakerModels(modelsFolder) : {}) };
  if (recognition.length + voices.length === 0 && !('embedding' in models)) {
    throw new OwnModelError(`no models: ${modelsFolder} holds none of recognition, voices and speakers`);
  }
  return models;
}

async function speakerModels(modelsFolder: string): Promise<Pick<OwnModels, 'embedding' | 'segmentation'>> {
  const folder = join(modelsFolder, 'speakers');
  const files = new ModelFiles(folder, await listed(folder));
  const segmentation = files.find('segmentation', '.onnx');
  return { embedding: files.need('embedding', '.onnx'), ...(segmentation === undefined ? {} : { segmentation }) };
}

class ModelFiles {
  readonly #folder: string;
  readonly #names: readonly string[];

  constructor(folder: string, names: readonly string[]) {
    this.#folder = folder;
    this.#names = names;
  }

  find(beginning: string, ending: string): string | undefined {
    const fitting = this.#names.filter((name) => name.startsWith(beginning) && name.endsWith(ending));
    // The int8 variant, published beside the full one, is the faster one on a CPU.
    const name = fitting.find((each) => each.includes('int8')) ?? fitting[0];
    return name === undefined ? undefined : join(this.#folder, name);
  }

  /** @throws OwnModelError */
  need(beginning: string, ending: string): string {
    const path = this.find(beginning, ending);
    if (path === undefined) throw new OwnModelError(`${this.#folder}: no ${beginning}*${ending}`);
    return path;
  }
}

async function listed(folder: string): Promise<string[]> {
  try {
    const names = await readdir(folder);
    return names.filter((name) => !name.startsWith('.')).toSorted();
  } catch (error) {
    throw new OwnModelError(`the folder of models cannot be read: ${errorText(error)}`, { cause: error });
  }
}
