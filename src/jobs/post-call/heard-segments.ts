import type { CallRecord } from '../../store/port.ts';
import type { AnalysisSegment } from './analysis.ts';

/**
 * What was heard of the bot as segments on the recording's clock, one a turn, in order of time. A turn of which nothing
 * was heard has none. Where the record does not say when the bot spoke, the turn's own start and the next one's stand in.
 * @param totalS length of the recording; no segment goes beyond it
 */
export function heardSegments(call: CallRecord, totalS: number): AnalysisSegment[] {
  const zeroMs = call.recordingStartedAtMs ?? call.answeredAtMs ?? call.startedAtMs;
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
