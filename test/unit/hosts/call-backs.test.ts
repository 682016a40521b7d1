import { expect, it } from 'vitest';
import type { DialRequest } from '../../../src/outbound/dialling.ts';
import { callBackHandler, type CallBackParts } from '../../../src/hosts/call-backs.ts';
import type { JobRun } from '../../../src/records/queue/port.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { readCallerIds } from '../../../src/config/caller-ids.ts';
import { loadConfig } from '../../../src/config/load.ts';
import type { Attempt } from '../../../src/records/dialling.ts';
import type { StoredCall } from '../../../src/records/port.ts';

const PROMISED_MS = Date.UTC(2026, 2, 5, 11);
const record = {
  id: 'call_1',
  tenantId: 'default',
  botName: 'desk',
  from: '+442079460010',
  to: '+442079460001',
  variables: { account: '7' },
  callBackAtMs: PROMISED_MS,
} as unknown as StoredCall;

type Answer = 'yes' | 'later' | 'never';

function callBacks(options: { readonly callerIds?: string; readonly isErased?: boolean } = {}) {
  const { callerIds = '+442079460001' } = options;
  const asked: DialRequest[] = [];
  const placed: string[] = [];
  const cancelled: string[] = [];
  const attempts = new Map<string, Attempt>();
  const world = { answer: 'yes' as Answer, down: [] as string[], hasRoom: true };
  const { settings } = loadConfig({ env: { OFFHOOK_DIALLING__CALLER_IDS: callerIds }, files: [] });
  const dialler: CallBackParts['dialler'] = {
    async ask([request]) {
      if (request === undefined) return [];
      asked.push(request);
      const attempt = { id: request.callId } as Attempt;
      if (world.answer === 'yes') return [{ allowed: true, attempt }];
      const refusal = { refusal: 'outside-window', ...(world.answer === 'later' ? { retryAtMs: 1 } : {}) };
      return [{ allowed: false, attempt, refusal: refusal as never }];
    },
    async place(_tenantId, id) {
      if (!world.hasRoom) return 'no-room';
      placed.push(id);
      attempts.set(id, { id, placedAtMs: 1 } as Attempt);
      return 'placed';
    },
    async cancel(_tenantId, id) {
      cancelled.push(id);
      return true;
    },
  };
  const handler = callBackHandler({
    settings,
    means: () => readCallerIds(settings.dialling.callerIds),
    store: {
      calls: { get: async () => (options.isErased === true ? undefined : record) },
      attempts: { get: async (_tenantId, id) => attempts.get(id) },
    },
    dialler,
    botsDown: async () => world.down,
    logger: silentLogger,
  });
  const run = (attempt: number): Promise<void> =>
    handler({ payload: { tenantId: 'default', callId: 'call_1' }, attempt } as unknown as JobRun);
  return { world, run, asked, placed, cancelled };
}

it('waits while the bot’s server is down, then calls the person once, from the number that they had called', async () => {
  const { world, run, asked, placed } = callBacks();
  world.down = ['desk'];
  await expect(run(1)).rejects.toMatchObject({ code: 'OFFHOOK_CALL_BACK_LATER', retryable: true });
  expect(asked).toEqual([]);
  world.down = ['sales'];
  await run(2);
  await run(2);
  await run(3);
  expect(placed).toHaveLength(1);
  expect(asked).toEqual([
    expect.objectContaining({
      to: '+442079460010',
      from: '+442079460001',
      botName: 'desk',
      purpose: 'transactional',
      callBackAtMs: PROMISED_MS,
      variables: { account: '7' },
      metadata: { callBackOf: 'call_1' },
    }),
  ]);
});

it('asks the dial gate again, under another attempt, when it says no for now, and not when it says no for good', async () => {
  const { world, run, asked, placed } = callBacks();
  world.answer = 'later';
  await expect(run(1)).rejects.toMatchObject({ retryable: true });
  world.answer = 'never';
  await run(2);
  expect(placed).toEqual([]);
  expect(new Set(asked.map(({ callId }) => callId)).size).toBe(2);
});

it('gives an attempt back for which there is no room, and tries again', async () => {
  const { world, run, placed, cancelled } = callBacks();
  world.hasRoom = false;
  await expect(run(1)).rejects.toMatchObject({ retryable: true });
  expect(cancelled).toHaveLength(1);
  world.hasRoom = true;
  await run(2);
  expect(placed).toHaveLength(1);
});

it('calls from the first number of the settings where calls may not come from the dialled one', async () => {
  const { run, asked } = callBacks({ callerIds: '+9114*, +14155550100' });
  await run(1);
  expect(asked[0]?.from).toBe('+14155550100');
});

it('gives up a call-back whose call was erased', async () => {
  await expect(callBacks({ isErased: true }).run(1)).rejects.toMatchObject({ code: 'OFFHOOK_JOB_SUBJECT', retryable: false });
});
