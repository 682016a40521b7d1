import { fsyncSync } from 'node:fs';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { expect, it } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { openDatabase } from '../../../src/records/database.ts';
import { DURABLE_START, DurableFiles } from '../../../src/records/embedded/durable-files.ts';
import { onProblem, temporaryFolder } from '../../support/databases.ts';

it('flushes every commit to disk before it answers, and changed folders at a checkpoint', async () => {
  await using folder = await temporaryFolder();
  const database = await openDatabase({ url: undefined, dataDir: folder.path, clock: systemClock, onProblem });
  const { rows } = await database.pool.query(`SELECT current_setting('fsync') AS on, current_setting('wal_sync_method') AS how`);
  expect(rows).toEqual([{ on: 'on', how: 'fsync' }]);
  await database.close();

  let flushed = 0;
  const fs = new DurableFiles(join(folder.path, 'store'), (descriptor) => {
    fsyncSync(descriptor);
    flushed += 1;
  });
  const engine = await PGlite.create({ fs, startParams: DURABLE_START });
  try {
    await engine.exec('CREATE TABLE public.kept (number int)');
    for (let number = 0; number < 5; number += 1) {
      const before = flushed;
      await engine.exec(`INSERT INTO public.kept VALUES (${number})`);
      expect(flushed).toBeGreaterThan(before);
    }
    const before = flushed;
    await engine.exec('SELECT * FROM public.kept');
    expect(flushed).toBe(before);
    // Makes a new file of the log, whose folder is flushed, and writes the table out.
    await engine.exec('SELECT pg_switch_wal(); INSERT INTO public.kept VALUES (5); CHECKPOINT');
    expect(flushed).toBeGreaterThan(before + 1);
  } finally {
    await engine.close();
  }
});
