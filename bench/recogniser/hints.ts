// Hints compared with what was heard, by sound: typical mistakes that are mended, and what was right and is changed.
// Run: npm run bench -- recogniser --hints; the texts are those of ../shared/audio/human.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { withHints } from '../../src/platform/engines/models/hints.ts';
import { MISHEARD, RIGHT } from '../../test/unit/platform/engines/models/hint-pairs.ts';
import { manifestTexts } from './manifest.ts';

const folder = new URL('../../../shared/audio/human', import.meta.url).pathname;

function textWith(text: string, hints: readonly string[]): string {
  const words = text.split(' ').map((word, index) => ({ word, startS: index, endS: index + 1, confidence: 0.8 }));
  return withHints({ text, words, startS: 0, endS: words.length, confidence: 0.8, language: 'en', alternatives: [] }, hints).text;
}

const all = [...new Set([...MISHEARD, ...RIGHT].map(([, hint]) => hint))];
const prompts = [...manifestTexts(readFileSync(join(folder, 'manifest.csv'), 'utf8')).values()]
  .map((text) => text.toLowerCase().replaceAll(/\s+/gu, ' '))
  .filter((text) => text !== '');
const changed = prompts.filter((text) => textWith(text, all) !== text);
console.log({
  mended: `${MISHEARD.filter(([heard, hint, text]) => textWith(heard, [hint]) === text).length} of ${MISHEARD.length}`,
  rightButChanged: `${RIGHT.filter(([heard, hint]) => textWith(heard, [hint]) !== heard).length} of ${RIGHT.length}`,
  promptsChanged: `${changed.length} of ${prompts.length} with ${all.length} hints at once`,
  changed,
});
