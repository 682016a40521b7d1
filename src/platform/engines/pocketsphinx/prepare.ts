import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { errorText } from '../../../kernel/errors.ts';
import type { Logger } from '../../../observability/logger.ts';
import { PocketsphinxError } from '../errors.ts';
import { readGrammar } from '../recognise/grammar.ts';
import { dictionaryOf } from './dictionary.ts';
import { phoneLoop, spokenWords, toJsgf } from './jsgf.ts';

/** Where Debian's pocketsphinx-en-us puts the model of US English. */
export const debianModels = '/usr/share/pocketsphinx/model/en-us';

/** What the thread is started with: paths of the model and of its dictionary, and two grammars in JSGF. */
export const decoderDataSchema = z.object({
  model: z.string(),
  dictionary: z.string(),
  vocabulary: z.string(),
  phones: z.string(),
});
export type DecoderData = z.infer<typeof decoderDataSchema>;

/**
 * Puts the English vocabulary into the library's forms; the dictionary goes to the cache folder.
 * @throws PocketsphinxError when the model is not there, or has none of the vocabulary's words
 */
export async function prepareVocabulary(options: {
  readonly modelsFolder: string;
  readonly vocabularyFolder: string;
  readonly cacheFolder: string;
  readonly logger: Logger;
}): Promise<DecoderData> {
  const { modelsFolder, vocabularyFolder, cacheFolder, logger } = options;
  const whole = await readFile(join(modelsFolder, 'cmudict-en-us.dict'), 'utf8').catch((error: unknown) => {
    const why = errorText(error);
    throw new PocketsphinxError(`pocketsphinx has no model; on Debian: apt-get install pocketsphinx-en-us (${why})`, {
      cause: error,
    });
  });
  const grammar = readGrammar(await readFile(join(vocabularyFolder, 'vocabulary.en.yaml'), 'utf8'));
  const words = spokenWords(grammar);
  const { text, words: pronounced, phones } = dictionaryOf(whole, words);
  const vocabulary = toJsgf(grammar, pronounced);
  if (vocabulary === undefined) throw new PocketsphinxError('pocketsphinx knows the words of no sentence of the vocabulary');
  const unknown = [...words].filter((word) => !pronounced.has(word));
  if (unknown.length > 0) logger.warn({ words: unknown }, 'words of the vocabulary that pocketsphinx has no pronunciation for');
  await mkdir(cacheFolder, { recursive: true });
  const dictionary = join(cacheFolder, 'pocketsphinx.en.dict');
  // Another process may be reading it.
  const draft = `${dictionary}.${process.pid}`;
  await writeFile(draft, text);
  await rename(draft, dictionary);
  return { model: join(modelsFolder, 'en-us'), dictionary, vocabulary, phones: phoneLoop(phones) };
}
