import type { Timer } from '../../kernel/clock.ts';
import type { VirtualTime } from './virtual-time.ts';

/** A stand-in for an answer missing from the fixture. */
export interface StandIn {
  /** Since the call's start. */
  readonly atMs: number;
  readonly what: 'voice' | 'dialog' | 'words' | 'carrier';
  readonly said: string;
}

export type NoteStandIn = (what: StandIn['what'], said: string) => void;

/** The median of a list, or `otherwise` for an empty one. */
export function median(values: readonly number[], otherwise: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? otherwise;
}

/** The first matching item not taken before; marks it as taken. */
export function takeFirst<Item>(items: readonly Item[], taken: Set<number>, fits: (item: Item) => boolean): number | undefined {
  const found = items.findIndex((item, index) => !taken.has(index) && fits(item));
  if (found === -1) return undefined;
  taken.add(found);
  return found;
}

/** A recorded part of an answer, or its end. */
export interface KeptPart<Part> {
  readonly by: 'asked' | 'abort';
  readonly tookMs: number;
  /** Its index in the fixture's log; undefined for a stand-in. */
  readonly rank: number | undefined;
  readonly what: { readonly part: Part } | { readonly failure: string | undefined };
}

interface KeptAnswer<Part> {
  readonly parts: readonly KeptPart<Part>[];
  /** Whether it was cancelled in the recording. */
  readonly wasAborted: boolean;
}

/** A recorded failure. `message` is the kind of error. */
class ReplayedFailure extends Error {}

/**
 * Replays an answer's parts at recorded times, counted from now. When it is cancelled, parts caused by the request stop, and parts recorded after the
 * cancelling follow; if it was not cancelled in the recording, it ends.
 */
export function replayAnswer<Part>(time: VirtualTime, kept: KeptAnswer<Part>, signal: AbortSignal): AsyncIterable<Part> {
  const ready: KeptPart<Part>['what'][] = [];
  let wake: () => void = () => undefined;
  const schedule = ({ tookMs, rank, what }: KeptPart<Part>): Timer =>
    time.at(time.nowMs() + tookMs, rank, () => {
      ready.push(what);
      wake();
    });
  const timers = kept.parts.filter(({ by }) => by === 'asked').map(schedule);
  const onAbort = (): void => {
    for (const timer of timers) timer.cancel();
    for (const part of kept.parts.filter(({ by }) => by === 'abort')) schedule(part);
    if (!kept.wasAborted) schedule({ by: 'abort', tookMs: 0, rank: undefined, what: { failure: 'AbortError' } });
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  return {
    [Symbol.asyncIterator]() {
      return {
        async next() {
          if (ready.length === 0) await new Promise<void>((resolve) => (wake = resolve));
          const next = ready.shift();
          if (next === undefined) throw new TypeError('an answer was read twice at once');
          if ('part' in next) return { done: false, value: next.part };
          if (next.failure !== undefined) throw new ReplayedFailure(next.failure);
          return { done: true, value: undefined };
        },
        async return() {
          for (const timer of timers) timer.cancel();
          return { done: true, value: undefined };
        },
      };
    },
  };
}
