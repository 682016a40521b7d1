import { spawn } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';

const OBJECT = `
import { diskObjects } from './src/records/objects/disk.ts';
async function* parts() { yield Buffer.alloc(100_000, 1); }
await diskObjects(process.argv[1]).put('a', parts(), 100_000).then(
  () => console.log('kept'),
  (error) => console.log(error.code, error.cause?.code),
);
`;

const KEY = `
import { ensureMasterKey } from './src/config/own-secrets.ts';
try {
  ensureMasterKey(process.argv[1]);
} catch (error) {
  console.log(error.code);
}
`;

/** Runs a program in a process whose files may have so many KiB: a write ends there, as on a disk that is nearly full. */
async function withSmallFiles(kibibytes: number, program: string, folder: string): Promise<string> {
  const limited = ['-c', `ulimit -f ${kibibytes}; exec "$0" "$@"`, process.execPath];
  const node = ['--import', 'tsx', '--input-type=module', '--eval', program, folder];
  const env = { ...process.env, TSX_DISABLE_CACHE: '1' };
  const child = spawn('bash', [...limited, ...node], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  return text(child.stdout);
}

it.each([
  {
    note: 'no object of which the disk took a part alone, and said nothing',
    program: OBJECT,
    kibibytes: 64,
    says: 'OFFHOOK_OBJECT_STORE EFBIG\n',
  },
  { note: 'no master key that is empty', program: KEY, kibibytes: 0, says: 'EFBIG\n' },
])('keeps $note', async ({ program, kibibytes, says }) => {
  const folder = await mkdtemp(join(tmpdir(), 'offhook-short-write-'));
  try {
    expect(await withSmallFiles(kibibytes, program, folder)).toBe(says);
    expect(await readdir(folder)).toEqual([]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
