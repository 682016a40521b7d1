import { expect, it } from 'vitest';
import { Timeline, turnLatency, type TimelineEvent } from '../../../../src/call/log/timeline.ts';

const events: readonly TimelineEvent[] = [
  { type: 'caller-committed', atMs: 1_640, turn: 1, lastVoicedMs: 1_000, reason: 'silence' },
  { type: 'dialog-asked', atMs: 1_700, turn: 1, kind: 'spoken' },
  { type: 'dialog-answered', atMs: 1_720, turn: 1 },
  { type: 'tts-asked', atMs: 1_721, turn: 1, unitId: '2-0' },
  { type: 'tts-first-byte', atMs: 1_760, turn: 1, unitId: '2-0' },
  { type: 'first-frame', atMs: 1_761, turn: 1 },
];

it('derives every stage of a turn, which add up to the whole', () => {
  const latency = turnLatency(events, 1);
  expect(latency).toEqual({ endpointing: 640, asrFinal: 60, dialog: 20, ttsFirstByte: 39, firstFrame: 1, total: 761 });
});

it('measures a turn that was asked again from its last asking', () => {
  const again: TimelineEvent[] = [...events.slice(0, 3), { type: 'dialog-asked', atMs: 1_900, turn: 1, kind: 'spoken' }];
  expect(turnLatency(again, 1)).toMatchObject({ asrFinal: 260, dialog: undefined, total: undefined });
});

it('leaves out what did not happen', () => {
  expect(turnLatency([], 1)).toEqual({
    endpointing: undefined,
    asrFinal: undefined,
    dialog: undefined,
    ttsFirstByte: undefined,
    firstFrame: undefined,
    total: undefined,
  });
});

it('is bounded and counts what it dropped', () => {
  const timeline = new Timeline();
  for (let index = 0; index < 20_005; index += 1) timeline.add({ type: 'problem', atMs: index, detail: '' });
  expect(timeline.events).toHaveLength(20_000);
  expect(timeline.dropped).toBe(5);
});
