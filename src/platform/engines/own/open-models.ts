import type { Clock } from '../../../kernel/clock.ts';
import type { Logger } from '../../../observability/logger.ts';
import { findModels } from './model-folder.ts';
import type { OwnModels } from './own-models.ts';
import { probeModels } from './probe-models.ts';

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
