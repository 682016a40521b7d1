import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { LEARNING, READY_FOLDER, vocabularyHash } from '../../../../src/platform/engines/recognise/model-cache.ts';

const read = (path: string): string => readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8');

test.each(['en', 'hi'])(
  'the shipped %s model was learnt from this vocabulary by this code (else: npx tsx scripts/learn-models.ts)',
  (language) => {
    const code = createHash('sha256');
    for (const name of LEARNING) code.update(read(`src/platform/engines/recognise/${name}.ts`));
    expect(JSON.parse(read(`config/platform/${READY_FOLDER}/recogniser.${language}.json`))).toEqual({
      vocabulary: vocabularyHash(read(`config/platform/vocabulary.${language}.yaml`)),
      code: code.digest('hex'),
    });
  },
);
