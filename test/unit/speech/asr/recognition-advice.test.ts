import { describe, expect, test } from 'vitest';
import { RecognitionAdvice, type AdvisedOptions } from '../../../../src/speech/asr/recognition-advice.ts';
import { silentLogger } from '../../../../src/observability/logger.ts';

function warnings(tell: (advice: RecognitionAdvice) => void): string[] {
  const told: string[] = [];
  const logger = Object.assign(Object.create(silentLogger) as typeof silentLogger, {
    warn: (_facts: unknown, message: string) => told.push(message),
  });
  const advice = new RecognitionAdvice(logger);
  for (let call = 0; call < 3; call += 1) tell(advice);
  return told;
}

describe('advice on recognition options', () => {
  test.each<{ note: string; options: AdvisedOptions; told: number }>([
    { note: 'English', options: { language: 'en', boostPhrases: ['Asha'] }, told: 1 },
    { note: 'no language', options: { boostWeight: 20 }, told: 1 },
    { note: 'auto', options: { language: 'auto', boostPhrases: ['Asha'] }, told: 1 },
    { note: 'Hindi', options: { language: 'hi', boostPhrases: ['Asha'] }, told: 0 },
    { note: 'Hindi by name', options: { language: 'Hindi', boostPhrases: ['Asha'] }, told: 0 },
    { note: 'English without boosting', options: { language: 'en', boostPhrases: [] }, told: 0 },
  ])('warns of boosting once in three calls, or never: $note [203]', ({ options, told }) => {
    expect(warnings((advice) => advice.forAny(options))).toHaveLength(told);
  });

  test.each([
    { language: 'auto', told: 1 },
    { language: '', told: 1 },
    { language: 'en', told: 0 },
  ])('warns once of streaming in "$language", or never [204]', ({ language, told }) => {
    expect(warnings((advice) => advice.forStream({ language }))).toHaveLength(told);
  });
});
