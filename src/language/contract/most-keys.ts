import type { AnswerContract } from './contract.ts';
import { signsOf } from './read-code.ts';
import { digitBounds } from './read-digits.ts';

/** Most keys of an answer; undefined for kinds that cannot be typed. A `#` ends it earlier. */
export function mostKeys(contract: AnswerContract): number | undefined {
  switch (contract.kind) {
    case 'digits':
      return digitBounds(contract).most;
    case 'phone':
      return 14;
    case 'date':
      return 8;
    case 'time':
      return 4;
    case 'money':
      return 12;
    case 'yes-no':
      return 1;
    case 'choice':
      return Math.max(1, ...contract.options.map(({ key }) => key?.length ?? 0));
    case 'code':
      return /[AX]/.test(contract.pattern) ? undefined : signsOf(contract.pattern);
    case 'card':
      return 19;
    case 'otp':
      return contract.length;
    case 'name':
    case 'email':
      return undefined;
  }
}
