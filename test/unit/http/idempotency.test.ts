import { expect, it } from 'vitest';
import { type KeyedRequest, servedOnce } from '../../../src/http/api/idempotency.ts';
import { ManualClock } from '../../../src/sim/manual-clock.ts';
import type { IdempotencyRepository, KeptAnswer } from '../../../src/store/idempotency.ts';

const request: KeyedRequest = { tenantId: 'default', key: 'order-1', method: 'POST', url: '/api/x', body: {} };
const answer: KeptAnswer = { status: 200, location: undefined, answer: { done: true } };

/** A store that claims every key, and cannot keep an answer. */
function forgetful() {
  const released: string[] = [];
  const idempotency: IdempotencyRepository = {
    claim: async () => ({ kind: 'ours' }),
    keep: async () => Promise.reject(new Error('the store is away')),
    release: async (_tenantId, key) => void released.push(key),
    forget: async () => undefined,
  };
  return { deps: { store: { idempotency }, clock: new ManualClock() }, released };
}

it('tells what was done although the answer cannot be kept, and lets nobody do it again meanwhile', async () => {
  const { deps, released } = forgetful();
  await expect(servedOnce(deps, request, async () => answer)).resolves.toEqual({ ...answer, isReplay: false });
  expect(released).toEqual([]);
});

it('lets a request that failed be sent again', async () => {
  const { deps, released } = forgetful();
  await expect(servedOnce(deps, request, async () => Promise.reject(new Error('refused')))).rejects.toThrow('refused');
  expect(released).toEqual(['order-1']);
});
