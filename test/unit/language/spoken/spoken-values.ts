import { type AnswerContext, type AnswerContract, readAnswer, sayAnswer, tokenise } from '../../../../src/language/index.ts';
import { amountAt } from '../../../../src/language/understand/amounts.ts';
import { sayInteger } from '../../../../src/language/understand/digits.ts';
import type { Row } from './row.ts';

function contractOf(kind: Exclude<Row['kind'], 'integer'>, value: string): AnswerContract {
  switch (kind) {
    case 'digits':
      return { kind, length: value.length };
    case 'phone':
      return { kind, region: 'IN' };
    case 'money':
      return { kind, currency: 'INR' };
    case 'dollars':
      return { kind: 'money', currency: 'USD' };
    case 'date':
      return { kind, year: true };
    case 'code':
      return { kind, pattern: 'AA9999' };
    case 'time':
    case 'email':
    case 'name':
    case 'yes-no':
      return { kind };
  }
}

/** What a text is understood as; says why where it is not. */
export function understood({ kind, text, value }: Row, context: AnswerContext): string {
  if (kind === 'integer') {
    const tokens = tokenise(text);
    const amount = amountAt(tokens, 0);
    return amount?.to === tokens.length ? String(amount.value) : `not all of "${text}"`;
  }
  const reading = readAnswer(contractOf(kind, value), context, text);
  return reading.status === 'complete' ? reading.value : `${reading.status}: ${text}`;
}

/** How a value is said. */
export function saidAs({ kind, value }: Row, context: AnswerContext): string {
  if (kind === 'integer') return sayInteger(context.language, Number(value));
  return sayAnswer(contractOf(kind, value), value, context);
}
