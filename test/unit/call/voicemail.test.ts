import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it, test } from 'vitest';
import { parseWav } from '../../../src/audio/wav.ts';
import { activeLevelDb } from '../../../src/audio/level.ts';
import type { Bot } from '../../../src/config/bots.ts';
import { flowHooks } from '../../../src/dialog/flow/hook.ts';
import { parseFlow } from '../../../src/dialog/flow/load.ts';
import { storedCall } from '../../../src/records/after-call/stored-call.ts';
import { voicemailsLeft } from '../../../src/records/webhooks/webhook-event.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { callRecord } from '../../../src/records/record.ts';
import { CallBench } from './call-bench.ts';

const flow = parseFlow(
  {
    start: 'closed',
    slots: { message: { kind: 'text' } },
    states: {
      closed: {
        voicemail: { prompt: 'Please leave a message.', slot: 'message', empty: 'nothing', silenceMs: 2000, maxMs: 10_000 },
        next: 'thanks',
      },
      thanks: { say: 'Thank you.', hangup: 'message-left' },
      nothing: { say: 'Goodbye.', hangup: 'no-message' },
    },
  },
  { language: 'en' },
);

function benchOf(bot: Partial<Bot>): CallBench {
  const dialog = { ...flowHooks(flow, new ManualClock(0)), takesMessages: true };
  const unused = () => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => undefined) }) });
  return new CallBench(unused, bot, { dialog });
}

/** A call that has heard the prompt and the tone. */
async function toned(bot: Partial<Bot> = {}): Promise<CallBench> {
  const bench = benchOf(bot);
  await bench.start();
  // What is said before the tone is none of the message.
  await bench.voice(300);
  return bench.quiet(2_700);
}

/** The caller's side of the recording. */
function recordedBy(bench: CallBench): { left: Int16Array; rateHz: number } {
  const { samples, rateHz } = parseWav(readFileSync(bench.record?.recordingPath ?? ''));
  return { left: samples[0] ?? new Int16Array(), rateHz };
}

const part = ({ left, rateHz }: { left: Int16Array; rateHz: number }, fromMs: number, toMs: number): Int16Array =>
  left.subarray(Math.round((fromMs * rateHz) / 1000), Math.round((toMs * rateHz) / 1000));

async function ended(bench: CallBench) {
  const record = await bench.session.ended;
  const stored = callRecord.parse(storedCall(record, 1));
  return { record, stored, voicemail: stored.voicemails?.[0], event: voicemailsLeft(stored)[0] };
}

describe('a message after the tone', () => {
  it('ends with silence: its sound is a part of the recording, its words a turn, and webhooks hear of it', async () => {
    using bench = await toned();
    await bench.voice(3_000);
    bench.partial(0, 'please call me back');
    await bench.quiet(2_100);
    bench.recognised(0, 'please call me back');
    await bench.quiet(4_000);
    const { record, stored, voicemail, event } = await ended(bench);
    expect(record.endReason).toBe('message-left');
    expect(record.variables).toEqual({ message: 'please call me back' });
    expect(voicemail).toMatchObject({ turn: 1, recorded: { fromMs: expect.any(Number), toMs: expect.any(Number) } });
    const { fromMs = 0, toMs = 0 } = voicemail?.recorded ?? {};
    expect(toMs - fromMs).toBeGreaterThanOrEqual(5_000);
    expect(toMs - fromMs).toBeLessThan(7_500);
    expect(activeLevelDb(part(recordedBy(bench), fromMs, toMs), 8_000)).toBeGreaterThan(-30);
    expect(stored.turns[1]?.callerText).toBe('please call me back');
    expect(event).toMatchObject({
      type: 'call.voicemail',
      part: '1',
      data: { turn: 1, audio: '/api/calls/call_bench/voicemails/1/audio' },
      words: { callerText: 'please call me back' },
    });
  });

  it('ends with a key', async () => {
    using bench = await toned();
    await bench.voice(1_000);
    bench.partial(0, 'call me');
    bench.attachment.emit({ type: 'digit', digit: '#' });
    await bench.quiet(3_000);
    const { record, voicemail } = await ended(bench);
    expect([record.endReason, record.variables]).toEqual(['message-left', { message: 'call me' }]);
    expect(voicemail?.durationMs).toBeLessThan(2_500);
  });

  it('ends at its longest time', async () => {
    using bench = await toned();
    await bench.voice(10_200);
    bench.recognised(0, 'a long story');
    await bench.quiet(4_000);
    const { record, voicemail } = await ended(bench);
    expect(record.endReason).toBe('message-left');
    expect(voicemail?.durationMs).toBeLessThan(11_800);
  });

  it('is kept when the caller hangs up at its end, with what was recognised of it', async () => {
    using bench = await toned();
    await bench.voice(1_500);
    bench.partial(0, 'it is about the invoice');
    await bench.quiet(200);
    bench.session.carrierEnded('caller-hangup');
    const { stored, voicemail, event } = await ended(bench);
    expect(voicemail).toMatchObject({ turn: 1 });
    expect(stored.turns.at(-1)).toMatchObject({ index: 1, callerText: 'it is about the invoice' });
    expect(event?.words).toEqual({ callerText: 'it is about the invoice' });
  });

  it('is taken although no word of it was understood', async () => {
    using bench = await toned();
    await bench.voice(2_000);
    await bench.quiet(10_000);
    const { record, voicemail } = await ended(bench);
    expect(record.endReason).toBe('message-left');
    expect(voicemail).toMatchObject({ turn: 1 });
  });

  it('is none when the caller says nothing', async () => {
    using bench = await toned();
    await bench.quiet(9_500);
    const { record, stored } = await ended(bench);
    expect(record.endReason).toBe('no-message');
    expect(stored.voicemails).toBeUndefined();
  });
});

test.each(['never', 'after-consent'] as const)('is all that is kept of a call that records %s', async (recording) => {
  using bench = await toned({ recording });
  await bench.says(0, 'please call me back', 4_000, 2_000, 2_100);
  const { voicemail } = await ended(bench);
  const sound = recordedBy(bench);
  const { fromMs = 0, toMs = 0 } = voicemail?.recorded ?? {};
  expect(activeLevelDb(part(sound, fromMs, toMs), 8_000)).toBeGreaterThan(-30);
  for (const rest of [part(sound, 0, fromMs), part(sound, toMs, 1e9)]) expect(rest.every((sample) => sample === 0)).toBe(true);
});

it('leaves no file of a call that records nothing when it ends before the tone', async () => {
  using bench = benchOf({ recording: 'never' });
  await bench.start(500);
  const { recordingPath } = await bench.hangUp('done');
  expect(recordingPath === undefined || !existsSync(recordingPath)).toBe(true);
});
