import { z } from 'zod';

/** What of the language understanding of bots a rule may use. */
export const understanding = z.enum(['day', 'time', 'digits', 'number', 'yes-no', 'choice', 'email']);

/** Numbers of the whole recording that a condition can compare. Seconds, shares of 0 to 1, or counts. */
export const MEASURES = [
  'totalS',
  'speechS',
  'talkRatio',
  'longestMonologueS',
  'overlaps',
  'overlapS',
  'interruptions',
  'silences',
  'silenceS',
  'longestSilenceS',
  'replyGapP50S',
  'replyGapP95S',
] as const;
export type MeasureName = (typeof MEASURES)[number];

const phrases = z.array(z.string().min(1).max(200)).min(1).max(200);

const said = z.strictObject({
  /** Any of them, as whole words; case, punctuation and small words such as `the` are left aside. */
  phrases,
  by: z.string().min(1).optional(),
  /** Only in so much of the beginning, in seconds. */
  withinS: z.number().positive().optional(),
  /** Only in so much of the end, in seconds. */
  lastS: z.number().positive().optional(),
});

const measured = z.strictObject({
  name: z.enum(MEASURES),
  least: z.number().optional(),
  most: z.number().optional(),
  /** A measure of one role instead of the whole: `speechS`, `talkRatio`, `longestMonologueS`, `interruptions`, reply gaps. */
  of: z.string().min(1).optional(),
});

const fieldIs = z.strictObject({
  name: z.string().min(1),
  /** Any value when absent. */
  is: z.union([z.string(), z.number(), z.boolean()]).optional(),
});

const variableIs = z.strictObject({
  name: z.string().min(1),
  /** Any value when absent. */
  is: z.string().optional(),
});

export interface Condition {
  readonly said?: z.output<typeof said> | undefined;
  readonly measure?: z.output<typeof measured> | undefined;
  readonly field?: z.output<typeof fieldIs> | undefined;
  readonly variable?: z.output<typeof variableIs> | undefined;
  readonly intent?: string | undefined;
  readonly sentiment?: string | undefined;
  readonly all?: readonly Condition[] | undefined;
  readonly any?: readonly Condition[] | undefined;
  readonly not?: Condition | undefined;
}

/** Exactly one of its keys. */
export const condition: z.ZodType<Condition> = z
  .strictObject({
    said: said.optional(),
    measure: measured.optional(),
    field: fieldIs.optional(),
    /** Variables the bot's dialog set; a recording from elsewhere has none. */
    variable: variableIs.optional(),
    intent: z.string().min(1).optional(),
    sentiment: z.string().min(1).optional(),
    get all() {
      return z.array(condition).min(1).max(50).optional();
    },
    get any() {
      return z.array(condition).min(1).max(50).optional();
    },
    get not() {
      return condition.optional();
    },
  })
  .refine((value) => Object.values(value).filter((each) => each !== undefined).length === 1, 'exactly one condition');

/** Names of the fields that a condition looks at. */
export function fieldsIn({ field, all = [], any = [], not }: Condition): string[] {
  const inner = [...all, ...any, ...(not === undefined ? [] : [not])];
  return [...(field === undefined ? [] : [field.name]), ...inner.flatMap(fieldsIn)];
}

/** Roles that a condition looks at. */
export function rolesIn({ said, measure, all = [], any = [], not }: Condition): string[] {
  const inner = [...all, ...any, ...(not === undefined ? [] : [not])];
  return [...[said?.by, measure?.of].filter((role) => role !== undefined), ...inner.flatMap(rolesIn)];
}
