// Recordings through a stream of a recognition thread, on this thread.
import { setImmediate } from 'node:timers/promises';
import { joinSamples } from '../../src/audio/samples.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import type { OpenedRecogniser } from '../../src/platform/engines/models/open-recogniser.ts';
import { RecognitionThread } from '../../src/platform/engines/models/recognition-thread.ts';
import type { SessionEvent } from '../../src/platform/engines/recognise/worker-protocol.ts';
import { WordErrorCount } from '../../src/sim/caller/word-errors.ts';
import { quantiles, round } from '../document.ts';
import type { Clip } from '../recordings.ts';
import { ENDPOINT_MS, type Missed, tally } from './through-platform.ts';

const FRAME = 160;

/**
 * One utterance after another, each on a stream of its own, as fast as the processor takes it.
 * @param changed what the line makes of the sound
 */
export async function inThread(
  opened: OpenedRecogniser,
  language: string,
  clips: readonly Clip[],
  quiet: (ms: number) => Int16Array,
  changed: (line: Int16Array) => Int16Array = (line) => line,
) {
  const thread = new RecognitionThread([{ languages: [language], model: opened }], systemClock, () => undefined);
  const finalMs: number[] = [];
  const count = new WordErrorCount();
  const missed: Missed[] = [];
  let [audioS, coreMs] = [0, 0];
  for (const { pcm, text } of clips) {
    const answer = { heard: undefined as string | undefined };
    /** Turns that got too long, which come before the commit. */
    const earlier: string[] = [];
    const outputs = {
      emit: (event: SessionEvent) => {
        if (event.type === 'segment') earlier.push(event.result.text);
      },
      fail: (error: unknown) => {
        throw error;
      },
    };
    const session = thread.open({ language, rateHz: 8_000, boostPhrases: [] }, outputs);
    const line = changed(joinSamples([quiet(300), pcm, quiet(ENDPOINT_MS)]));
    const before = process.cpuUsage();
    for (let from = 0; from < line.length; from += FRAME) {
      session.push(line.subarray(from, from + FRAME));
      while (thread.turn());
    }
    await thread.segmentsDecoded();
    const committed = process.cpuUsage();
    void Promise.resolve(session.commit()).then((results) => (answer.heard = results.map((each) => each.text).join(' ')));
    while (answer.heard === undefined) {
      thread.turn();
      await setImmediate();
      await thread.segmentsDecoded();
    }
    finalMs.push(coreMsSince(committed));
    coreMs += coreMsSince(before);
    session.close?.();
    audioS += line.length / 8_000;
    tally(count, missed, text, [...earlier, answer.heard].join(' '));
  }
  return {
    utterances: clips.length,
    words: count.words,
    wordErrorPercent: count.words === 0 ? null : round(count.percent),
    coreMsFromCommitToFinal: quantiles(finalMs),
    coreMsPerSecondOfAudio: round(coreMs / audioS),
    missed,
  };
}

function coreMsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
