import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { hasCode } from '../kernel/error-code.ts';

/** A rename is durable once the folder is; not every system can flush one. */
export async function flushFolder(path: string): Promise<void> {
  const folder = await open(path, constants.O_RDONLY);
  try {
    await folder.sync();
  } catch (error) {
    if (!hasCode(error, 'EINVAL', 'EPERM')) throw error;
  } finally {
    await folder.close();
  }
}
