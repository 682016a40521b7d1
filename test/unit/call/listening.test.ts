import { PLATFORM_RECOGNITION } from '../../../src/speech/platform-capabilities.ts';
import { expect, it } from 'vitest';
import type { DialogAction, DialogTurn } from '../../../src/dialog/port.ts';
import { RecogniserHandover } from '../../../src/call/inbound/recogniser-handover.ts';
import { CallBench } from './call-bench.ts';

/** Asks for a day after the greeting, and for nothing in particular after that. */
async function* asksForADay(turn: DialogTurn): AsyncIterable<DialogAction> {
  yield { type: 'say', text: turn.input.kind === 'start' ? 'Which day would you like?' : 'Good.' };
  if (turn.input.kind === 'start') yield { type: 'gather', hints: ['tuesday', 'friday'] };
}

it('gives the hints of a question to the recogniser before the caller answers it', async () => {
  using bench = new CallBench(asksForADay);
  await bench.start();
  expect(bench.recognitions.map(({ boostPhrases }) => boostPhrases)).toEqual([undefined, ['tuesday', 'friday']]);
  bench.biasedReady();
  expect(bench.spareSlots).toBe(1);
  await bench.quiet(2_500);
  await bench.says(0, 'tuesday', 100);
  expect(bench.asked.map(({ input }) => input)).toContainEqual({ kind: 'spoken', text: 'tuesday', language: 'en' });
});

it('takes the hints back when the next question has none', async () => {
  using bench = new CallBench(asksForADay);
  await bench.start();
  bench.biasedReady();
  await bench.quiet(2_500);
  await bench.says(0, 'tuesday', 100);
  expect(bench.recognitions.at(-1)?.boostPhrases).toEqual([]);
  // Its segments begin at 0 again, and are the caller's next words all the same.
  bench.biasedReady();
  await bench.quiet(1_500);
  await bench.says(0, 'thank you', 100);
  expect(bench.asked.at(-1)?.input).toEqual({ kind: 'spoken', text: 'thank you', language: 'en' });
});

it('goes on with the session it has while no slot is to spare, or the caller is speaking', async () => {
  using busy = new CallBench(asksForADay);
  busy.spareSlots = 0;
  await busy.start();
  expect(busy.recognitions).toHaveLength(1);
  using bench = new CallBench(asksForADay);
  await bench.start(2_000);
  await bench.voice(200);
  const hearing = bench.aborted.length;
  bench.biasedIsReadyTooLate();
  expect(bench.spareSlots).toBe(1);
  expect(bench.aborted.slice(hearing)).toEqual([1]);
  await bench.says(0, 'friday', 100, 200);
  expect(bench.asked.at(-1)?.input).toEqual({ kind: 'spoken', text: 'friday', language: 'en' });
});

it('gives the recogniser 100 ms at a time, and what there is of them before a commit', () => {
  const given: (number | 'commit')[] = [];
  const session = {
    send: (pcm: Int16Array) => void given.push(pcm.length / 8),
    commit: () => void given.push('commit'),
    end: async () => undefined,
    abort: () => undefined,
  };
  const post = new RecogniserHandover(
    { recogniser: { capabilities: PLATFORM_RECOGNITION, open: () => session }, spareRecognition: () => undefined },
    () => undefined,
  );
  post.open('en');
  for (let frame = 0; frame < 12; frame += 1) post.send(new Int16Array(160));
  expect(given).toEqual([100, 100]);
  post.commit();
  post.commit();
  post.send(new Int16Array(8 * 250));
  expect(given).toEqual([100, 100, 40, 'commit', 'commit', 100, 100]);
});
