import { errorsOf, type Problem, problemText } from '../../config/problem.ts';
import type { Check } from './check.ts';

export function configurationCheck(problems: readonly Problem[]): Check {
  return {
    name: 'configuration',
    advice: 'correct what is listed; `npx offhook config explain` shows where each setting comes from',
    run() {
      const ok = errorsOf(problems).length === 0;
      const sound = ok ? ['settings, bot files and analysis profiles are sound'] : [];
      return { ok, detail: [...sound, ...problems.map(problemText)].join('; ') };
    },
  };
}
