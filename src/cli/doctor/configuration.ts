import { type Problem, problemText } from '../../config/problem.ts';
import type { Check } from './check.ts';

export function configurationCheck(problems: readonly Problem[]): Check {
  return {
    name: 'configuration',
    advice: 'correct what is listed; `npx offhook config explain` shows where each setting comes from',
    run: () => ({
      ok: problems.length === 0,
      detail:
        problems.length === 0 ? 'settings, bot files and analysis profiles are sound' : problems.map(problemText).join('; '),
    }),
  };
}
