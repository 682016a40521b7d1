import { z } from 'zod';

/** A call whose sentences were judged by hand. */
export const labelledCall = z.strictObject({
  name: z.string().min(1).max(200),
  /** Such as `bot: Which day would suit you?` and `caller: Tuesday`. */
  lines: z
    .array(z.string().regex(/^(?:bot|caller): \S/u, 'a line begins with "bot: " or "caller: "'))
    .min(1)
    .max(500),
  /** Sentences, and whether they are true of the call. */
  sentences: z
    .record(z.string().min(1).max(1000), z.boolean())
    .refine((given) => Object.keys(given).length > 0, 'a sentence is missing'),
});
export type LabelledCall = z.output<typeof labelledCall>;

/** One sentence of one call: what people say of it, and what the judge says. */
export interface JudgedSentence {
  readonly call: string;
  readonly sentence: string;
  readonly label: boolean;
  /** Undefined where the judge gave no verdict that its line bears out. */
  readonly judged: boolean | undefined;
  /** The judge's quotation, or why there is no verdict. */
  readonly reason: string;
}

export interface Agreement {
  readonly sentences: number;
  /** Share of equal verdicts, from 0 to 1; a missing one is not equal. */
  readonly agreement: number;
  /**
   * Cohen's kappa: the agreement beyond what two raters with these shares of "yes" reach by chance; 1 is perfect, 0 is chance. Undefined where both
   * give only one and the same answer.
   */
  readonly kappa: number | undefined;
  readonly withoutVerdict: number;
  readonly disagreements: readonly JudgedSentence[];
}

/** How well a judge agrees with hand labels. @param judged at least one */
export function agreementOf(judged: readonly JudgedSentence[]): Agreement {
  const count = (test: (each: JudgedSentence) => boolean): number => judged.filter(test).length;
  const sentences = judged.length;
  const equal = count(({ label, judged: verdict }) => label === verdict);
  const answered = judged.filter((each) => each.judged !== undefined);
  const share = (test: (each: JudgedSentence) => boolean): number => answered.filter(test).length / Math.max(1, answered.length);
  const [labelled, found] = [share(({ label }) => label), share((each) => each.judged === true)];
  const observed = share(({ label, judged: verdict }) => label === verdict);
  const byChance = labelled * found + (1 - labelled) * (1 - found);
  return {
    sentences,
    agreement: sentences === 0 ? 0 : equal / sentences,
    kappa: answered.length === 0 || byChance === 1 ? undefined : (observed - byChance) / (1 - byChance),
    withoutVerdict: sentences - answered.length,
    disagreements: judged.filter(({ label, judged: verdict }) => label !== verdict),
  };
}
