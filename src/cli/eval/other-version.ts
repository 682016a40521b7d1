import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import { loadBots } from '../../config/bot-files.ts';
import type { Bot } from '../../config/bots.ts';
import { readEnvironment } from '../../config/env.ts';
import { errorText } from '../../kernel/errors.ts';
import { isFolder } from '../../rehearsal/evals/suite-file.ts';
import { UsageError } from '../shell/output.ts';

const run = promisify(execFile);

/** The bots of another version, and what removes their copy. */
export interface OtherVersion extends Disposable {
  readonly bots: readonly Bot[];
}

/**
 * The bots of another version.
 * @param version a folder of bots, or a revision of the git repository that `folder` is in
 * @param folder the bots of today
 * @throws UsageError where there is no such version
 */
export async function otherVersion(version: string, folder: string): Promise<OtherVersion> {
  if (isFolder(version)) return { bots: soundBots(resolve(version), version), [Symbol.dispose]: () => undefined };
  const copy = mkdtempSync(join(besideModules(), 'offhook-against-'));
  const remove = (): void => rmSync(copy, { recursive: true, force: true });
  try {
    const git = async (...args: string[]): Promise<string> => (await run('git', ['-C', folder, ...args])).stdout.trim();
    const root = await git('rev-parse', '--show-toplevel');
    const path = relative(root, folder);
    const archive = join(copy, 'bots.tar');
    await run('git', ['-C', root, 'archive', '--format=tar', `--output=${archive}`, '--end-of-options', version, path]);
    await run('tar', ['-xf', archive, '-C', copy]);
    return { bots: soundBots(join(copy, path), version), [Symbol.dispose]: remove };
  } catch (error) {
    remove();
    if (error instanceof UsageError) throw error;
    throw new UsageError(`"${version}" is no folder of bots, and git has no such revision of ${folder}: ${errorText(error)}`);
  }
}

/** Where a bot's imports are found as in the working folder. */
function besideModules(): string {
  const modules = resolve('node_modules');
  return existsSync(modules) ? modules : tmpdir();
}

function soundBots(folder: string, version: string): readonly Bot[] {
  const { bots } = loadBots(folder, readEnvironment());
  if (bots.length === 0) throw new UsageError(`${version} has no sound bot`);
  return bots;
}
