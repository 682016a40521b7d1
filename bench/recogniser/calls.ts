import { setImmediate } from 'node:timers/promises';
import type { Clock, Timer } from '../../src/kernel/clock.ts';
import type { OpenedRecogniser } from '../../src/platform/engines/models/open-recogniser.ts';
import { RecognitionThread } from '../../src/platform/engines/models/recognition-thread.ts';
import type { RecognitionResult } from '../../src/platform/engines/recognise/port.ts';

/**
 * The time of a core that this process has for itself: it passes by the processor time that the process uses, and jumps to the next
 * event when there is nothing to do. Other work on the machine makes a measurement longer, and its result hardly.
 */
export class CoreClock implements Clock {
  #offsetMs = 0;

  nowMs(): number {
    const { user, system } = process.cpuUsage();
    return this.#offsetMs + (user + system) / 1_000;
  }

  wallMs(): number {
    return this.nowMs();
  }

  after(): Timer {
    throw new Error('nothing waits in this measurement');
  }

  /** Nothing happens until then. */
  jumpTo(atMs: number): void {
    this.#offsetMs += Math.max(0, atMs - this.nowMs());
  }
}

/** A turn of a caller: audio in frames of 20 ms, which begins at a time, and a commit after it. */
export interface Turn {
  readonly call: number;
  readonly fromMs: number;
  /** At 8 kHz. */
  readonly pcm: Int16Array;
  /** Voice begins and ends so long after its start. */
  readonly voiceMs: number;
  readonly voiceEndMs: number;
  /** Keeps the stream open without a commit where false. */
  readonly commits: boolean;
}

export interface AnsweredTurn {
  readonly turn: Turn;
  readonly result: RecognitionResult;
  /** From the commit to the final, and from the start of the voice to the first partial. */
  readonly finalMs: number;
  readonly firstPartialMs: number | undefined;
}

export interface Run {
  readonly answered: readonly AnsweredTurn[];
  /** Processor time that recognition took, and audio that came. */
  readonly busyMs: number;
  readonly audioMs: number;
  /** From the first audio to the last answer. */
  readonly lastedMs: number;
}

const FRAME = 160;

/** Runs turns through one thread of models on a core of its own. Turns of a call do not overlap. */
export async function runTurns(opened: OpenedRecogniser, language: string, turns: readonly Turn[]): Promise<Run> {
  const clock = new CoreClock();
  const thread = new RecognitionThread([{ languages: [language], model: opened }], clock, () => undefined);
  const answered: AnsweredTurn[] = [];
  let waiting = 0;
  const partials = new Map<number, number>();
  const sessions = new Map<number, ReturnType<RecognitionThread['open']>>();
  const sessionOf = (call: number): ReturnType<RecognitionThread['open']> => {
    const known = sessions.get(call);
    if (known !== undefined) return known;
    const session = thread.open(
      { language, rateHz: 8_000, boostPhrases: [] },
      {
        emit: () => void (partials.has(call) || partials.set(call, clock.nowMs())),
        fail: (error) => {
          throw error;
        },
      },
    );
    sessions.set(call, session);
    return session;
  };
  const startMs = clock.nowMs() + 100;
  const agenda = turns.flatMap((turn) => {
    const events: { readonly atMs: number; readonly run: () => void }[] = [];
    const atMs = startMs + turn.fromMs;
    for (let from = 0; from < turn.pcm.length; from += FRAME) {
      const frame = turn.pcm.subarray(from, from + FRAME);
      events.push({
        atMs: atMs + (from + FRAME) / 8,
        run: () => {
          if (from === 0) partials.delete(turn.call);
          sessionOf(turn.call).push(frame);
        },
      });
    }
    const endMs = atMs + turn.pcm.length / 8;
    const commit = (): void => {
      waiting += 1;
      void Promise.resolve(sessionOf(turn.call).commit()).then(([result]) => {
        waiting -= 1;
        if (result === undefined) return;
        const partialMs = partials.get(turn.call);
        const firstPartialMs = partialMs === undefined ? undefined : partialMs - atMs - turn.voiceMs;
        answered.push({ turn, result, finalMs: clock.nowMs() - endMs, firstPartialMs });
      });
    };
    if (turn.commits) events.push({ atMs: endMs, run: commit });
    return events;
  });
  agenda.sort((a, b) => a.atMs - b.atMs);
  let next = 0;
  let busyMs = 0;
  for (;;) {
    const beganMs = clock.nowMs();
    for (let due = agenda[next]; due !== undefined && due.atMs <= clock.nowMs(); due = agenda[next]) {
      due.run();
      next += 1;
    }
    const hasWork = thread.turn();
    await setImmediate();
    await thread.segmentsDecoded();
    busyMs += clock.nowMs() - beganMs;
    if (hasWork) continue;
    const due = agenda[next];
    if (due !== undefined) clock.jumpTo(due.atMs);
    else if (waiting === 0) break;
  }
  for (const session of sessions.values()) session.close?.();
  const audioMs = turns.reduce((sum, { pcm }) => sum + pcm.length / 8, 0);
  return { answered, busyMs, audioMs, lastedMs: clock.nowMs() - startMs };
}
