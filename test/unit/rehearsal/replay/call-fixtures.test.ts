import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { CallFixtures, ReplayBusyError } from '../../../../src/rehearsal/replay/call-fixtures.ts';
import { FixtureExpiredError, sealFixture } from '../../../../src/rehearsal/replay/fixture-file.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { temporaryFolder } from '../../../support/databases.ts';

it('reads no file for a request that comes while as many wait as may', async () => {
  await using folder = await temporaryFolder();
  const about = { tenantId: 'default', callId: 'call_1', expiresAtMs: null };
  await writeFile(join(folder.path, 'call_1.fixture.sealed'), sealFixture(new Uint8Array(32), about, new Uint8Array(10)));
  let give: (key: undefined) => void = () => undefined;
  const key = new Promise<undefined>((resolve) => (give = resolve));
  let opened = 0;
  const fixtures = new CallFixtures({
    folder: folder.path,
    bots: '*',
    botNamed: () => undefined,
    keyOf: () => {
      opened += 1;
      return key;
    },
    clock: new ManualClock(),
  });
  const { signal } = new AbortController();
  expect(await fixtures.facts('default', 'call_2', signal)).toBeUndefined();
  const refused: unknown[] = [];
  const allRefused = new Promise<void>((resolve) => {
    for (let asked = 0; asked < 8; asked += 1)
      fixtures.facts('default', 'call_1', signal).catch((error: unknown) => {
        refused.push(error);
        if (refused.length === 4) {
          expect(refused.every((each) => each instanceof ReplayBusyError)).toBe(true);
          expect(opened).toBeLessThanOrEqual(1);
          give(undefined);
        }
        if (refused.length === 8) resolve();
      });
  });
  await allRefused;
  expect(refused.slice(4).every((each) => each instanceof FixtureExpiredError)).toBe(true);
});
