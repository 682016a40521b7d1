import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import {
  VocabularyError,
  readGrammar,
  compileNetwork,
  type WordNetwork,
} from '../../../../src/platform/engines/recognise/grammar.ts';
import { seededRandom } from '../../../../src/audio/tone.ts';
import { sampleUtterances, utteranceText } from '../../../../src/platform/engines/recognise/training-speech.ts';

function yaml(rules: Record<string, string[]>): string {
  return JSON.stringify({
    language: 'en',
    start: 'all',
    rules: Object.fromEntries(Object.entries(rules).map(([name, lines]) => [name, lines.join('\n')])),
  });
}

function network(rules: Record<string, string[]>): WordNetwork {
  return compileNetwork(readGrammar(yaml(rules)));
}

/** Every utterance of a graph without endless paths, up to a length. */
function utterances({ words, arcs, final }: WordNetwork, most = 12): string[] {
  const found: string[] = [];
  const walk = (node: number, said: readonly string[]): void => {
    if (final[node] === true) found.push(said.join(' '));
    if (said.length < most) for (const { word, to } of arcs[node]!) walk(to, [...said, words[word]!]);
  };
  walk(0, []);
  return found.sort();
}

describe('a vocabulary', () => {
  it('unfolds choices, options, rules and repetition', () => {
    const graph = network({
      all: ['at <time> [please]', '<digit>{1,2}'],
      time: ['(half | quarter) past ten'],
      digit: ['one | two'],
    });
    expect(utterances(graph)).toEqual(
      [
        'at half past ten',
        'at half past ten please',
        'at quarter past ten',
        'at quarter past ten please',
        'one',
        'two',
        'one one',
        'one two',
        'two one',
        'two two',
      ].sort(),
    );
  });

  it('keeps joined words as one', () => {
    const graph = network({ all: ['day_after_tomorrow'] });
    expect(graph.words).toEqual(['day_after_tomorrow']);
    expect(utteranceText(graph, [0])).toBe('day after tomorrow');
  });

  it('shares nodes after which the same may be said', () => {
    const graph = network({ all: ['(a | b | c) x y', 'd x y'] });
    expect(graph.arcs).toHaveLength(4);
  });

  test.each([
    ['an unknown rule', { all: ['<nothing>'] }],
    ['a rule that contains itself', { all: ['one <all>'] }],
    ['a bracket that is not closed', { all: ['(one | two'] }],
    ['a bracket that was not opened', { all: ['one ]'] }],
    ['an empty alternative', { all: ['one | '] }],
    ['too many repetitions', { all: ['one{1,900}'] }],
    ['repetition upside down', { all: ['one{3,2}'] }],
    ['a rule without lines', { all: [''] }],
  ])('it refuses %s', (_, rules) => {
    expect(() => readGrammar(yaml(rules))).toThrow(VocabularyError);
  });

  it('never crashes on a line, whatever is written in it', () => {
    const piece = fc.constantFrom('(', ')', '[', ']', '|', '<all>', '<', '>', '{1,2}', '{', 'one', 'two_three', 'हाँ');
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 12 }), (pieces) => {
        try {
          compileNetwork(readGrammar(yaml({ all: [pieces.join(' ')] })));
        } catch (error) {
          expect(error).toBeInstanceOf(VocabularyError);
        }
      }),
    );
  });
});

describe('random utterances', () => {
  it('are always what the grammar allows, and say every word', () => {
    const graph = network({ all: ['at <hour> [o_clock]', '<hour> thirty'], hour: ['one | two | three'] });
    const allowed = new Set(utterances(graph));
    const said = sampleUtterances(graph, 40, seededRandom(3));
    const shown = said.map((words) => words.map((word) => graph.words[word]).join(' '));
    expect(shown.every((text) => allowed.has(text))).toBe(true);
    expect(new Set(said.flat()).size).toBe(graph.words.length);
  });

  it('are the same for the same seed', () => {
    const graph = network({ all: ['<digit>{1,6}'], digit: ['one | two | three'] });
    expect(sampleUtterances(graph, 10, seededRandom(5))).toEqual(sampleUtterances(graph, 10, seededRandom(5)));
  });
});
