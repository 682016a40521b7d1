import { fastify, type RouteOptions } from 'fastify';
import { describe, expect, it } from 'vitest';
import type { ApiDeps } from '../../../src/http/api/api-app.ts';
import { API_SCOPES } from '../../../src/http/api/system/api-keys.ts';
import { type KeyedRequest, servedOnce } from '../../../src/http/api/idempotency.ts';
import { liveCallRoutes } from '../../../src/http/api/calls/live-call-routes.ts';
import { liveView } from '../../../src/http/api/calls/call-views.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import type { IdempotencyRepository, KeptAnswer, KeyClaim } from '../../../src/records/idempotency.ts';

const request: KeyedRequest = {
  by: { id: 'key_1', tenantId: 'default', scopes: ['calls:control', 'numbers:read'] },
  key: 'order-1',
  method: 'POST',
  url: '/api/x',
  body: {},
  callId: 'call_1',
  servesAgain: false,
  keptOf: (answer) => answer,
};
const answer: KeptAnswer = { status: 200, location: undefined, answer: { done: true } };

/** A store in memory. `keeps`: whether it can keep an answer. */
function storeOf({ keeps = true } = {}) {
  const rows = new Map<string, { fingerprint: string; callId: string | undefined; kept?: KeptAnswer }>();
  const released: string[] = [];
  const idempotency: IdempotencyRepository = {
    async claim(tenantId, key, { fingerprint, callId }): Promise<KeyClaim> {
      const row = rows.get(`${tenantId} ${key}`);
      if (row === undefined) rows.set(`${tenantId} ${key}`, { fingerprint, callId });
      if (row === undefined) return { kind: 'ours' };
      if (row.fingerprint !== fingerprint) return { kind: 'taken' };
      return row.kept === undefined ? { kind: 'busy' } : { kind: 'answered', kept: row.kept };
    },
    async keep(tenantId, key, kept) {
      if (!keeps) throw new Error('the store is away');
      const row = rows.get(`${tenantId} ${key}`);
      if (row !== undefined) row.kept = kept;
    },
    release: async (_tenantId, key) => void released.push(key),
    forget: async () => undefined,
  };
  return { deps: { store: { idempotency }, clock: new ManualClock() }, rows, released };
}

it('answers although the answer cannot be stored, and refuses a repeat meanwhile', async () => {
  const { deps, released } = storeOf({ keeps: false });
  await expect(servedOnce(deps, request, async () => answer)).resolves.toEqual({ ...answer, isReplay: false });
  expect(released).toEqual([]);
});

it('lets a request that failed be sent again', async () => {
  const { deps, rows, released } = storeOf();
  await expect(servedOnce(deps, request, async () => Promise.reject(new Error('refused')))).rejects.toThrow('refused');
  expect(released.map((key) => `default ${key}`)).toEqual([...rows.keys()]);
});

describe('an answer that is stored for a repeat', () => {
  it('is not given to another client of the tenant with the same key', async () => {
    const { deps } = storeOf();
    await servedOnce(deps, request, async () => answer);
    const other = { ...request, by: { ...request.by, id: 'key_2' } };
    const own = { ...answer, answer: 'of the other' };
    expect(await servedOnce(deps, other, async () => own)).toEqual({ ...own, isReplay: false });
    expect(await servedOnce(deps, request, async () => own)).toEqual({ ...answer, isReplay: true });
  });

  it('is not given to a token of the same holder with other scopes, and nothing is done twice', async () => {
    const { deps } = storeOf();
    await servedOnce(deps, request, async () => answer);
    const fewer: KeyedRequest = { ...request, by: { ...request.by, scopes: ['calls:control'] } };
    await expect(servedOnce(deps, fewer, async () => answer)).rejects.toThrow('other scopes');
    const sameInAnotherOrder: KeyedRequest = { ...request, by: { ...request.by, scopes: ['numbers:read', 'calls:control'] } };
    expect(await servedOnce(deps, sameInAnotherOrder, async () => answer)).toMatchObject({ isReplay: true });
  });

  it('names its call and has no number, no word and no text of the client in it', async () => {
    const { deps, rows } = storeOf();
    const call = {
      id: 'call_1',
      tenantId: 'default',
      bot: 'clinic',
      carrier: 'twilio',
      from: '+15550100',
      to: '+15550200',
      direction: 'inbound',
      startedAtWallMs: 0,
      phase: 'listening',
      muted: false,
      turns: 1,
      callerText: 'my secret words',
      botText: 'my answer',
      health: { holesMs: 0, lateMs: 0 },
    } as const;
    const app = fastify();
    const routes: RouteOptions[] = [];
    app.addHook('onRoute', (route) => void (route.method === 'POST' && routes.push(route)));
    liveCallRoutes(app, { live: {} } as ApiDeps);
    for (const { url: path, config } of routes) {
      const kept = config?.stored ?? (() => undefined);
      const given = liveView(call, { scopes: [...API_SCOPES] });
      const said = { ...request, key: `for Mrs Rao ${path}`.replaceAll(' ', '_'), url: path, keptOf: kept };
      expect(await servedOnce(deps, said, async () => ({ ...answer, answer: given }))).toMatchObject({ answer: given });
      const again = await servedOnce(deps, said, async () => answer);
      expect(again).toMatchObject({ isReplay: true, answer: { id: 'call_1', from: '', to: '', words: null } });
    }
    expect(rows.size).toBe(5);
    expect([...rows.values()].every(({ callId }) => callId === 'call_1')).toBe(true);
    expect(JSON.stringify([...rows])).not.toMatch(/5550|secret words|my answer|Rao/u);
  });
});
