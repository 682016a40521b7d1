import { z } from 'zod';
import { ringMs, transferTarget } from './transfer-target.ts';

const wholeStep = z
  .strictObject({
    /** Another bot of this gateway takes the conversation over, usually a flow: it needs no server. */
    bot: z.string().min(1).max(63).optional(),
    /** The caller is connected to a person; with `warm` the agent is rung first. */
    transfer: z
      .union([
        z.strictObject({
          to: transferTarget,
          warm: z.strictObject({ brief: z.string().min(1).max(1000), ringMs: ringMs.optional() }).optional(),
        }),
        transferTarget.transform((to) => ({ to, warm: undefined })),
      ])
      .optional(),
    /** The caller leaves a message, until a silence, a key, or the longest time. */
    message: z
      .strictObject({
        silenceMs: z.int().min(1000).max(5000).default(3000),
        maxMs: z.int().min(5000).max(600_000).default(120_000),
      })
      .optional(),
  })
  .refine((step) => Object.values(step).filter((each) => each !== undefined).length === 1, {
    error: 'one thing a step: bot, transfer or message',
  });

const STEP_WORDS = ['message', 'callback', 'apologise'] as const;

/** Fallbacks for the callers of a bot whose server is down, in order; each is tried where the one before was not possible. */
export type WhenDownStep =
  | { readonly kind: 'bot'; readonly name: string }
  | {
      readonly kind: 'transfer';
      readonly to: string;
      readonly warm?: { readonly brief: string; readonly ringMs?: number | undefined } | undefined;
    }
  | { readonly kind: 'message'; readonly silenceMs: number; readonly maxMs: number }
  | { readonly kind: 'callback' };

type Written = z.output<typeof wholeStep> | (typeof STEP_WORDS)[number];

/** `apologise` is what comes behind any list. */
function stepsOf(written: readonly Written[]): WhenDownStep[] {
  return written.flatMap((step): WhenDownStep[] => {
    if (step === 'apologise') return [];
    if (step === 'callback') return [{ kind: 'callback' }];
    if (step === 'message') return [{ kind: 'message', silenceMs: 3000, maxMs: 120_000 }];
    if (step.bot !== undefined) return [{ kind: 'bot', name: step.bot }];
    if (step.transfer !== undefined) return [{ kind: 'transfer', ...step.transfer }];
    return step.message === undefined ? [] : [{ kind: 'message', ...step.message }];
  });
}

/**
 * The fallback when the bot cannot speak or hear: a cold transfer to the person in its list, since every other step needs both.
 * @returns the last words, whose sound is cached, and the transfer target after them
 */
export function lastWordsWithoutSpeech(
  steps: readonly WhenDownStep[] = [],
): [phrase: 'apology' | 'downTransfer', transferTo?: string] {
  const person = steps.find(({ kind }) => kind === 'transfer');
  return person?.kind === 'transfer' ? ['downTransfer', person.to] : ['apology'];
}

/** The setting `whenDown` of a bot file. */
export const whenDown = z
  .array(z.union([wholeStep, z.enum(STEP_WORDS)]))
  .min(1)
  .max(10)
  .refine((steps) => !steps.slice(0, -1).includes('apologise'), {
    error: '`apologise` ends the call: it can only be the last step',
  })
  .transform(stepsOf);
