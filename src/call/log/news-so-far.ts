import type { Clock } from '../../kernel/clock.ts';
import type { CallMemory } from './call-memory.ts';
import type { TimedNews } from './call-news.ts';
import type { TurnRecord } from './call-record.ts';
import type { Conversation } from './conversation.ts';
import type { Timeline, TimelineEvent } from './timeline.ts';

/** Most turns replayed to a new follower; of a longer call the latest. */
const MOST_TURNS = 200;
const MOST_EVENTS = 400;

/** The parts of a live call that its news are made from. */
interface KnownCall {
  readonly conversation: Pick<Conversation, 'step'>;
  readonly memory: Pick<CallMemory, 'record'>;
  readonly timeline: Pick<Timeline, 'events'>;
}

/**
 * A call's news so far, for a new follower: turns, floor changes and orders, oldest first, then the dialog's state. Derived from the record, so that
 * a call without followers stores nothing extra.
 * @param turns oldest first
 * @param begunText of the running turn: its later sentences are news when they begin; all of its text where absent
 */
export function newsSoFar(
  callId: string,
  { conversation: { step }, memory, timeline: { events: timeline } }: KnownCall,
  turns: readonly TurnRecord[],
  clock: Pick<Clock, 'nowMs' | 'wallMs'>,
  begunText?: (turn: number) => string,
): readonly TimedNews[] {
  const offsetMs = clock.wallMs() - clock.nowMs();
  const wallMsOf = (atMs: number): number => atMs + offsetMs;
  const { variables: slots } = memory.record;
  const events = timeline.slice(-MOST_EVENTS).flatMap((event) => newsOf(callId, event, wallMsOf(event.atMs)));
  const ends = new Map<number, number>();
  const starts = new Map<number, number>();
  for (const event of timeline) {
    if (event.type === 'bot-finished' || event.type === 'clear') ends.set(event.turn, wallMsOf(event.atMs));
    if (event.type === 'first-frame') starts.set(event.turn, wallMsOf(event.atMs));
  }
  const told = turns.slice(-MOST_TURNS).flatMap((turn): TimedNews[] => {
    const { index, startedAtWallMs, latency, botText, botHeardText, callerText, input } = turn;
    const { total: totalMs, ...stages } = latency;
    const spokeMs = starts.get(index) ?? startedAtWallMs;
    const isOver = index < turns.length - 1 || ends.has(index);
    const saidText = isOver ? botText : (begunText?.(index) ?? botText);
    const spoken: TimedNews[] = [
      { atWallMs: spokeMs, news: { type: 'reply', callId, turn: index, totalMs, stages } },
      { atWallMs: spokeMs, news: { type: 'saying', callId, turn: index, text: saidText } },
    ];
    const heard = { type: 'heard', callId, turn: index, text: botText, heard: botHeardText } as const;
    return [
      { atWallMs: startedAtWallMs, news: { type: 'turn', callId, turn: index, kind: input.kind, callerText } },
      ...(saidText === '' ? [] : spoken),
      ...(botText === '' || !isOver ? [] : [{ atWallMs: ends.get(index) ?? spokeMs, news: heard }]),
    ];
  });
  // The sort is stable: simultaneous news keep this order.
  const all = [...told, ...events].toSorted((one, other) => one.atWallMs - other.atWallMs);
  if (step === undefined && Object.keys(slots).length === 0) return all;
  const state = { type: 'state', callId, step: step ?? null, slots } as const;
  return [...all, { atWallMs: clock.wallMs(), news: state }];
}

function newsOf(callId: string, event: TimelineEvent, atWallMs: number): TimedNews[] {
  if (event.type === 'clear') return [{ atWallMs, news: { type: 'floor', callId, what: 'clear', by: event.by } }];
  if (event.type === 'hold' || event.type === 'resume' || event.type === 'restore')
    return [{ atWallMs, news: { type: 'floor', callId, what: event.type, by: 'voice' } }];
  return event.type === 'ordered' ? [{ atWallMs, news: { type: 'ordered', callId, order: event.order, by: event.by } }] : [];
}
