import type { CallRecord } from '../../store/port.ts';
import type { AnalysisSegment } from './analysis.ts';

/**
 * What was heard of the bot as segments on the recording's clock, one a turn, in order of time. A turn of which nothing
 * was heard has none. Where the record does not say when the bot spoke, the turn's own start and the next one's stand in.
 * @param totalS length of the recording; no segment goes beyond it
 */
export function heardSegments(call: CallRecord, totalS: number): AnalysisSegment[] {
  const zeroMs = zeroOf(call);
  const seconds = (wallMs: number): number => Math.min(totalS, Math.max(0, (wallMs - zeroMs) / 1000));
  const turns = call.turns.toSorted((a, b) => a.index - b.index);
  return turns.flatMap((turn, position) => {
    if (turn.botHeardText === '') return [];
    const startS = seconds(turn.botStartedAtMs ?? turn.startedAtMs);
    const nextMs = turns[position + 1]?.startedAtMs;
    const endMs = turn.botEndedAtMs ?? nextMs;
    const endS = endMs === undefined ? totalS : seconds(endMs);
    return [{ startS, endS: Math.max(startS, endS), text: turn.botHeardText }];
  });
}

/** What was understood of the caller while the call went, at the moment at which each turn began: their speech has no other times. */
export function liveSegments(call: CallRecord, totalS: number): AnalysisSegment[] {
  return call.turns
    .toSorted((a, b) => a.index - b.index)
    .filter(({ callerText }) => callerText !== '')
    .map(({ startedAtMs, callerText }) => {
      const atS = Math.min(totalS, Math.max(0, (startedAtMs - zeroOf(call)) / 1000));
      return { startS: atS, endS: atS, text: callerText };
    });
}

/** From the beginning of the recording, or where it would have begun, to the call's end, in seconds. */
export function lengthOf(call: CallRecord): number {
  return Math.max(0, ((call.endedAtMs ?? call.startedAtMs) - zeroOf(call)) / 1000);
}

function zeroOf({ recordingStartedAtMs, answeredAtMs, startedAtMs }: CallRecord): number {
  return recordingStartedAtMs ?? answeredAtMs ?? startedAtMs;
}
