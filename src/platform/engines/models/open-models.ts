import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { z } from 'zod';
import type { Clock } from '../../../kernel/clock.ts';
import { entryFile } from '../../../kernel/entry-file.ts';
import type { Logger } from '../../../observability/logger.ts';
import { OffhookError } from '../../../kernel/errors.ts';
import type { UsedModels } from '../../../speech/models/model.ts';
import { installedFiles, readModels } from '../../../speech/models/read-models.ts';
import { languages } from '../../languages.ts';

/** The models that are used, opened once without error, and what an engine needs to use them. */
export interface OpenedModels {
  readonly modelsFolder: string;
  readonly models: UsedModels;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * @throws ModelFolderError when the folder or a model in it is not what is expected
 * @throws ModelOpenError when the package is missing, a file is no model, or a language is not one of the platform's
 */
export async function openModels(modelsFolder: string, clock: Clock, logger: Logger): Promise<OpenedModels> {
  const models = await readModels(modelsFolder);
  for (const { model, languages: used } of [...models.recognition, ...models.voices]) {
    const unknown = used.find((code) => code !== 'auto' && !languages.some((each) => each.code === code));
    if (unknown !== undefined) {
      throw new ModelOpenError(`${modelsFolder}: ${model.name} is used for ${unknown}, which is not the code of a language`);
    }
  }
  await probeModels({ modelsFolder, models }, clock);
  return { modelsFolder, models, clock, logger };
}

/**
 * Opens one installed model, used or not, and closes it again. A segmentation is opened beside an embedding alone, and so not here.
 * @throws ModelFolderError, ModelOpenError as `openModels`
 */
export async function tryModel(
  modelsFolder: string,
  { name, role }: { readonly name: string; readonly role: 'recognition' | 'voice' | 'speakers' },
  clock: Clock,
): Promise<void> {
  const none = { recognition: [], voices: [] };
  const used = { languages: ['auto'] };
  if (role === 'recognition') {
    const model = await installedFiles(modelsFolder, name, role);
    await probeModels({ modelsFolder, models: { ...none, recognition: [{ ...used, model }] } }, clock);
  } else if (role === 'voice') {
    const model = await installedFiles(modelsFolder, name, role);
    await probeModels({ modelsFolder, models: { ...none, voices: [{ ...used, model }] } }, clock);
  } else {
    const { kind, files } = await installedFiles(modelsFolder, name, role);
    if (kind === 'embedding') await probeModels({ modelsFolder, models: { ...none, embedding: files.model } }, clock);
  }
}

/** Large models take tens of seconds from a slow disk. */
const DEADLINE_MS = 120_000;
/** Only the start of the library's message is shown: a stack trace may follow. */
const KEPT_CHARACTERS = 500;

/**
 * Opens the models in a separate process first, since the library ends its process for a bad file.
 * @throws ModelOpenError with the library's message when one is no model
 */
async function probeModels(data: ThreadData, clock: Clock): Promise<void> {
  const { path, execArgv } = entryFile(import.meta.url, 'probe-child');
  const child = spawn(process.execPath, [...execArgv, path, JSON.stringify(data)], { stdio: ['ignore', 'pipe', 'pipe'] });
  const deadline = clock.after(DEADLINE_MS, () => child.kill('SIGKILL'));
  let output = '';
  let opening = '';
  child.stdout.setEncoding('utf8').on('data', (lines: string) => {
    opening = lines.trim().split('\n').at(-1) ?? opening;
  });
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
  const silent = child.killed ? `it took longer than ${DEADLINE_MS / 1_000} s` : 'the library ended without a message';
  throw new ModelOpenError(`${opening === '' ? 'the models' : opening} cannot be opened: ${words === '' ? silent : words}`);
}

/** Start data of the threads with models, and of the process that probes them. The sender has checked the models. */
export const threadDataSchema = z.object({ modelsFolder: z.string(), models: z.custom<UsedModels>() });

export type ThreadData = z.infer<typeof threadDataSchema>;

/** A model cannot be opened: the package is missing, or a file is no model. */
export class ModelOpenError extends OffhookError {
  readonly code = 'OFFHOOK_MODEL_OPEN';
  readonly retryable = false;
}
