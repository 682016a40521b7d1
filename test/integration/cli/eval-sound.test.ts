import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { lastJson, runCommand } from '../../support/command.ts';
import { thorough } from '../../support/thorough.ts';
import { keptCallsFolder } from '../../unit/rehearsal/replay/kept-calls.ts';
import { EvalFolder } from '../../unit/rehearsal/evals/eval-folder.ts';

const KEPT = `bot: clinic
scenarios:
  - name: a kept call
    tags: [sound, quick]
    at: 2026-11-23T09:00+05:30
    caller: { recorded: ${join(keptCallsFolder, 'appointment.fixture.gz')} }
    expect:
      end: appointment-booked
      variables: { day: 2026-11-24, time: '10:30', reminder: none }
      cutOffs: 0
      times: { replyP95Ms: 2000 }
`;
const folder = new EvalFolder({ 'evals/kept.yaml': KEPT });
afterAll(() => folder[Symbol.dispose]());

// A codec, a bad line, keys, mocks, silence, an interruption, a transfer, and calls that Offhook places. One run for all: its engines start once.
it('calls each shipped bot with sound, and plays a kept call', async () => {
  const finished = await runCommand(
    [
      'eval',
      'config/evals',
      join(folder.path, 'evals/kept.yaml'),
      '--depth',
      'sound',
      '--tag',
      thorough('quick', 'sound'),
      '--seed',
      '3',
      '--json',
    ],
    {
      OFFHOOK_DATA_DIR: join(folder.path, 'data'),
      // The shipped vocabulary has all that these callers say.
      OFFHOOK_PLATFORM__VOCABULARY: 'files',
    },
  );
  const { results } = lastJson(finished) as { results: { bot: string; name: string; verdict: string; calls: unknown[] }[] };
  expect(results.filter(({ verdict }) => verdict !== 'passed').map((each) => JSON.stringify(each))).toEqual([]);
  expect(results.map(({ bot }) => bot)).toEqual([
    ...['clinic-hi', 'clinic', 'reminder'].flatMap((bot) => thorough([bot], [bot, bot, bot])),
    'clinic',
  ]);
  expect(finished.code).toBe(0);
});
