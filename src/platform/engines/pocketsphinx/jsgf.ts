import type { Expression, Grammar } from '../recognise/grammar.ts';

/** How a phone is spelt as a word, so that a grammar can name it; no vocabulary's word looks like this. */
export const phoneWord = (phone: string): string => `__${phone}`;

/** The words of a grammar as they are spoken: parts of words that are joined with underscores are apart. */
export function spokenWords(grammar: Grammar): Set<string> {
  const words = new Set<string>();
  const visit = (expression: Expression): void => {
    if (expression.type === 'word') for (const word of expression.word.split('_')) words.add(word);
    else if (expression.type === 'sequence') expression.parts.forEach(visit);
    else if (expression.type === 'choice') expression.options.forEach(visit);
    else if (expression.type === 'repeat') visit(expression.part);
  };
  for (const rule of grammar.rules.values()) visit(rule);
  return words;
}

/**
 * The grammar in JSGF, the form the library reads. JSGF cannot count: repetitions are written out, optional ones nested.
 * What needs a word that has no pronunciation is left out.
 * @param pronounced words of the dictionary
 * @returns undefined when nothing is left that could be said
 */
export function toJsgf(grammar: Grammar, pronounced: ReadonlySet<string>): string | undefined {
  // Rules by number: JSGF does not allow every name that a vocabulary does.
  const numbers = new Map([...grammar.rules.keys()].map((name, index) => [name, index]));
  const possible = new Map<string, string | undefined>();

  const rule = (name: string): string | undefined => {
    if (!possible.has(name)) possible.set(name, written(grammar.rules.get(name)!));
    return possible.get(name) === undefined ? undefined : `<r${numbers.get(name)}>`;
  };

  const written = (expression: Expression): string | undefined => {
    switch (expression.type) {
      case 'word': {
        const parts = expression.word.split('_');
        return parts.every((part) => pronounced.has(part)) ? parts.join(' ') : undefined;
      }
      case 'rule':
        return rule(expression.name);
      case 'sequence': {
        const parts = expression.parts.map(written);
        return parts.includes(undefined) ? undefined : parts.join(' ');
      }
      case 'choice': {
        const options = expression.options.map(written).filter((option) => option !== undefined);
        return options.length === 0 ? undefined : `(${options.join(' | ')})`;
      }
      case 'repeat': {
        const part = written(expression.part);
        if (part === undefined) return expression.min === 0 ? '<NULL>' : undefined;
        let optional = '';
        for (let count = expression.min; count < expression.max; count += 1) optional = `[(${part}) ${optional}]`;
        return `${`(${part}) `.repeat(expression.min)}${optional}`.trim();
      }
    }
  };

  const start = rule(grammar.start);
  if (start === undefined) return undefined;
  const rules = [...possible].flatMap(([name, text]) => (text === undefined ? [] : [`<r${numbers.get(name)}> = ${text};`]));
  return ['#JSGF V1.0;', 'grammar vocabulary;', ...rules, `public <start> = ${start};`, ''].join('\n');
}

/** Any sounds of the language in any order: what speech is compared with that may be outside the vocabulary. */
export function phoneLoop(phones: readonly string[]): string {
  return ['#JSGF V1.0;', 'grammar phones;', `public <start> = (${phones.map(phoneWord).join(' | ')})+;`, ''].join('\n');
}
