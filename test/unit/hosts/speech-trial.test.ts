import { expect, it } from 'vitest';
import { parseWav } from '../../../src/audio/wav.ts';
import { trySpeech } from '../../../src/hosts/speech-trial.ts';
import type { CallSpeech, RecognitionEvent, RecognitionSession } from '../../../src/speech/port.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const BOT = { language: 'en', voice: 'anna', speech: { languages: {}, voices: {} } };
const ASKED = { text: 'Good day to you.', bot: BOT };
const signal = new AbortController().signal;

/** Speech of a call: two chunks of 100 ms, and what the recogniser tells at its end. */
function speechOf(clock: ManualClock, atEnd: readonly RecognitionEvent[]) {
  const sent: { readonly atMs: number; readonly samples: number }[] = [];
  let released = 0;
  const speech = {
    recogniser: {
      open: (_options: unknown, listener: (event: RecognitionEvent) => void): Partial<RecognitionSession> => ({
        send: (pcm) => void sent.push({ atMs: clock.nowMs(), samples: pcm.length }),
        async end() {
          for (const event of atEnd) listener(event);
        },
        abort: () => undefined,
      }),
    },
    synthesizer: {
      async *speak({ text, voice }: { text: string; voice: string }) {
        expect([text, voice]).toEqual([ASKED.text, 'anna']);
        yield new Uint8Array(1_600).fill(1);
        yield new Uint8Array(1_600).fill(2);
      },
    },
    listen(listener: (news: { service: string; by: string }) => void) {
      listener({ service: 'recognition', by: 'ears' });
      listener({ service: 'synthesis', by: 'mouth' });
    },
    release: () => (released += 1),
  } as unknown as CallSpeech;
  return { router: { reserve: () => speech }, sent, released: () => released };
}

/** Two chunks' time, each after what waits for it has begun to. */
async function pass(clock: ManualClock): Promise<void> {
  for (let chunk = 0; chunk < 2; chunk += 1) {
    await new Promise(setImmediate);
    clock.advance(100);
  }
}

const final = (seg: number, text: string): RecognitionEvent => ({
  type: 'final',
  seg,
  text,
  endOfUtterance: true,
  language: undefined,
});

it('plays a sentence to the recogniser at the pace of a call, and tells what it heard', async () => {
  const clock = new ManualClock();
  const { router, sent, released } = speechOf(clock, [
    final(0, 'good day'),
    final(1, ''),
    final(2, 'two you'),
    { type: 'final-refined', seg: 2, text: 'to you' },
  ]);
  const trial = trySpeech(router, ASKED, clock, signal);
  await pass(clock);
  expect(await trial).toMatchObject({
    heard: 'good day to you',
    synthesizer: 'mouth',
    recogniser: 'ears',
    firstAudioMs: 0,
    finalMs: 0,
  });
  expect(sent).toEqual([
    { atMs: 0, samples: 800 },
    { atMs: 100, samples: 800 },
  ]);
  expect(parseWav((await trial)?.wav ?? new Uint8Array()).samples[0]).toHaveLength(1_600);
  expect(released()).toBe(1);
});

it('fails with the recogniser, releases the slot, and takes none that calls need', async () => {
  const clock = new ManualClock();
  const { router, released } = speechOf(clock, [{ type: 'closed', error: new Error('the recogniser is gone') }]);
  const failing = expect(trySpeech(router, ASKED, clock, signal)).rejects.toThrow('the recogniser is gone');
  await pass(clock);
  await failing;
  expect(released()).toBe(1);
  expect(await trySpeech({ reserve: () => undefined }, ASKED, clock, signal)).toBeUndefined();
});
