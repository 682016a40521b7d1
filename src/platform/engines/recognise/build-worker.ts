import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { workerData } from 'node:worker_threads';
import { z } from 'zod';
import { buildModel } from './build-model.ts';
import { readGrammar } from './grammar.ts';
import { encodeModel } from './model-file.ts';

// A thread that learns one language and leaves the model on disk, whole or not at all.
const { vocabularyFile, modelFile } = z.object({ vocabularyFile: z.string(), modelFile: z.string() }).parse(workerData);
const model = await buildModel(readGrammar(await readFile(vocabularyFile, 'utf8')));
const unfinished = `${modelFile}.${randomBytes(6).toString('hex')}`;
await writeFile(unfinished, encodeModel(model));
await rename(unfinished, modelFile);
