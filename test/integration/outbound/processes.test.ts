import { describe, expect, it } from 'vitest';
import { CALLER_ID } from '../../support/campaign-caller.ts';
import { CampaignWorld, zoneAt } from '../../support/campaign-world.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { startPostgres } from '../../support/postgres-server.ts';
import { eventually } from '../../support/eventually.ts';
import { startRedis } from '../../support/redis-server.ts';
import { requireTool } from '../../support/requires.ts';

const programs = { postgres: requireTool('postgres'), redis: requireTool('redis-server') };
const FIRST = 442_070_000_000;

describe('two processes on one Postgres and one Redis', () => {
  it.runIf(programs.postgres !== undefined && programs.redis !== undefined)(
    'run one campaign together: every contact is called once, and nobody outside of their hours',
    async () => {
      await using postgres = await startPostgres(programs.postgres ?? '');
      await using redis = await startRedis(programs.redis ?? '');
      await using folder = await temporaryFolder();
      const options = { databaseUrl: postgres.url, redisUrl: redis.url, dataDir: folder.path, callsPerSecond: 100, room: 50 };
      await using world = await CampaignWorld.open(options, 2);
      const settings = {
        name: 'together',
        bot: 'reminder',
        from: CALLER_ID,
        profile: 'none',
        zoneSource: 'given',
        callsPerSecond: 100,
        concurrency: 100,
        attempts: { most: 1 },
      };
      const groups = [
        { firstNumber: FIRST, count: 120, zone: zoneAt(13) },
        { firstNumber: FIRST + 1000, count: 20, zone: zoneAt(2) },
      ];
      expect(await world.ask({ do: 'add', campaignId: 'c', settings, groups })).toBe(140);
      const counts = await eventually('the open contacts to be done', async () => {
        const now = await world.counts('c');
        return now.states.done === 120 && now;
      });
      expect(counts).toMatchObject({ state: 'running', states: { pending: 20, leased: 0 }, dispositions: { busy: 120 } });
      expect(world.orders).toHaveLength(120);
      expect(world.doubleDials()).toBe(0);
      expect(world.orders.every(({ to }) => Number(to) < FIRST + 120)).toBe(true);
    },
  );
});
