import type { DialogAction, DialogHookFactory } from '../../dialog/port.ts';
import { askedText, inputText, type DecisionLog } from './decision.ts';
import type { CallFixture } from './fixture.ts';
import { type KeptPart, replayAnswer, median, type NoteStandIn, takeFirst } from './replayed-answer.ts';
import type { VirtualTime } from './virtual-time.ts';

const USUAL_ANSWER_MS = 100;
/** Spoken where the recording has no answer. */
const NO_ANSWER: DialogAction = { type: 'say', text: 'Nothing was answered here when this call was kept.' };

/** Parses a recorded action. @throws for an invalid one */
export type ReadAction = (given: unknown) => DialogAction;

/** The recorded dialog: gives the recorded answers with their delays. */
export function replayDialog(
  fixture: CallFixture,
  time: VirtualTime,
  decisions: DecisionLog,
  standIn: NoteStandIn,
  readAction: ReadAction,
): DialogHookFactory {
  const { answers, baseMs } = fixture;
  const taken = new Set<number>();
  const kept = keptAnswers(fixture, readAction);
  const answerMs = median(
    kept.flatMap(([first]) => (first === undefined ? [] : [first.tookMs])),
    USUAL_ANSWER_MS,
  );
  const overMs = fixture.log.at(-1)?.t ?? 0;
  let last: CallFixture['answers'][number] | undefined;
  return {
    create: () => ({
      // Recorded whispers were accepted.
      takesAdvice: true,
      respond(turn, signal) {
        decisions.note('dialog', askedText(turn));
        const input = inputText(turn.input);
        const early = turn.early === true;
        const number =
          takeFirst(answers, taken, (answer) => answer.turn === turn.index && answer.early === early && answer.input === input) ??
          takeFirst(answers, taken, (answer) => answer.input === input);
        if (number === undefined) {
          const instead = answers.findIndex((answer) => answer.turn === turn.index);
          const said = instead === -1 ? 'a sentence of ours' : `what was answered in turn ${turn.index}`;
          standIn('dialog', `${input} was not asked then in turn ${turn.index}; the answer is ${said}`);
          const parts = instead === -1 ? noAnswer(answerMs) : (kept[instead] ?? []).map((part) => ({ ...part, rank: undefined }));
          return replayAnswer(time, { parts: closed(parts, answerMs), wasAborted: false }, signal);
        }
        last = answers[number];
        const parts = kept[number] ?? [];
        const { abortedAfterMs = null } = answers[number] ?? {};
        const fromMs = 1 + (abortedAfterMs ?? Math.max(0, overMs - (time.nowMs() - baseMs)));
        return replayAnswer(time, { parts: closed(parts, fromMs), wasAborted: abortedAfterMs !== null }, signal);
      },
      // In the recording a fallback answered the same turn.
      failOver: () =>
        answers.some((each, number) => !taken.has(number) && !each.early && isSameTurn(each, last)) ? 'again' : undefined,
    }),
  };
}

function keptAnswers({ log, answers }: CallFixture, readAction: ReadAction): readonly KeptPart<DialogAction>[][] {
  const parts: KeptPart<DialogAction>[][] = answers.map(() => []);
  for (const [rank, entry] of log.entries()) {
    if (entry.k === 'action') parts[entry.answer]?.push({ ...entry, rank, what: { part: readAction(entry.action) } });
    else if (entry.k === 'answered') parts[entry.answer]?.push({ ...entry, rank, what: { failure: entry.failure } });
  }
  return parts;
}

function isSameTurn(answer: CallFixture['answers'][number], last: CallFixture['answers'][number] | undefined): boolean {
  return answer.turn === last?.turn && answer.input === last.input;
}

function noAnswer(tookMs: number): readonly KeptPart<DialogAction>[] {
  return [{ by: 'asked', tookMs, rank: undefined, what: { part: NO_ANSWER } }];
}

/** An answer that broke off in the recording, and is wanted now, ends there. */
function closed(parts: readonly KeptPart<DialogAction>[], tookMs: number): readonly KeptPart<DialogAction>[] {
  if (parts.some(({ by, what }) => by === 'asked' && 'failure' in what)) return parts;
  return [...parts, { by: 'asked', tookMs, rank: undefined, what: { failure: undefined } }];
}
