import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { CallRecord } from '../../../src/call/call-record.ts';
import { keepCall } from '../../../src/jobs/call-keeping.ts';
import { silentLogger } from '../../../src/observability/logger.ts';

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
  const journal = { keep: (_id: string, document: object) => void kept.push(document), forget: async () => undefined };
  const keeping = {
    outbox: {
      append: async (_kind: string, body: unknown) => {
        kept.push(body);
      },
    },
    pump: undefined,
    seals: true,
    formatOf: (name: string) => (name === 'clinic' ? 'flac' : 'wav'),
  };
  const calls = keepCall(journal as never, keeping, join(tmpdir(), 'no-such-folder'), silentLogger);
  calls.journal({ ...over, botName, recordingPath, endReason: 'in-progress' });
  await calls.ended({ ...over, botName, recordingPath });
  const records = kept.filter((document) => (document as { id?: string }).id === 'call_1');
  expect(records.map((record) => (record as { recordingWanted?: string }).recordingWanted)).toEqual([wanted, wanted]);
});
