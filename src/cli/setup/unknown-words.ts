import { accepts, phraseWords } from '../../platform/engines/recognise/add-phrases.ts';
import { readGrammar, compileNetwork, shownWord } from '../../platform/engines/recognise/grammar.ts';

/**
 * The words of a caller's lines that a recogniser with a closed vocabulary cannot hear, in the order in which they are said, each once.
 * @param vocabulary text of its vocabulary file
 * @param learnt phrases that it knows besides
 * @throws VocabularyError
 */
export function unknownWords(vocabulary: string, learnt: readonly string[], lines: readonly string[]): string[] {
  const network = compileNetwork(readGrammar(vocabulary));
  const known = new Set([...network.words.map(shownWord), ...learnt].flatMap((phrase) => phraseWords(phrase.toLowerCase())));
  const unknown = lines
    .map((line) => phraseWords(line.toLowerCase()))
    .filter((words) => !accepts(network, words))
    .flatMap((words) => words.filter((word) => !known.has(word)));
  return [...new Set(unknown)];
}
