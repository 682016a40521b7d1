import type { NewCallRecord } from '../../src/records/port.ts';

/** A whole record of a short call, to be changed where a test cares. */
export function callRecordOf(changes: Partial<NewCallRecord> = {}): NewCallRecord {
  const startedAtMs = Date.UTC(2026, 0, 1, 9);
  return {
    id: 'call_1',
    tenantId: 'default',
    botName: 'clinic',
    carrier: 'twilio',
    carrierCallId: 'CA1',
    from: '+15550001',
    to: '+15550002',
    direction: 'inbound',
    language: 'en',
    startedAtMs,
    answeredAtMs: startedAtMs + 200,
    endedAtMs: startedAtMs + 9_000,
    endReason: 'caller-hung-up',
    digits: '1',
    recordingPath: '/recordings/call_1.wav',
    recordingSidecarPath: '/recordings/call_1.json',
    recordingStartedAtMs: startedAtMs + 300,
    summary: { interruptions: 1, durationMs: 9_000 },
    legs: [{ id: 'leg_1', index: 0, startedAtMs, endedAtMs: startedAtMs + 9_000 }],
    attachments: [
      { id: 'att_1', legId: 'leg_1', index: 0, streamId: 'MZ1', startedAtMs: startedAtMs + 250, endedAtMs: startedAtMs + 9_000 },
    ],
    turns: [
      {
        index: 0,
        inputKind: 'start',
        callerText: '',
        botText: 'Hello, how can I help?',
        botHeardText: 'Hello, how',
        interrupted: true,
        latencies: { dialog: 1.5, ttsFirstByte: 40, firstFrame: 60, total: 101.5 },
        startedAtMs: startedAtMs + 300,
        botStartedAtMs: startedAtMs + 800,
        botEndedAtMs: startedAtMs + 1_800,
      },
      {
        index: 1,
        inputKind: 'spoken',
        callerText: 'मंगलवार',
        botText: 'Tuesday, thank you. Goodbye.',
        botHeardText: 'Tuesday, thank you. Goodbye.',
        interrupted: false,
        latencies: { endpointing: 640, asrFinal: 300 },
        startedAtMs: startedAtMs + 4_300,
      },
    ],
    timeline: [
      { atMs: 0, type: 'answered' },
      { atMs: 512.25, type: 'mark-played', name: 'm1', words: ['a', null] },
    ],
    ...changes,
  };
}
