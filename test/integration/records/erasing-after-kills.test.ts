import { once } from 'node:events';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../../src/audio/tone.ts';
import { CallJournal } from '../../../src/call/log/call-journal.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { endOrphans } from '../../../src/records/after-call/orphan-watch.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { openRecords } from '../../../src/hosts/records.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { eventually } from '../../support/eventually.ts';
import { run } from '../../support/processes.ts';
import { nodeArguments } from '../../support/program.ts';
import { thorough } from '../../support/thorough.ts';

const CHILD = fileURLToPath(new URL('../../support/erasing-child.ts', import.meta.url));
const [NUMBER, WORDS, SOUND] = ['+15550123456', 'zebrafinch marzipan', 'quincunx'];
/** Kills of each kind; `OFFHOOK_TEST_KILLS=50` looks for longer. */
const KILLS = Number(process.env['OFFHOOK_TEST_KILLS'] ?? 1);
/** A call takes six steps; four calls go on at once. */
const MOST_STEPS = 60;
const seed = Number(process.env['OFFHOOK_TEST_SEED'] ?? 18);

/** What of the caller is found in any file of a folder, and in the names of what lies there. */
async function foundIn(folder: string, secrets: readonly string[]): Promise<string[]> {
  const stereo = (text: string): string => text.replaceAll(/../gu, '$&$&');
  const found = new Set<string>();
  for (const name of await readdir(folder, { recursive: true })) {
    if (/call_\d+_\d/u.test(name)) found.add(name);
    const path = join(folder, name);
    if (!(await stat(path)).isFile()) continue;
    const bytes = await readFile(path);
    for (const secret of secrets)
      if (bytes.includes(secret) || bytes.includes(stereo(secret)) || bytes.includes(Buffer.from(secret).toString('hex')))
        found.add(`${name}: ${secret}`);
  }
  return [...found].toSorted();
}

const kinds: readonly (readonly [string, string])[] = [
  ['plain', 'never'],
  ['sealed', 'always'],
];
// Sealed recordings are erased in `erasing.test.ts`, without kills.
describe.each(thorough(kinds.slice(0, 1), kinds))(
  'erasing a number after kills at random points, recordings %s',
  (_how, seal) => {
    test.each(Array.from({ length: KILLS }, (_, at) => seed + at))('leaves nothing of it on the disk (seed %i)', async (own) => {
      await using folder = await temporaryFolder();
      const dataDir = join(folder.path, 'data');
      const env = { OFFHOOK_DATA_DIR: dataDir, OFFHOOK_RECORDINGS__SEAL: seal };
      const args = [...(await nodeArguments(CHILD)), NUMBER, WORDS, SOUND];
      const child = run(process.execPath, args, {}, { ...process.env, ...env });
      const steps = 1 + Math.floor(seededRandom(own)() * MOST_STEPS);
      await eventually('the moment to kill', () => child.output().split('\n').length > steps);
      child.child.kill('SIGKILL');
      await once(child.child, 'exit');
      // What was killed has left something, or there would be nothing to try.
      expect(await foundIn(dataDir, [NUMBER, WORDS, SOUND])).not.toEqual([]);

      const config = loadConfig({ env, files: [] });
      const records = await openRecords({ config, clock: systemClock, logger: silentLogger });
      try {
        const journal = new CallJournal(join(dataDir, 'calls'), () => undefined);
        const parts = { outbox: records.outbox, pump: undefined };
        const events = { callEnded: () => undefined };
        await endOrphans(journal, parts, systemClock, { logger: silentLogger, events });
        const { erased, held, live } = await records.eraser.eraseNumber('default', NUMBER);
        expect([erased.length > 0, held, live]).toEqual([true, [], []]);
      } finally {
        await records.close();
      }
      expect(await foundIn(dataDir, [NUMBER, NUMBER.slice(1), WORDS, ...WORDS.split(' '), SOUND])).toEqual([]);
    });
  },
);
