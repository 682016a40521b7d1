import { systemClock } from '../../../kernel/clock.ts';
import { silentLogger } from '../../../observability/logger.ts';
import { seededRandom } from '../../../audio/tone.ts';
import { EngineProcess } from '../synth/engine-process.ts';
import { trainingUtterance } from './training-audio.ts';
import type { TrainingLine, TrainingVoice } from './training-plan.ts';
import type { TrainingUtterance } from './train.ts';

/** Requests in flight to a synthesizer's process, so that it never idles. */
const AHEAD = 4;

/** The synthesizers to train on, each in a process of its own. */
export type TrainingSynthesizers = ReadonlyMap<'espeak' | 'flite', EngineProcess>;

/** Starts the installed synthesizers of a language; flite speaks English only. */
export async function startTrainingSynthesizers(language: string): Promise<TrainingSynthesizers> {
  const started = await Promise.all(
    (['espeak', 'flite'] as const).map(async (engine) => {
      if (engine === 'flite' && language !== 'en') return [];
      const process = await EngineProcess.start({ engine, clock: systemClock, logger: silentLogger });
      return process === undefined ? [] : [[engine, process] as const];
    }),
  );
  return new Map(started.flat());
}

/**
 * Lets every voice speak its lines; the synthesizers work at the same time.
 * @param linesOf the lines of a voice, by its place in the list
 * @throws SynthesisUnavailableError, SynthesisRefusedError
 */
export async function spokenUtterances(
  synthesizers: TrainingSynthesizers,
  voices: readonly TrainingVoice[],
  linesOf: (voice: TrainingVoice, index: number) => readonly TrainingLine[],
): Promise<TrainingUtterance[]> {
  const byEngine = await Promise.all(
    [...synthesizers].map(async ([engine, process]) => {
      const utterances: TrainingUtterance[] = [];
      const lines = voices.flatMap((voice, index) => {
        if (voice.engine !== engine) return [];
        const random = seededRandom(1_000 + index);
        return linesOf(voice, index).map((line) => ({ ...line, voice, random }));
      });
      const asked = lines.values();
      const render = () => {
        const { value: line, done } = asked.next();
        if (done === true) return [];
        const { voice, speed, pitch } = line.voice;
        const audio = process.render({ text: line.text, voice, speed, pitch });
        audio.catch(() => undefined);
        return [{ ...line, audio }];
      };
      const ahead = Array.from({ length: AHEAD }, render).flat();
      for (let next = ahead.shift(); next !== undefined; next = ahead.shift()) {
        const { pcm, rateHz } = await next.audio;
        ahead.push(...render());
        utterances.push(trainingUtterance(pcm, rateHz, next.words, next.random));
      }
      return utterances;
    }),
  );
  return byEngine.flat();
}
