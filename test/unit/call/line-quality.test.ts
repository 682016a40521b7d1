import { expect, it } from 'vitest';
import { joinSamples } from '../../../src/audio/samples.ts';
import { noise, seededRandom } from '../../../src/audio/tone.ts';
import { VoiceActivity } from '../../../src/audio/voice-activity/voice-activity.ts';
import { storedCall } from '../../../src/records/after-call/stored-call.ts';
import { CallBench, type DialogScript } from './call-bench.ts';

const greets: DialogScript = async function* (turn) {
  if (turn.input.kind === 'start') yield { type: 'say', text: 'Hello.' };
};

it('hears silence in the comfort noise of a caller who is muted, loud or soft', async () => {
  using call = new CallBench(greets, { noInputMs: 4_000, recording: 'never' }, {}, () => ({
    createDetector: () => new VoiceActivity(),
  }));
  await call.start();
  const random = seededRandom(4);
  const comfort = (amplitude: number, ms: number): Int16Array => noise(ms, 8_000, amplitude, random);
  // The telephone goes from the room to noise of its own, and from one level of it to the next.
  await call.sound(joinSamples([comfort(0.002, 2_000), new Int16Array(4_000), comfort(0.006, 2_000), comfort(0.001, 2_000)]));
  await call.sound(comfort(0.004, 9_000));
  expect(call.floor()).toEqual([]);
  expect(new Set(call.asked.map(({ input }) => input.kind))).toEqual(new Set(['start', 'no-input']));
});

it('names a line with gaps in the record of the call, and in what is stored of it', async () => {
  using call = new CallBench(greets, { recording: 'never' });
  await call.start(1_000);
  let timestampMs = 60_000;
  // Every second frame of a word is lost.
  for (let frame = 0; frame < 20; frame += 1, timestampMs += 40) {
    call.attachment.emit({ type: 'audio', pcm: new Int16Array(160).fill(9_000), timestampMs });
    await call.wait(40);
  }
  const record = await call.hangUp('done');
  expect(record.line?.problems).toEqual(['gaps']);
  expect(record.line?.gapsMs).toBeGreaterThanOrEqual(380);
  expect(storedCall(record, 1).summary).toMatchObject({ lineGapsMs: record.line?.gapsMs, lineClippedShare: 0, lineGaps: 1 });
});
