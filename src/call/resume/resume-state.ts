import { z } from 'zod';
import type { AudibleAction, DialogAction } from '../../dialog/port.ts';

/** Wall time, in ms since the epoch. */
const wallMs = z.number();
const texts = z.record(z.string(), z.string());

// The dialog's own actions, as this version of it made them.
const audibleShape = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('say'), text: z.string() }),
  z.looseObject({ type: z.literal('play'), source: z.string() }),
]);
const audible = z.custom<AudibleAction>((value) => audibleShape.safeParse(value).success);
const gatherShape = z.looseObject({ type: z.literal('gather') });
const gather = z.custom<DialogAction & { readonly type: 'gather' }>((value) => gatherShape.safeParse(value).success);

/** What the caller did to open the running turn; values that were keyed in secret are masked. */
const input = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('start'), heard: z.string().optional() }),
  z.object({ kind: z.literal('spoken'), text: z.string(), keys: z.string().optional() }),
  z.object({ kind: z.literal('keyed'), digits: z.string() }),
  z.object({ kind: z.literal('no-input'), attempt: z.int() }),
  z.object({
    kind: z.literal('transfer'),
    to: z.string(),
    outcome: z.enum(['answered', 'busy', 'no-answer', 'declined', 'voicemail', 'dropped', 'failed']),
    cause: z.string().optional(),
  }),
]);

/** A sentence, or a sound, of the reply to the running turn. */
const sentence = z.object({
  action: audible,
  /** When the caller hears its beginning; absent where nothing of it was sent. */
  startsAtMs: wallMs.optional(),
  /** Absent until all of it is made. */
  durationMs: z.number().optional(),
  played: z.boolean(),
});

const interval = z.object({ fromMs: z.number(), toMs: z.number().optional() });

/**
 * What of a live call its record does not say, and another process needs to go on with it. Written to the journal as it changes. Values that
 * the caller keyed in secret are never in it.
 */
export const resumeState = z.object({
  version: z.literal(1),
  atMs: wallMs,
  /** The running turn; −1 before the first. */
  turn: z.int(),
  input: input.optional(),
  /** The dialog was asked, and its answer is not complete. */
  pending: z.boolean(),
  /** Of a reply of which nothing more will be heard. */
  settled: z.object({ botText: z.string(), botHeardText: z.string() }).optional(),
  /** Of a reply that is being said. */
  sentences: z.array(sentence),
  /** What the dialog expects next. */
  gather: gather.optional(),
  /** What the bot does once its reply was heard. `last`: nothing that the caller does changes it. */
  leaves: z.object({ reason: z.string(), last: z.boolean(), transferTo: z.string().optional(), warm: z.boolean() }).optional(),
  /** The agent who was being rung for the caller. */
  agent: z.string().optional(),
  language: z.string(),
  voice: z.string(),
  noInputs: z.int(),
  /** Until when; absent where the bot is not muted. */
  mutedUntilMs: wallMs.optional(),
  optOutHeard: z.boolean(),
  /** Of the bot's dialog, by its own rules. */
  dialog: z.unknown(),
  /** Of a call that we placed. */
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
