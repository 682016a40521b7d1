// Learns the shipped vocabularies and leaves the models ready beside them, so that a first start need not. Run it after a
// change to a vocabulary or to the code that learns: `npx tsx scripts/learn-models.ts`.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { LEARNING, learnModel, READY_FOLDER, vocabularyHash } from '../src/platform/engines/recognise/model-cache.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = `${root}config/platform`;
const code = createHash('sha256');
for (const name of LEARNING) code.update(readFileSync(`${root}src/platform/engines/recognise/${name}.ts`));
const codeHash = code.digest('hex');
mkdirSync(`${folder}/${READY_FOLDER}`, { recursive: true });
for (const language of ['en', 'hi']) {
  const vocabularyFile = `${folder}/vocabulary.${language}.yaml`;
  const base = `${folder}/${READY_FOLDER}/recogniser.${language}`;
  const startedMs = performance.now();
  await learnModel(vocabularyFile, `${base}.model`);
  const facts = { vocabulary: vocabularyHash(readFileSync(vocabularyFile, 'utf8')), code: codeHash };
  writeFileSync(`${base}.json`, `${JSON.stringify(facts, null, 2)}\n`);
  process.stdout.write(`${language}: learnt in ${((performance.now() - startedMs) / 1000).toFixed(1)} s\n`);
}
