import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';

const vocabulary = z.object({ rules: z.record(z.string(), z.string()) });

/** Reads the rules of a recogniser vocabulary; the notation is explained at the top of the file. */
export function readRules(file: URL): Readonly<Record<string, string>> {
  return vocabulary.parse(parse(readFileSync(file, 'utf8'))).rules;
}

/** Every sentence of a rule; of a repetition only its fewest. */
export function expandRule(rules: Readonly<Record<string, string>>, name: string): string[] {
  const lines = (rules[name] ?? '').split('\n').filter((line) => line.trim() !== '');
  const sentences = lines.flatMap((line) => {
    const tokens = line.match(/<[\w-]+>|\{\d+,\d+\}|[()[\]|]|[^\s()[\]|<>{}]+/g) ?? [];
    let at = 0;
    const choices = (close: string | undefined): string[] => {
      let options: string[] = [];
      let sequence: string[] = [''];
      for (; at < tokens.length && tokens[at] !== close; at++) {
        const token = tokens[at]!;
        let words: string[];
        if (token === '|') {
          options.push(...sequence);
          sequence = [''];
          continue;
        }
        if (token === '(' || token === '[') {
          at++;
          words = choices(token === '(' ? ')' : ']');
          if (token === '[') words.push('');
        } else words = token.startsWith('<') ? expandRule(rules, token.slice(1, -1)) : [token.replaceAll('_', ' ')];
        const repeat = /^\{(\d+),/.exec(tokens[at + 1] ?? '');
        if (repeat !== null) {
          at++;
          words = words.map((word) => Array.from({ length: Number(repeat[1]) }, () => word).join(' '));
        }
        sequence = sequence.flatMap((before) => words.map((word) => `${before} ${word}`.trim()));
      }
      options = [...options, ...sequence];
      return options;
    };
    return choices(undefined);
  });
  return [...new Set(sentences)];
}
