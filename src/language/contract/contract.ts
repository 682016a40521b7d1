import { z } from 'zod';

const LONGEST = 64;

/** Check digits over the whole value: Luhn (cards, IMEI), Verhoeff (Aadhaar), ISO 7064 mod 97 (IBAN), mod 11 (ISBN-10). */
export const checkKind = z.enum(['luhn', 'verhoeff', 'mod97', 'mod11']);
/** `A` is a letter, `9` a digit, `X` either; `-` and `/` are written and never said; `0` is the digit itself. */
export const codePattern = z
  .string()
  .regex(/^[A9X0/-]{1,40}$/, 'a pattern of A, 9, X, 0, - and /')
  .refine((pattern) => /[A9X]/.test(pattern), 'a pattern with an A, 9 or X in it');
/** `always` (the default of most kinds): said back, and taken only after a yes. */
const readBack = z.enum(['always', 'never']).optional();

/**
 * What an answer has to be, as a dialog's `gather` states it. Values come back as text in one form for each kind:
 *
 * | kind | value |
 * |---|---|
 * | `digits`, `otp`, `card` | the digits |
 * | `phone` | E.164: `+919876543210` |
 * | `date` | `YYYY-MM-DD` |
 * | `time` | `HH:MM` |
 * | `money` | a decimal with two places: `1250.50` |
 * | `yes-no` | `yes` or `no` |
 * | `choice` | the option's name |
 * | `name` | the words of the name |
 * | `email` | the address in lower case |
 * | `code` | capital letters and digits, in the form of the pattern |
 */
export const answerContract = z.discriminatedUnion('kind', [
  z
    .object({
      kind: z.literal('digits'),
      /** Exactly this many; or `least` and `most`. */
      length: z.int().min(1).max(LONGEST).optional(),
      least: z.int().min(1).max(LONGEST).optional(),
      most: z.int().min(1).max(LONGEST).optional(),
      check: checkKind.optional(),
      readBack,
    })
    .refine(({ least, most }) => least === undefined || most === undefined || least <= most, {
      message: 'least must not be more than most',
    }),
  z.object({ kind: z.literal('phone'), region: z.enum(['IN', 'US']), readBack }),
  z.object({
    kind: z.literal('date'),
    /** Which of day and month comes first in `5/3`; by region elsewhere. */
    order: z.enum(['day-month', 'month-day']).optional(),
    /** Where the day lies: decides कल, परसों, a date without a year and a weekday. Unknown: the caller is asked. */
    tense: z.enum(['past', 'future']).optional(),
    /** The answer has a year, as a date of birth has. */
    year: z.boolean().optional(),
    readBack,
  }),
  z.object({
    kind: z.literal('time'),
    /** Decides which `ten` is meant: `HH:MM`. */
    from: z
      .string()
      .regex(/^([01]\d|2[0-3]):[0-5]\d$/)
      .optional(),
    to: z
      .string()
      .regex(/^([01]\d|2[0-3]):[0-5]\d$/)
      .optional(),
    readBack,
  }),
  z.object({ kind: z.literal('money'), currency: z.enum(['INR', 'USD']), readBack }),
  z.object({ kind: z.literal('yes-no'), readBack }),
  z.object({
    kind: z.literal('name'),
    /** Words that make a whole name: 2 for first and last name. */
    least: z.int().min(1).max(6).optional(),
    readBack,
  }),
  z.object({ kind: z.literal('email'), readBack }),
  z.object({
    kind: z.literal('code'),
    pattern: codePattern,
    check: checkKind.optional(),
    readBack,
  }),
  z.object({
    kind: z.literal('choice'),
    options: z
      .array(
        z.object({
          name: z.string().min(1).max(100),
          phrases: z.array(z.string().min(1).max(200)).min(1).max(200),
          key: z
            .string()
            .regex(/^[0-9*]{1,4}$/)
            .optional(),
        }),
      )
      .min(1)
      .max(100),
    readBack,
  }),
  /** Keypad only, never read back, kept from every record. */
  z.object({ kind: z.literal('card') }),
  z.object({ kind: z.literal('otp'), length: z.int().min(3).max(12).default(6) }),
]);

export type AnswerContract = z.output<typeof answerContract>;
export type ContractOf<Kind extends AnswerContract['kind']> = Extract<AnswerContract, { kind: Kind }>;
export type CheckKind = z.output<typeof checkKind>;
