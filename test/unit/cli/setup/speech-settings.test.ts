import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { unknownWords } from '../../../../src/cli/setup/speech-settings.ts';

const english = readFileSync('config/platform/vocabulary.en.yaml', 'utf8');
const hindi = readFileSync('config/platform/vocabulary.hi.yaml', 'utf8');

test.each([
  { note: 'names no word of the vocabulary', file: english, lines: ["I'd like an appointment", 'Tuesday, please!'], unknown: [] },
  {
    note: 'names each word once that nobody taught the recogniser',
    file: english,
    lines: ['yes, a flamingo please', 'the Flamingo and a xylophone'],
    unknown: ['flamingo', 'xylophone'],
  },
  { note: 'names no word that a bot teaches it', file: english, lines: ['flamingo'], learnt: ['pink flamingo'], unknown: [] },
  { note: 'knows the words of another language', file: hindi, lines: ['हाँ', 'राजहंस'], unknown: ['राजहंस'] },
])('$note', ({ file, lines, learnt = [], unknown }) => {
  expect(unknownWords(file, learnt, lines).filter((word) => !['a', 'the', 'and'].includes(word))).toEqual(unknown);
});
