import { z } from 'zod';
import { spaced } from '../chat/expectation.ts';
import type { Unmet } from './checks.ts';
import { type EvalModel, EvalModelError } from './eval-model.ts';
import type { CallLine, Evidence } from './evidence.ts';

const verdict = z.object({
  number: z.int().min(1),
  yes: z.boolean(),
  /** Number of the line that shows it, and words of that line; a "no" for what never happened has none. */
  line: z.int().min(1).nullish(),
  quote: z.string().nullish(),
});
const answer = z.object({ verdicts: z.array(verdict) });
type Verdict = z.output<typeof verdict>;

const INSTRUCTIONS = `You check a phone call between a caller and a voice bot. You get its numbered lines, and numbered sentences about it.
Say for each sentence whether it is true of this call, by its lines alone: what is not in them did not happen.
For each "yes", and for each "no" that a line shows, give the number of that line and quote words of it exactly.
Answer with one JSON object alone: {"verdicts": [{"number": 1, "yes": true, "line": 3, "quote": "words of line 3"}]}`;

/**
 * Has a model say whether sentences are true of a call, each with a quoted line as evidence.
 * @returns one verdict on each, numbered from 1
 * @throws EvalModelError where there is no usable answer
 */
export async function verdictsOf(
  sentences: readonly string[],
  lines: readonly CallLine[],
  model: EvalModel,
): Promise<readonly Verdict[]> {
  const shown = lines.map(({ who, text }, index) => `${index + 1}. ${who}: ${text}`);
  const numbered = sentences.map((sentence, index) => `${index + 1}. ${sentence}`);
  const content = `The call:\n${shown.join('\n')}\n\nThe sentences:\n${numbered.join('\n')}`;
  const messages = [
    { role: 'system', content: INSTRUCTIONS },
    { role: 'user', content },
  ] as const;
  const { verdicts } = await model.ask(messages, answer, (given) => complaintOf(given.verdicts, sentences, lines));
  return verdicts;
}

/** @returns the sentences that are not true of a call, and those without a verdict that its line bears out */
export async function judge(sentences: readonly string[], { lines }: Evidence, model: EvalModel): Promise<Unmet[]> {
  try {
    const verdicts = await verdictsOf(sentences, lines, model);
    return verdicts.flatMap(({ number, yes, line, quote }): Unmet[] => {
      if (yes) return [];
      const shown = line === undefined || line === null ? undefined : lines[line - 1];
      const got =
        quote === undefined || quote === null || quote === ''
          ? 'the judge says no'
          : `the judge says no: ${JSON.stringify(quote)}`;
      return [
        { keys: ['judge', number - 1], expected: `that ${JSON.stringify(sentences[number - 1])} is true`, got, line: shown },
      ];
    });
  } catch (error) {
    if (!(error instanceof EvalModelError)) throw error;
    return [{ keys: ['judge'], expected: 'verdicts of the judge', got: error.message }];
  }
}

/** Whether every sentence has one verdict, and every quotation is in its line. */
function complaintOf(verdicts: readonly Verdict[], sentences: readonly string[], lines: readonly CallLine[]): string | undefined {
  const numbers = verdicts.map(({ number }) => number).sort((left, right) => left - right);
  if (numbers.join() !== sentences.map((_, index) => index + 1).join())
    return `a verdict on each of the ${sentences.length} sentences is expected`;
  for (const { number, yes, line, quote } of verdicts) {
    const text = line === undefined || line === null ? undefined : lines[line - 1]?.text;
    const isQuoted = quote !== undefined && quote !== null && quote !== '';
    if (!isQuoted && !yes) continue;
    if (text === undefined || !isQuoted || !plain(text).includes(plain(quote)))
      return `the quotation for sentence ${number} is not in the line that it names`;
  }
  return undefined;
}

function plain(text: string): string {
  return spaced(text).toLowerCase();
}
