import { spawn } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';

const PROGRAM = `
import { diskObjects } from './src/store/objects/disk.ts';
async function* parts() { yield Buffer.alloc(100_000, 1); }
await diskObjects(process.argv[1]).put('a', parts(), 100_000).then(
  () => console.log('kept'),
  (error) => console.log(error.code, error.cause?.code),
);
`;

it('keeps no object of which the disk took a part alone, and said nothing', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'offhook-short-write-'));
  try {
    // A file may have 64 KiB: the one write of a larger one ends there, as on a disk that is nearly full.
    const limited = ['-c', 'ulimit -f 64; exec "$0" "$@"', process.execPath];
    const node = ['--import', 'tsx', '--input-type=module', '--eval', PROGRAM, folder];
    const env = { ...process.env, TSX_DISABLE_CACHE: '1' };
    const child = spawn('bash', [...limited, ...node], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    expect(await text(child.stdout)).toBe('OFFHOOK_OBJECT_STORE EFBIG\n');
    expect(await readdir(folder)).toEqual([]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
