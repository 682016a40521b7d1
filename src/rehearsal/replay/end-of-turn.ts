import type { CallServices } from '../../call/services.ts';
import type { FixtureDraft } from './fixture-draft.ts';
import type { CallFixture } from './fixture.ts';
import type { StimulusGate } from './stimulus-gate.ts';
import { takeFirst } from './replayed-answer.ts';
import type { VirtualTime } from './virtual-time.ts';

type EndOfTurn = CallServices['endOfTurn'];

/** Largest distance at which two questions count as the same. */
const SAME_QUESTION_MS = 100;

/** The end-of-turn model of a recorded call, with its answers recorded. */
export function recordEndOfTurn(model: EndOfTurn, gate: StimulusGate, draft: FixtureDraft): EndOfTurn {
  return (
    model && {
      ask(pcm, answered) {
        const askedMs = draft.t;
        model.ask(pcm, (likelihood) =>
          gate.let(() => {
            draft.add({ k: 'end-of-turn', t: draft.t, tookMs: draft.t - askedMs, likelihood });
            answered(likelihood);
          }),
        );
      },
    }
  );
}

/** The recorded answers, each to the question at its time; a question that was not asked then gets none. */
export function replayEndOfTurn({ log, baseMs }: CallFixture, time: VirtualTime): EndOfTurn {
  const answers = log.flatMap((entry, rank) => (entry.k === 'end-of-turn' ? [{ ...entry, rank }] : []));
  if (answers.length === 0) return undefined;
  const taken = new Set<number>();
  return {
    ask(_pcm, answered) {
      const atMs = time.nowMs() - baseMs;
      const number = takeFirst(answers, taken, ({ t, tookMs }) => Math.abs(t - tookMs - atMs) <= SAME_QUESTION_MS);
      const answer = number === undefined ? undefined : answers[number];
      if (answer !== undefined) time.at(time.nowMs() + answer.tookMs, answer.rank, () => answered(answer.likelihood));
    },
  };
}
