import { type AnswerContext, type AnswerContract, type AnswerReading, isSecure, readAnswer } from '../../language/index.ts';
import type { TurnInput } from '../../dialog/port.ts';
import type { CallerInput } from '../log/call-record.ts';
import type { ExpectedValue, ValueReader } from '../turn/value-reader.ts';

/** What a dialog's `gather` asks for; the only kind of value that a call expects. */
export interface ExpectedAnswer extends ExpectedValue {
  readonly contract: AnswerContract;
  readonly context: AnswerContext;
}

/** Turn-taking holds expected values as opaque data; in this call they all come from `gather`. */
function answerOf(value: ExpectedValue): ExpectedAnswer {
  return value as ExpectedAnswer;
}

/** Reads a value that was asked for, from words and the keys pressed behind them. */
export function readExpected(value: ExpectedValue, words: string, keys = ''): AnswerReading {
  const { contract, context } = answerOf(value);
  return readAnswer(contract, context, words, keys);
}

/** The caller's input as the dialog sees it: read by what this turn expected. */
export function inputOf(input: CallerInput, expected: ExpectedValue | undefined, language: string): TurnInput {
  const read = (text: string, keys: string) => (expected === undefined ? {} : { answer: readExpected(expected, text, keys) });
  if (input.kind === 'spoken') return { ...input, language, ...read(input.text, input.keys ?? '') };
  if (input.kind === 'start') return input.heard === undefined || input.heard === '' ? { kind: 'start' } : input;
  if (input.kind !== 'keyed') return input;
  const { digits, reading } = input;
  return { kind: 'keyed', digits, ...(reading === undefined ? read('', digits) : { answer: reading }) };
}

/** Understands the values that turn-taking waits for. */
export const ANSWER_READER: ValueReader = {
  isSecret: (value) => isSecure(answerOf(value).contract),
  progress(value, words, keys) {
    const reading = readExpected(value, words, keys);
    switch (reading.status) {
      case 'incomplete':
        return reading.begun ? 'missing' : 'none';
      case 'impossible':
        return 'other';
      case 'complete':
      case 'ambiguous':
        if (reading.more !== 'no') return `${reading.more}-more`;
        return reading.status === 'complete' ? 'whole' : 'several';
    }
  },
};
