import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { FixtureKeeping } from '../../../../src/rehearsal/replay/fixture-keeping.ts';
import { writeFixture } from '../../../../src/rehearsal/replay/fixture-file.ts';
import type { FixtureKey } from '../../../../src/rehearsal/replay/sealed-fixture.ts';
import { type CallServices, DEFAULT_CALL_TIMING } from '../../../../src/call/services.ts';
import { botSettings } from '../../../../src/config/bots.ts';
import type { DialogAction } from '../../../../src/dialog/port.ts';
import { silentLogger } from '../../../../src/observability/logger.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { identityOf, recordCall, recordCallIfWanted } from './recorded-call.ts';
import { untilPasses } from '../../../support/eventually.ts';

const folder = mkdtempSync(join(tmpdir(), 'offhook-keeping-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const DAY_MS = 86_400_000;
const retention = { audioDays: 0, textDays: 0 };

async function* greets(): AsyncIterable<DialogAction> {
  yield { type: 'say', text: 'Hello.' };
}

it('keeps the calls of the bots that are named, whose sound may be kept', () => {
  const clock = new ManualClock();
  const keeping = (bots: string | undefined): FixtureKeeping =>
    new FixtureKeeping({ folder, bots, days: 7, retention, sealUnder: undefined, clock, logger: silentLogger });
  const records = (bots: string | undefined, bot: Record<string, unknown>): boolean => {
    const identity = identityOf(botSettings.parse({ voice: 'Nisha', dialog: { kind: 'module', file: 'x.js' }, ...bot }), greets);
    const services = { clock, ticker: { add: () => () => undefined } } as unknown as CallServices;
    return keeping(bots).record(identity, services, DEFAULT_CALL_TIMING) !== undefined;
  };
  expect(records(undefined, { name: 'clinic' })).toBe(false);
  expect(records('clinic, other', { name: 'clinic' })).toBe(true);
  expect(records('other', { name: 'clinic' })).toBe(false);
  expect(records('*', { name: 'clinic' })).toBe(true);
  for (const recording of ['never', 'after-announcement', 'after-consent']) {
    expect(records('*', { name: 'clinic', recording })).toBe(false);
  }
});

it('keeps no call whose caller takes the consent back', async () => {
  const fixture = await recordCallIfWanted({
    async *dialog(turn): AsyncIterable<DialogAction> {
      yield* greets();
      if (turn.input.kind === 'keyed') yield { type: 'recording', on: false };
    },
    caller: [{ quietMs: 1_500 }, { key: '9' }, { quietMs: 3_000 }],
  });
  expect(fixture).toBeUndefined();
});

it('deletes what has expired at its start and every hour', async () => {
  const clock = new ManualClock();
  const fixture = await recordCall({ dialog: greets, caller: [{ quietMs: 200 }] });
  const paths = await Promise.all(
    [-1, 1, 30].map((days) => writeFixture(folder, `call_${days}`, { ...fixture, expiresAtMs: clock.wallMs() + days * DAY_MS })),
  );
  const left = (): boolean[] => paths.map((path) => existsSync(path));
  const keeping = new FixtureKeeping({
    folder,
    bots: '*',
    days: 7,
    retention,
    sealUnder: undefined,
    clock,
    logger: silentLogger,
  });
  await untilPasses(() => expect(left()).toEqual([false, true, true]));
  await untilPasses(() => expect(clock.pendingTimers).toBe(1));
  clock.jumpWall(DAY_MS);
  clock.advance(3_600_000);
  await untilPasses(() => expect(left()).toEqual([false, false, true]));
  keeping.close();
});

it('seals what it keeps where nothing of a call may stay in a plain file', async () => {
  const clock = new ManualClock();
  const sealed = join(folder, 'sealed');
  const key = randomBytes(32);
  const asked: unknown[] = [];
  const sealUnder: FixtureKey = async (...question) => {
    asked.push(question);
    return key;
  };
  const keeping = new FixtureKeeping({
    folder: sealed,
    bots: '*',
    days: 7,
    retention,
    sealUnder,
    clock,
    logger: silentLogger,
  });
  const identity = identityOf(
    botSettings.parse({ name: 'clinic', voice: 'Nisha', dialog: { kind: 'module', file: 'x.js' } }),
    greets,
  );
  const recorded = await recordCall({ dialog: greets, caller: [{ quietMs: 200 }] });
  {
    await using place = await keeping.reserve(identity);
    await place.keep(recorded);
  }
  expect(readdirSync(sealed)).toEqual([`${identity.callId}.fixture.sealed`]);
  expect(asked).toEqual([[identity.tenantId, identity.callId, true]]);
  keeping.close();
});
