import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { readConfiguration } from './configuration.ts';

const vocabulary = z.looseObject({ rules: z.record(z.string(), z.string()) });
const MOST_EXAMPLES = 14;

/** Phrases that the embedded recogniser hears as they stand, from its vocabulary file; empty when there is none. */
export function audibleExamples(language: string): readonly string[] {
  const { config } = readConfiguration();
  try {
    const path = join(config.settings.platform.vocabularyFolder, `vocabulary.${language}.yaml`);
    const { rules } = vocabulary.parse(parse(readFileSync(path, 'utf8')));
    const lines = ['request', 'answer', 'command'].flatMap((rule) => (rules[rule] ?? '').split('\n'));
    return lines
      .map((line) => line.trim())
      .filter((line) => line !== '' && !/[<>()[\]{}|]/u.test(line))
      .map((line) => line.replaceAll('_', ' '))
      .slice(0, MOST_EXAMPLES);
  } catch {
    return [];
  }
}
