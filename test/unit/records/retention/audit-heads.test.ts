import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  AuditHeads,
  type AuditHead,
  headFile,
  headObjects,
  headWebhooks,
  readHeads,
} from '../../../../src/records/retention/audit-heads.ts';
import { AuditLog } from '../../../../src/records/retention/audit-log.ts';
import type { WebhookEvent } from '../../../../src/records/webhooks/webhook-event.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { temporaryFolder } from '../../../support/databases.ts';
import { eventually } from '../../../support/eventually.ts';

const EVERY_MS = 600_000;
const HASH = 'a'.repeat(64);
let path = '';
let audit: AuditLog;

beforeEach(async () => {
  const folder = await temporaryFolder();
  path = join(folder.path, 'audit.jsonl');
  audit = new AuditLog(path, () => Date.UTC(2026, 0, 1));
  return () => folder[Symbol.asyncDispose]();
});

function bench() {
  const clock = new ManualClock();
  const store = { decisions: [] as { tenantId: string; sequence: number; hash: string }[], warnings: 0, mayKeep: false };
  const place = { kept: [] as AuditHead[], fails: false };
  const heads = new AuditHeads({
    audit,
    attempts: { decisionHeads: async () => store.decisions },
    places: [
      {
        name: 'test',
        async keep(head) {
          if (place.fails) throw new Error('away');
          place.kept.push(head);
        },
      },
    ],
    mayKeep: async () => store.mayKeep,
    everyMs: EVERY_MS,
    clock,
    logger: { warn: () => void (store.warnings += 1) },
  });
  return { heads, clock, store, place };
}

describe('heads of the audit logs', () => {
  it('are kept once each, as the logs grow, and heads of decisions are in the log of actions too', async () => {
    const { heads, store, place } = bench();
    await heads.keep();
    expect(place.kept).toEqual([]);
    store.decisions = [{ tenantId: 'default', sequence: 3, hash: HASH }];
    await heads.keep();
    await heads.keep();
    const head = await audit.head();
    expect(place.kept).toMatchObject([
      { log: 'decisions', of: 'default', sequence: 3, hash: HASH },
      { log: 'actions', of: head?.log, sequence: 1, hash: head?.hash },
    ]);
    const { lines } = await audit.page(() => true, { limit: 9 });
    expect(lines).toMatchObject([{ by: 'offhook', action: 'audit.head', tenantId: 'default', subject: `3:${HASH}` }]);
    await audit.add({ by: 'k', tenantId: 'default', action: 'look', subject: 'x', outcome: 'done' });
    await heads.keep();
    expect(place.kept.slice(2)).toMatchObject([{ log: 'actions', sequence: 2 }]);
    await heads.stop();
  });

  it('are tried again where a place refuses them, and looked at every so many minutes', async () => {
    const { heads, clock, store, place } = bench();
    place.fails = true;
    store.decisions = [{ tenantId: 'acme', sequence: 1, hash: HASH }];
    await heads.keep();
    await eventually('the first look', () => clock.pendingTimers > 0);
    const { warnings } = store;
    expect([warnings > 0, place.kept]).toEqual([true, []]);
    place.fails = false;
    store.mayKeep = true;
    clock.advance(EVERY_MS);
    await eventually('the second look', () => place.kept.length === 2);
    expect(place.kept.map(({ log }) => log)).toEqual(['decisions', 'actions']);
    await heads.stop();
  });

  it('are lines of a file, objects under keys of their own, and events of webhooks; each can be read again', async () => {
    const head = { log: 'decisions', of: 'acme', sequence: 7, hash: HASH, at: '2026-01-01T00:00:00.000Z' } as const;
    const signal = new AbortController().signal;
    const folder = join(path, '..', 'heads');
    await mkdir(folder);
    const file = headFile(join(folder, 'heads.jsonl'));
    await file.keep(head, signal);
    await file.keep({ ...head, sequence: 8 }, signal);
    expect(readHeads(await readFile(join(folder, 'heads.jsonl'), 'utf8'))).toEqual([head, { ...head, sequence: 8 }]);
    await expect(headFile(join(folder, 'missing', 'heads.jsonl')).keep(head, signal)).rejects.toThrow();

    const objects: { key: string; content: string }[] = [];
    const put = async (key: string, parts: AsyncIterable<Uint8Array>): Promise<void> => {
      for await (const part of parts) objects.push({ key, content: Buffer.from(part).toString() });
    };
    await headObjects({ put }).keep(head, signal);
    expect(objects[0]?.key).toBe('decisions/acme/000000000000007-aaaaaaaaaaaaaaaa.json');
    expect(readHeads(objects[0]?.content ?? '')).toEqual([head]);

    const events: WebhookEvent[] = [];
    await headWebhooks({ announce: async (event) => void events.push(event) }).keep(head, signal);
    expect(events).toMatchObject([{ type: 'audit.head', tenantId: 'acme', of: 'log', data: head }]);
    expect(readHeads(JSON.stringify({ type: 'audit.head', data: { logId: 'decisions:acme', ...head } }))).toEqual([head]);
    expect(readHeads('{"log":"decisions"}')).toBeUndefined();
  });
});
