import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import type { CallRecord } from '../../../../src/call/log/call-record.ts';
import { keepCall } from '../../../../src/records/after-call/call-keeping.ts';
import { endOrphans } from '../../../../src/records/after-call/orphan-watch.ts';
import { storedCall } from '../../../../src/records/after-call/stored-call.ts';
import { silentLogger } from '../../../../src/observability/logger.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { OutboxWriteError } from '../../../../src/records/errors.ts';

const over: CallRecord = {
  version: 1,
  id: 'call_1',
  tenantId: 'default',
  botName: 'clinic',
  carrier: 'twilio',
  carrierCallId: 'CA1',
  from: '+15550001',
  to: '+15550002',
  direction: 'inbound',
  language: 'en',
  startedAtWallMs: 0,
  endedAtWallMs: 1000,
  durationMs: 1000,
  endReason: 'caller-hangup',
  digits: '',
  turns: [],
  interruptions: [],
  falseAlarms: 0,
  sentences: [],
  attachments: [],
  variables: {},
  notes: [],
  recordingPath: '/data/call_1.wav',
  recordingFailure: undefined,
  transfers: [],
  usage: [],
  recordingGaps: [],
  playout: {} as CallRecord['playout'],
  timeline: [],
};

test.each([
  { note: 'to FLAC as its bot says', botName: 'clinic', recordingPath: '/data/call_1.wav', wanted: 'flac' },
  { note: 'to nothing where it stays a WAV', botName: 'bank', recordingPath: '/data/call_1.wav', wanted: undefined },
  { note: 'to nothing where there is none', botName: 'clinic', recordingPath: undefined, wanted: undefined },
])('a call keeps what its recording is to be turned into: $note', async ({ botName, recordingPath, wanted }) => {
  const kept: unknown[] = [];
  const journal = {
    keep: (_id: string, document: object) => void kept.push(document),
    forget: async () => undefined,
    isTakenElsewhere: async () => false,
  };
  const keeping = {
    outbox: {
      append: async (_kind: string, body: unknown) => {
        kept.push(body);
      },
      appendAtOnce: async () => undefined,
    },
    pump: undefined,
    seals: true,
    formatOf: (name: string) => (name === 'clinic' ? 'flac' : 'wav'),
  };
  const calls = keepCall(journal as never, keeping, join(tmpdir(), 'no-such-folder'), silentLogger, new ManualClock());
  calls.journal({ ...over, botName, recordingPath, endReason: 'in-progress' });
  await calls.ended({ ...over, botName, recordingPath });
  const records = kept.filter((document) => (document as { id?: string }).id === 'call_1');
  expect(records.map((record) => (record as { recordingWanted?: string }).recordingWanted)).toEqual([wanted, wanted]);
});

test.each([
  { note: 'its recording went on after the journal', writtenMs: 12_000, endedMs: 12_000 },
  { note: 'the journal is younger than its recording', writtenMs: 5000, endedMs: 6179 },
  { note: 'there is no recording', writtenMs: undefined, endedMs: 6179 },
  { note: 'not later than now, whatever the clock was then', writtenMs: 90_000, endedMs: 27_000 },
  { note: 'not before it started, whatever the clock is now', writtenMs: 12_000, nowMs: -60_000, endedMs: 0 },
])(
  'a call that a dead process left open ended at its last sign of life: $note',
  async ({ writtenMs, nowMs = 27_000, endedMs }) => {
    const startedAtWallMs = Date.UTC(2026, 0, 1, 14, 15, 16);
    const folder = mkdtempSync(join(tmpdir(), 'offhook-orphan-'));
    const recordingPath = join(folder, 'call_1.wav');
    if (writtenMs !== undefined) {
      writeFileSync(recordingPath, '');
      const writtenAt = new Date(startedAtWallMs + writtenMs);
      utimesSync(recordingPath, writtenAt, writtenAt);
    }
    const live: CallRecord = { ...over, startedAtWallMs, durationMs: 6179, endReason: 'in-progress', recordingPath };
    const journal = {
      orphans: async () => [{ callId: 'call_1', document: storedCall(live, 1) }],
      forget: async () => undefined,
      setAside: async () => undefined,
    };
    const kept: unknown[] = [];
    const outbox = { append: async (_kind: string, body: unknown) => void kept.push(body) };
    const clock = { wallMs: () => startedAtWallMs + nowMs };
    const told: unknown[] = [];
    const events = { callEnded: (event: unknown) => void told.push(event) };
    await endOrphans(journal, { outbox, pump: undefined }, clock, { logger: silentLogger, events });
    rmSync(folder, { recursive: true });
    expect(told).toMatchObject([{ callId: 'call_1', outcome: 'failed', reason: 'process-died', durationMs: endedMs }]);
    expect(kept).toMatchObject([
      { endReason: 'process-died', endedAtMs: startedAtWallMs + endedMs, summary: { durationMs: endedMs }, revision: 2 },
    ]);
  },
);

test('the end of a call that a full disk refused is kept when there is room again', async () => {
  const clock = new ManualClock();
  const kept: unknown[] = [];
  const forgotten: string[] = [];
  let room = false;
  const forget = async (callId: string): Promise<void> => void forgotten.push(callId);
  const journal = { keep: () => undefined, forget, isTakenElsewhere: async () => false };
  const append = async (_kind: string, body: unknown): Promise<void> => {
    if (!room) throw new OutboxWriteError('the outbox cannot be written', {});
    kept.push(body);
  };
  const keeping = { outbox: { append, appendAtOnce: append }, pump: undefined, seals: true };
  const calls = keepCall(journal as never, keeping, join(tmpdir(), 'no-such-folder'), silentLogger, clock);
  for (const id of ['call_1', 'call_2'])
    await expect(calls.ended({ ...over, id, recordingPath: undefined })).rejects.toThrow(OutboxWriteError);
  const tryAgain = async (): Promise<void> => {
    clock.advance(5_000);
    for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
  };
  await tryAgain();
  expect(kept).toEqual([]);
  room = true;
  await tryAgain();
  expect(kept).toMatchObject([{ id: 'call_1' }, { id: 'call_2' }]);
  expect(forgotten).toEqual(['call_1', 'call_2']);
});

test('the end of a call that was refused is tried once more when the gateway stops', async () => {
  const kept: unknown[] = [];
  let room = false;
  const journal = { keep: () => undefined, forget: async () => undefined, isTakenElsewhere: async () => false };
  const append = async (_kind: string, body: unknown): Promise<void> => {
    if (!room) throw new OutboxWriteError('the outbox cannot be written', {});
    kept.push(body);
  };
  const keeping = { outbox: { append, appendAtOnce: append }, pump: undefined, seals: true };
  const calls = keepCall(journal as never, keeping, join(tmpdir(), 'no-such-folder'), silentLogger, new ManualClock());
  await expect(calls.ended({ ...over, recordingPath: undefined })).rejects.toThrow(OutboxWriteError);
  room = true;
  await calls.close();
  expect(kept).toMatchObject([{ id: 'call_1' }]);
});

describe('an opt-out', () => {
  const refused = {
    callId: 'call_1',
    tenantId: 'default',
    number: '+919876543210',
    kind: 'opt-out',
    how: 'spoken',
    atWallMs: 1_800_000_000_123.4,
  } as const;
  const keepingWith = (clock: ManualClock, appendAtOnce: (kind: string, body: unknown) => Promise<void>) => {
    const outbox = { append: async () => undefined, appendAtOnce };
    return keepCall({} as never, { outbox, pump: undefined }, join(tmpdir(), 'no-such-folder'), silentLogger, clock);
  };

  it('is kept the moment it is heard, and not again', async () => {
    const kept: unknown[] = [];
    const calls = keepingWith(new ManualClock(), async (kind, body) => void kept.push([kind, body]));
    calls.refused(refused);
    const body = { tenantId: 'default', number: '+919876543210', kind: 'opt-out', heardIn: 'call_1', atMs: 1_800_000_000_123 };
    expect(kept).toEqual([['opt-out', body]]);
    await calls.close();
    expect(kept).toHaveLength(1);
  });

  it('is kept when there is room again on a disk that was full', async () => {
    const kept: unknown[] = [];
    let room = false;
    const calls = keepingWith(new ManualClock(), async (_kind, body) => {
      if (!room) throw new OutboxWriteError('the outbox cannot be written', {});
      kept.push(body);
    });
    calls.refused(refused);
    await Promise.resolve();
    room = true;
    await calls.close();
    expect(kept).toMatchObject([{ number: '+919876543210' }]);
  });

  it('is put on no list where the caller has no number', () => {
    const kept: unknown[] = [];
    const calls = keepingWith(new ManualClock(), async (_kind, body) => void kept.push(body));
    calls.refused({ ...refused, number: 'anonymous' });
    expect(kept).toEqual([]);
  });
});

test('nothing is kept of the end of a call that another machine goes on with', async () => {
  const forgotten: string[] = [];
  const forget = async (callId: string): Promise<void> => void forgotten.push(callId);
  const journal = { keep: () => undefined, forget, isTakenElsewhere: async () => true };
  const append = (): Promise<void> => Promise.reject(new Error('nobody asked for this'));
  const keeping = { outbox: { append, appendAtOnce: append }, pump: undefined, seals: true };
  const calls = keepCall(journal as never, keeping, join(tmpdir(), 'no-such-folder'), silentLogger, new ManualClock());
  await calls.ended({ ...over, recordingPath: undefined });
  await calls.close();
  expect(forgotten).toEqual(['call_1']);
});
