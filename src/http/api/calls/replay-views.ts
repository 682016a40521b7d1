import { z } from 'zod';

/** Facts of a saved call, read without replaying it. */
export interface FixtureFacts {
  /** Wall time of its deletion; undefined for never. */
  readonly expiresAtMs: number | undefined;
  readonly bytes: number;
  readonly digitsMasked: boolean;
  readonly truncatedAtMs: number | undefined;
  readonly settings: Readonly<Record<string, string | number | boolean>>;
}

/** Whether a call can be replayed. */
export const fixtureView = z.object({
  state: z.enum(['saved', 'not-saved', 'expired']),
  /** Whether this bot's calls are saved from now on: `call.keepFixtures`, and `recording: always`. */
  keeps: z.boolean(),
  /** The rest is null for an unsaved call. */
  expiresAt: z.iso.datetime().nullable(),
  bytes: z.int().nullable(),
  /** Whether digits were replaced by nines, since the caller said or keyed a long number. */
  digitsMasked: z.boolean().nullable(),
  /** Where the saved part of a longer call ends, in ms since its start. */
  truncatedAtMs: z.number().nullable(),
  /** Turn-taking settings of the call, which a replay may change. */
  settings: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).nullable(),
});

const decision = z.object({ atMs: z.number(), turn: z.int(), type: z.string(), detail: z.string() }).readonly();
const measured = z.number().nullable();
const turnMeasure = z
  .object({
    turn: z.int(),
    kind: z.string(),
    /** The caller's wait by stage, in ms; null where the stage did not happen. */
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

/** Decisions of today's code with other settings, beside the call's. Times are ms since the call's start. */
export const replayReportView = z
  .object({
    equal: z.boolean(),
    decisions: z.object({ was: z.int(), is: z.int() }).readonly(),
    /** The first difference; `was` or `is` is absent where one side has no further decision. */
    divergence: z
      .object({ atMs: z.number(), turn: z.int(), was: decision.optional(), is: decision.optional(), after: z.int() })
      .readonly()
      .optional(),
    /** `counterfactual`: the call diverged earlier, so the numbers are not comparable. */
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
    /** Answers missing from the saved call, and their stand-ins. */
    standIns: z.array(z.object({ atMs: z.number(), what: z.string(), said: z.string() }).readonly()).readonly(),
    digitsMasked: z.boolean(),
    truncatedAtMs: z.number().optional(),
    callMs: z.number(),
  })
  .readonly();
export type ReplayReportView = z.output<typeof replayReportView>;
