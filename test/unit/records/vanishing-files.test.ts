import { rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { diskObjects } from '../../../src/records/objects/disk.ts';
import type { ObjectStore } from '../../../src/records/objects/port.ts';
import { SealedRecordings, Uploads } from '../../../src/records/objects/recordings.ts';
import { temporaryFolder } from '../../support/databases.ts';

const ref = { tenantId: 'default', callId: 'call_1', submissionId: 'sub_1' };

it.each(['a recording', 'an upload'])(
  'refuses %s whose file another process removed meanwhile, and does not end this one',
  async (what) => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'recording.wav');
    await writeFile(path, Buffer.alloc(200_000));
    const removing = {
      audioKey: async () => {
        await rm(path);
        return new Uint8Array(32);
      },
    };
    const disk = diskObjects(join(folder.path, 'objects'));
    const slow: ObjectStore = {
      ...disk,
      async put(...asked) {
        // The disk has answered by then whatever was asked of it before; an error that nobody listens to ends the process.
        for (let round = 0; round < 20; round += 1) await stat(folder.path);
        await disk.put(...asked);
      },
    };
    const store = { privacy: removing } as never;
    const sealing =
      what === 'an upload'
        ? new Uploads(store, slow).keep(ref, path)
        : new SealedRecordings(store, slow).put(ref, 'default/call_1.sealed', path);
    await expect(sealing).rejects.toMatchObject({ code: 'OFFHOOK_OBJECT_STORE', cause: { code: 'ENOENT' } });
  },
);
