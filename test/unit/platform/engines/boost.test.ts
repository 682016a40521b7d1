import { expect, it } from 'vitest';
import { boostBonus, type RecognitionModel } from '../../../../src/platform/engines/recognise/decode.ts';

const model = { language: 'hi', model: { words: ['कल', 'परसों'] } } as unknown as RecognitionModel;

it.each([
  [undefined, 5],
  [10, 5],
  [20, 10],
  [0, 0],
  [-3, 0],
  [1e9, 50],
])('gives a word of a boosted phrase its bonus in proportion to weight %s', (weight, bonus) => {
  const bonusOf = boostBonus(model, ['कल सुबह'], weight);
  expect([bonusOf(0), bonusOf(1)]).toEqual([bonus, 0]);
});
