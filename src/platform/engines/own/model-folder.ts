import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { errorText } from '../../../kernel/errors.ts';
import { languages } from '../../languages.ts';
import { OwnModelError } from '../errors.ts';

/** A streaming transducer for one language; paths. */
export interface RecognitionFiles {
  readonly language: string;
  readonly encoder: string;
  readonly decoder: string;
  readonly joiner: string;
  readonly tokens: string;
}

const parts = { encoder: '.onnx', decoder: '.onnx', joiner: '.onnx', tokens: '.txt' } as const;

/**
 * Finds the recognition models of a folder: one folder a language in `recognition/`, named by its code, with four files
 * whose names begin with encoder, decoder, joiner (.onnx) and tokens (.txt), as the models are published.
 * @throws OwnModelError when the folder cannot be read, names no language of ours, or lacks a file
 */
export async function findRecognitionModels(modelsFolder: string): Promise<RecognitionFiles[]> {
  const folder = join(modelsFolder, 'recognition');
  const names = await listed(folder);
  if (names.length === 0) throw new OwnModelError(`no models: ${folder} is empty`);
  return Promise.all(
    names.map(async (language) => {
      if (!languages.some(({ code }) => code === language)) {
        throw new OwnModelError(`${join(folder, language)}: the folder's name is not the code of a language`);
      }
      const files = await listed(join(folder, language));
      const find = (part: keyof typeof parts): string => {
        const fitting = files.filter((file) => file.startsWith(part) && file.endsWith(parts[part]));
        // The smaller variant is published beside the full one; it is the one for a processor.
        const file = fitting.find((name) => name.includes('int8')) ?? fitting[0];
        if (file === undefined) throw new OwnModelError(`${join(folder, language)}: no ${part}*${parts[part]}`);
        return join(folder, language, file);
      };
      return { language, encoder: find('encoder'), decoder: find('decoder'), joiner: find('joiner'), tokens: find('tokens') };
    }),
  );
}

async function listed(folder: string): Promise<string[]> {
  try {
    const names = await readdir(folder);
    return names.filter((name) => !name.startsWith('.')).toSorted();
  } catch (error) {
    throw new OwnModelError(`the folder of models cannot be read: ${errorText(error)}`, { cause: error });
  }
}
