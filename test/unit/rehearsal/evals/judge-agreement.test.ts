import { describe, expect, it } from 'vitest';
import { agreementOf, type JudgedSentence } from '../../../../src/rehearsal/evals/judge-agreement.ts';

const judged = (label: boolean, verdict: boolean | undefined, times: number): JudgedSentence[] =>
  Array.from({ length: times }, () => ({ call: 'one', sentence: 'The bot is polite.', label, judged: verdict, reason: '' }));

describe('agreementOf', () => {
  it("gives Cohen's kappa as the textbook does", () => {
    // Cohen's table of 20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no: 0.7 equal, 0.5 by chance.
    const { agreement, kappa, disagreements } = agreementOf([
      ...judged(true, true, 20),
      ...judged(true, false, 5),
      ...judged(false, true, 10),
      ...judged(false, false, 15),
    ]);
    expect(agreement).toBe(0.7);
    expect(kappa).toBeCloseTo(0.4, 10);
    expect(disagreements).toHaveLength(15);
  });

  it('counts a missing verdict as a disagreement, and leaves it out of kappa', () => {
    const result = agreementOf([...judged(true, true, 2), ...judged(false, false, 1), ...judged(true, undefined, 1)]);
    expect(result).toMatchObject({ agreement: 0.75, kappa: 1, withoutVerdict: 1 });
    expect(result.disagreements).toHaveLength(1);
  });

  it('has no kappa where both give one answer alone', () => {
    expect(agreementOf(judged(true, true, 3))).toMatchObject({ agreement: 1, kappa: undefined });
  });
});
