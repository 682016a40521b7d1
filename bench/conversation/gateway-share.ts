import type { CallRecord } from '../../src/call/log/call-record.ts';
import type { TimelineEvent } from '../../src/call/log/timeline.ts';

/** Silence that ends a turn, by default. */
const ENDPOINTING_MS = 640;
/** Sound comes in frames of this length: no silence is known to be complete any finer. */
const FRAMING_MS = 20;

/**
 * What of each spoken turn's waiting was the gateway's own, summed over its stages: the commit after the silence was complete,
 * the dialog after the last final, its answer (the measured one answers at once), the request for speech, the first frame out.
 */
export function gatewayShareMs({ turns, timeline }: CallRecord): readonly number[] {
  return turns
    .filter(({ input }) => input.kind === 'spoken')
    .flatMap(({ index }) => {
      const mine = timeline.filter((event) => 'turn' in event && event.turn === index);
      const asked = mine.findLast(({ type }) => type === 'dialog-asked');
      if (asked === undefined) return [];
      const committed = timeline.findLast((event) => event.type === 'caller-committed' && event.atMs <= asked.atMs);
      const final = timeline.findLast(({ type, atMs }) => type === 'final' && atMs <= asked.atMs);
      // An answer that was asked for early had its speech made while the silence was waited for.
      const early = mine.find(({ type, atMs }) => type === 'asked-early' && atMs < asked.atMs);
      const fromMs = early?.atMs ?? asked.atMs;
      const first = (type: TimelineEvent['type']) => mine.find((event) => event.type === type && event.atMs >= fromMs);
      const [answered, ttsAsked, firstByte] = [first('dialog-answered'), first('tts-asked'), first('tts-first-byte')];
      const firstFrame = mine.find(({ type, atMs }) => type === 'first-frame' && atMs >= asked.atMs);
      if (committed?.type !== 'caller-committed' || committed.reason !== 'silence') return [];
      if (final === undefined || final.atMs < committed.atMs) return [];
      if (answered === undefined || ttsAsked === undefined || firstByte === undefined || firstFrame === undefined) return [];
      const askingMs = early === undefined ? ttsAsked.atMs - asked.atMs : 0;
      return [
        Math.max(0, committed.atMs - committed.lastVoicedMs - ENDPOINTING_MS - FRAMING_MS) +
          (asked.atMs - final.atMs) +
          askingMs +
          (firstFrame.atMs - Math.max(asked.atMs, firstByte.atMs)),
      ];
    });
}
