import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { lastJson, runCommand } from '../../support/command.ts';
import { EvalFolder } from '../../unit/rehearsal/evals/eval-folder.ts';

const folder = new EvalFolder({});
afterAll(() => folder[Symbol.dispose]());

// A codec, a bad line, keys, mocks, silence, an interruption, a transfer, and calls that Offhook places. One run for all: its engines start once.
it('calls each shipped bot three times with sound', async () => {
  const finished = await runCommand(['eval', '--depth', 'sound', '--tag', 'sound', '--seed', '3', '--json'], {
    OFFHOOK_DATA_DIR: join(folder.path, 'data'),
    // The shipped vocabulary has all that these callers say.
    OFFHOOK_PLATFORM__VOCABULARY: 'files',
  });
  const { results } = lastJson(finished) as { results: { bot: string; name: string; verdict: string; calls: unknown[] }[] };
  expect(results.filter(({ verdict }) => verdict !== 'passed').map((each) => JSON.stringify(each))).toEqual([]);
  expect(results.map(({ bot }) => bot)).toEqual(['clinic-hi', 'clinic', 'reminder'].flatMap((bot) => [bot, bot, bot]));
  expect(finished.code).toBe(0);
});
