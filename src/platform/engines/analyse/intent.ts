import { intentCues } from './intent-cues.ts';
import { stem, wordsOf } from './words.ts';

/** The label for what no cue speaks for. */
const OTHER = 'other';
/** Choices that mean "none of these". */
const none = new Set(['other', 'others', 'unknown', 'none', 'general', 'misc', 'miscellaneous', 'na']);

interface Cue {
  readonly stems: readonly string[];
  /** Longer phrases say more. */
  readonly weight: number;
}

const cues = new Map<string, readonly Cue[]>(
  Object.entries(intentCues).map(([label, lines]) => [label, lines.split(',').map((phrase) => cueOf(phrase))]),
);

function cueOf(phrase: string): Cue {
  const stems = wordsOf(phrase).map(stem);
  return { stems, weight: stems.length };
}

/**
 * What the speaker is after, by cue words and phrases: the label with the most of them, the earlier one of equals.
 * @param choices the only labels allowed, as they are spelt; empty for our own
 */
export function intentOf(utterances: readonly string[], choices: readonly string[]): string {
  const said = utterances.map((utterance) => wordsOf(utterance).map(stem));
  const own = new Map([...cues].map(([label, list]) => [label, score(said, list)]));
  if (choices.length === 0) return best([...own], OTHER);
  const scored = choices.map((choice) => [choice, choiceScore(choice, said, own)] as const);
  const fallback = choices.find((choice) => none.has(choice.trim().toLowerCase())) ?? choices[0]!;
  return best(scored, fallback);
}

/** A choice is spoken for by its own words, and by the cues of our labels that share a word with it. */
function choiceScore(choice: string, said: readonly (readonly string[])[], own: ReadonlyMap<string, number>): number {
  // `bookAppointment`, `book_appointment` and `Book appointment` are the same.
  const parts = wordsOf(choice.replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2').replaceAll(/[_/-]/g, ' ')).map(stem);
  const direct = parts.filter((part) => said.some((words) => words.includes(part))).length;
  let related = 0;
  for (const [label, value] of own) {
    const names = label.split('_').map(stem);
    const shared = parts.filter((part) => names.includes(part)).length;
    related = Math.max(related, (value * shared) / names.length);
  }
  return 1.5 * direct + related;
}

function score(said: readonly (readonly string[])[], list: readonly Cue[]): number {
  let sum = 0;
  for (const { stems, weight } of list) {
    for (const words of said) {
      for (let at = 0; at + stems.length <= words.length; at += 1) {
        if (stems.every((part, index) => part === words[at + index])) sum += weight;
      }
    }
  }
  return sum;
}

function best(scored: readonly (readonly [string, number])[], fallback: string): string {
  let [label, most] = [fallback, 0];
  for (const [name, value] of scored) if (value > most) [label, most] = [name, value];
  return label;
}
