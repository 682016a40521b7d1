// How often opt-outs are heard, and heard where none was said. Run: npm run bench -- opt-out [--json]
import { readOptOut } from '../../src/language/index.ts';
import { printDocument, round } from '../document.ts';
import { HALVES, rates, type Sentence, sentences, SPOKEN } from './sentences.ts';

const WORDS = 20;
const READINGS = 20_000;

const measured = SPOKEN.map((language) => {
  const halves = HALVES.map((half) => [half, sentences(language, half)] as const);
  return [
    language,
    {
      ...Object.fromEntries(halves.map(([half, all]) => [half, rates(all)])),
      microsecondsPerReading: microseconds(halves.flatMap(([, all]) => all)),
    },
  ] as const;
});

printDocument({ words: WORDS, languages: Object.fromEntries(measured) });

/** Processor time of one reading of 20 words, most of them no opt-out: it runs for each partial and final of a call. */
function microseconds(all: readonly Sentence[]): number {
  const words = all.filter(({ label }) => label === 'none').flatMap(({ text }) => text.split(' '));
  const texts = Array.from({ length: Math.floor(words.length / WORDS) }, (_, at) =>
    words.slice(at * WORDS, (at + 1) * WORDS).join(' '),
  );
  const read = (): void => {
    for (let at = 0; at < READINGS; at++) readOptOut(texts[at % texts.length] ?? '');
  };
  read();
  const since = process.cpuUsage();
  read();
  const { user, system } = process.cpuUsage(since);
  return round((user + system) / READINGS);
}
