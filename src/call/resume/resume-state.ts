import { z } from 'zod';
import type { AudibleAction, DialogAction } from '../../dialog/port.ts';

/** Wall time, in ms since the epoch. */
const wallMs = z.number();
const texts = z.record(z.string(), z.string());

// The dialog's actions, as made by this version.
const audibleShape = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('say'), text: z.string() }),
  z.looseObject({ type: z.literal('play'), source: z.string() }),
]);
const audible = z.custom<AudibleAction>((value) => audibleShape.safeParse(value).success);
const gatherShape = z.looseObject({ type: z.literal('gather') });
const gather = z.custom<DialogAction & { readonly type: 'gather' }>((value) => gatherShape.safeParse(value).success);

/** The caller's input that opened the running turn; secret values are masked. */
const input = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('start'), heard: z.string().optional() }),
  z.object({ kind: z.literal('spoken'), text: z.string(), keys: z.string().optional() }),
  z.object({ kind: z.literal('keyed'), digits: z.string() }),
  z.object({ kind: z.literal('no-input'), attempt: z.int() }),
  z.object({ kind: z.literal('tool-result'), tool: z.string() }),
  z.object({
    kind: z.literal('transfer'),
    to: z.string(),
    outcome: z.enum(['answered', 'busy', 'no-answer', 'declined', 'voicemail', 'dropped', 'failed']),
    cause: z.string().optional(),
  }),
]);

/** A sentence or sound of the running turn's reply. */
const sentence = z.object({
  action: audible,
  /** When the caller hears its beginning; absent where none of it was sent. */
  startsAtMs: wallMs.optional(),
  /** Absent until all of it is made. */
  durationMs: z.number().optional(),
  played: z.boolean(),
});

const interval = z.object({ fromMs: z.number(), toMs: z.number().optional() });

/** What a process needs, beside the record, to continue a call. Journalled as it changes. Never contains secret values. */
export const resumeState = z.object({
  version: z.literal(1),
  atMs: wallMs,
  /** The running turn; −1 before the first. */
  turn: z.int(),
  input: input.optional(),
  /** The dialog was asked, and its answer is incomplete. */
  pending: z.boolean(),
  /** Text of a finished reply. */
  settled: z.object({ botText: z.string(), botHeardText: z.string() }).optional(),
  /** Sentences of the reply being spoken. */
  sentences: z.array(sentence),
  /** What the dialog expects next. */
  gather: gather.optional(),
  /** What the bot does after its reply. `last`: the caller cannot change it. */
  leaves: z.object({ reason: z.string(), last: z.boolean(), transferTo: z.string().optional(), warm: z.boolean() }).optional(),
  /** The agent being rung. */
  agent: z.string().optional(),
  language: z.string(),
  voice: z.string(),
  noInputs: z.int(),
  /** End of the mute; absent where the bot is not muted. */
  mutedUntilMs: wallMs.optional(),
  optOutHeard: z.boolean(),
  /** The dialog's own saved state. */
  dialog: z.unknown(),
  /** Set for outbound calls. */
  outbound: z
    .object({
      variables: texts,
      metadata: texts,
      campaignId: z.string().optional(),
      zone: z.string().optional(),
      duties: z.array(z.object({ duty: z.string(), ms: z.number().optional() })),
    })
    .optional(),
  /** Rates of the first leg, which the call keeps. */
  rates: z.object({ rateHz: z.int().positive(), sentRateHz: z.int().positive() }),
  recording: z
    .object({
      startedAtMs: wallMs,
      gaps: z.array(interval.extend({ toMs: z.number(), reason: z.string() })),
      kept: z.array(interval),
    })
    .optional(),
});

export type ResumeState = z.output<typeof resumeState>;
