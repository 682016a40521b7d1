import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Clock } from '../../../kernel/clock.ts';
import { entryFile } from '../../../kernel/entry-file.ts';
import { OwnModelError, type ThreadData, findModels, type OwnModels } from './own-models.ts';
import type { Logger } from '../../../observability/logger.ts';

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
