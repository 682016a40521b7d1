import { z } from 'zod';

/** What is known of a saved call without replaying it. */
export interface FixtureFacts {
  /** Wall time after which it is deleted; undefined for never. */
  readonly expiresAtMs: number | undefined;
  readonly bytes: number;
  readonly digitsMasked: boolean;
  readonly truncatedAtMs: number | undefined;
  readonly settings: Readonly<Record<string, string | number | boolean>>;
}

/** Whether a call can be replayed. */
export const fixtureView = z.object({
  state: z.enum(['saved', 'not-saved', 'expired']),
  /** Whether calls of this bot are saved from now on: `call.keepFixtures`, and `recording: always`. */
  keeps: z.boolean(),
  /** The rest is null where the call is not saved. */
  expiresAt: z.iso.datetime().nullable(),
  bytes: z.int().nullable(),
  /** Digits in it are nines, since the caller said or keyed a long number. */
  digitsMasked: z.boolean().nullable(),
  /** The call was longer than is saved; in ms since its first moment. */
  truncatedAtMs: z.number().nullable(),
  /** Settings of turn-taking as they were in the call, which a replay may change. */
  settings: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).nullable(),
});

const decision = z.object({ atMs: z.number(), turn: z.int(), type: z.string(), detail: z.string() }).readonly();
const measured = z.number().nullable();
const turnMeasure = z
  .object({
    turn: z.int(),
    kind: z.string(),
    /** How long the caller waited, by stage, in ms; null where the stage did not happen. */
    endpointing: measured,
    asrFinal: measured,
    dialog: measured,
    ttsFirstByte: measured,
    total: measured,
    holds: z.int(),
    resumes: z.int(),
    clears: z.int(),
    restores: z.int(),
    fillers: z.int(),
  })
  .readonly();

/** What today's code decides with other settings, beside what was decided in the call. Times are ms since the call's first moment. */
export const replayReportView = z
  .object({
    equal: z.boolean(),
    decisions: z.object({ was: z.int(), is: z.int() }).readonly(),
    /** The first difference; `was` or `is` is absent where nothing more was decided. */
    divergence: z
      .object({ atMs: z.number(), turn: z.int(), was: decision.optional(), is: decision.optional(), after: z.int() })
      .readonly()
      .optional(),
    /** `counterfactual`: the call went another way before, so that each number stands for itself. */
    turns: z
      .array(
        z
          .object({
            turn: z.int(),
            standing: z.enum(['equal', 'diverges', 'counterfactual']),
            was: turnMeasure.optional(),
            is: turnMeasure.optional(),
          })
          .readonly(),
      )
      .readonly(),
    /** Answers that the saved call does not have, and what stood in for them. */
    standIns: z.array(z.object({ atMs: z.number(), what: z.string(), said: z.string() }).readonly()).readonly(),
    digitsMasked: z.boolean(),
    truncatedAtMs: z.number().optional(),
    callMs: z.number(),
  })
  .readonly();
export type ReplayReportView = z.output<typeof replayReportView>;
