import { z } from 'zod';

const wait = (least: number, most: number, byDefault: number) => z.int().min(least).max(most).default(byDefault);
/** `{{ name }}` stands for a variable of the call. */
const text = z.string().min(1).max(2000);
/** Keys of 0-9, * and #, and `w` to wait half a second. */
const keys = z.string().regex(/^[0-9*#w]{1,64}$/, 'keys of 0-9, * and #, and w to wait half a second; at most 64');

/** What a bot does when something else than a person answers a call that Offhook placed. Durations are milliseconds. */
export const botAnswering = z
  .strictObject({
    /** Latest greeting after the other side's first sound, where the kind of answer is unclear. */
    decideWithinMs: wait(500, 5000, 2300),
    /** Silence after which the bot speaks first. */
    speakFirstMs: wait(500, 10_000, 2000),
    /** A mailbox: `hang-up`, or the message that is left on it. */
    mailbox: z
      .union([
        z.literal('hang-up'),
        z.strictObject({
          /** The message; where absent the dialog provides it. */
          message: text.optional(),
          /** Quiet after which a mailbox without a beep records. */
          quietMs: wait(1500, 15_000, 4000),
        }),
      ])
      .default('hang-up'),
    /** For a screening assistant: `hang-up`, or what it is told before a person is waited for. */
    screening: z
      .union([z.literal('hang-up'), z.strictObject({ say: text, waitMs: wait(3000, 120_000, 30_000) })])
      .default('hang-up'),
    /** A menu: `hang-up`, or the keys to press, in one menu after the other. */
    ivr: z
      .union([
        z.literal('hang-up'),
        z.strictObject({
          keys: z.union([keys, z.array(keys).min(1).max(10)]),
          /** Time for a person to come on after the last message. */
          waitMs: wait(3000, 300_000, 60_000),
        }),
      ])
      .default('hang-up'),
    /** A queue, or music: `hang-up`, or how long a person is waited for. */
    hold: z.union([z.literal('hang-up'), z.strictObject({ waitMs: wait(3000, 600_000, 60_000) })]).default('hang-up'),
  })
  .prefault({});

export type BotAnswering = z.output<typeof botAnswering>;
