import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Clock } from '../../../kernel/clock.ts';
import { entryFile } from '../../../kernel/entry-file.ts';
import { OwnModelError, type ThreadData, findModels, type OwnModels } from './own-models.ts';
import type { Logger } from '../../../observability/logger.ts';

/** Models of the user's that were seen to open, and what an engine over them needs. */
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
/** Of what the library says, the beginning is told: after it may come a trace of calls. */
const KEPT_CHARACTERS = 500;

/**
 * Opens the models in a process of their own first.
 * @throws OwnModelError with what the library said, when one is no model
 */
async function probeModels(data: ThreadData, clock: Clock): Promise<void> {
  const { path, execArgv } = entryFile(import.meta.url, 'probe-child');
  const child = spawn(process.execPath, [...execArgv, path, JSON.stringify(data)], { stdio: ['ignore', 'ignore', 'pipe'] });
  const deadline = clock.after(DEADLINE_MS, () => child.kill('SIGKILL'));
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(0, KEPT_CHARACTERS);
  });
  try {
    const [code] = (await once(child, 'close')) as [number | null];
    if (code === 0) return;
  } finally {
    deadline.cancel();
  }
  const words = said.trim().replaceAll(/\s+/g, ' ');
  throw new OwnModelError(`the models cannot be opened: ${words === '' ? 'the library ended without a word' : words}`);
}
