import { z } from 'zod';
import type { CallRecord } from '../../call/log/call-record.ts';

const stage = z.number().nullable();

/** Measures of a turn that are comparable regardless of earlier turns. */
export const turnMeasureSchema = z.object({
  turn: z.int(),
  kind: z.string(),
  /** The caller's wait by stage, in ms; null where the stage did not happen. */
  endpointing: stage,
  asrFinal: stage,
  dialog: stage,
  ttsFirstByte: stage,
  total: stage,
  holds: z.int(),
  resumes: z.int(),
  clears: z.int(),
  restores: z.int(),
  fillers: z.int(),
});

export type TurnMeasure = z.infer<typeof turnMeasureSchema>;

export function measuresOf({ turns, timeline }: CallRecord): readonly TurnMeasure[] {
  return turns.map(({ index, input, latency }) => {
    const count = (type: string): number =>
      timeline.filter((event) => event.type === type && 'turn' in event && event.turn === index).length;
    return {
      turn: index,
      kind: input.kind,
      endpointing: latency.endpointing ?? null,
      asrFinal: latency.asrFinal ?? null,
      dialog: latency.dialog ?? null,
      ttsFirstByte: latency.ttsFirstByte ?? null,
      total: latency.total ?? null,
      holds: count('hold'),
      resumes: count('resume'),
      clears: count('clear'),
      restores: count('restore'),
      fillers: count('filler'),
    };
  });
}
