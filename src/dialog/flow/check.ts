import type { Problem } from '../../config/problem.ts';
import { checkReach } from './check-reach.ts';
import { checkReferences } from './check-references.ts';
import { checkWords } from './check-words.ts';
import type { Flow } from './schema.ts';

/**
 * What is wrong with a flow whose form is right: unknown states, slots and placeholders, states that cannot be reached
 * or cannot be left, prompts that a language lacks, phrases and keys that mean two things. Empty when it is sound.
 * @param source named in `where`, for example the file
 */
export function checkFlow(flow: Flow, source = 'flow'): Problem[] {
  const problems = [...checkReferences(flow), ...checkReach(flow), ...checkWords(flow)];
  return problems.map(({ path, message, meant, value }) => ({
    key: path,
    where: source,
    ...(value === undefined ? {} : { value }),
    message,
    ...(meant === undefined ? {} : { nearest: meant }),
  }));
}
