import { createRequire } from 'node:module';
import { z } from 'zod';
import { errorText } from '../../../kernel/errors.ts';
import { PocketsphinxError } from '../errors.ts';

/** What Debian calls them; 0.8+5prealpha, whose `ps_seg_iter` takes the decoder alone. */
export const libraryFiles = { decoder: 'libpocketsphinx.so.3', base: 'libsphinxbase.so.3' } as const;

const native = {
  decoder: {
    args: 'void *ps_args()',
    init: 'void *ps_init(void *config)',
    addGrammar: 'int ps_set_jsgf_string(void *ps, const char *name, const char *text)',
    choose: 'int ps_set_search(void *ps, const char *name)',
    start: 'int ps_start_utt(void *ps)',
    process: 'int ps_process_raw(void *ps, const int16_t *data, size_t samples, int noSearch, int fullUtterance)',
    end: 'int ps_end_utt(void *ps)',
    hypothesis: 'const char *ps_get_hyp(void *ps, _Out_ int32_t *score)',
    frames: 'int ps_get_n_frames(void *ps)',
    segments: 'void *ps_seg_iter(void *ps)',
    nextSegment: 'void *ps_seg_next(void *segment)',
    segmentWord: 'const char *ps_seg_word(void *segment)',
    segmentFrames: 'void ps_seg_frames(void *segment, _Out_ int *first, _Out_ int *last)',
  },
  base: { parse: 'void *cmd_ln_parse_r(void *into, void *definitions, int count, const char **words, int strict)' },
} as const;

type Bound<Names extends string> = Readonly<Record<Names, (...values: unknown[]) => unknown>>;
export type Library = Bound<keyof typeof native.decoder | keyof typeof native.base>;

/** What of koffi is used. Its own types are not: it is optional, and Offhook compiles and runs without it. */
interface ForeignLibraries {
  load(file: string): { func(declaration: string): (...values: unknown[]) => unknown };
}
const foreignLibraries = z.custom<ForeignLibraries>(
  (value) => typeof value === 'object' && value !== null && 'load' in value && typeof value.load === 'function',
);

/**
 * Loads Debian's pocketsphinx through koffi.
 * @throws PocketsphinxError naming the package that is missing
 */
export function loadLibrary(files: { readonly decoder: string; readonly base: string } = libraryFiles): Library {
  let koffi: ForeignLibraries;
  try {
    koffi = foreignLibraries.parse(createRequire(import.meta.url)('koffi'));
  } catch (error) {
    throw new PocketsphinxError('pocketsphinx needs the optional package koffi: npm install koffi', { cause: error });
  }
  const bound = <Names extends string>(file: string, functions: Readonly<Record<Names, string>>): Bound<Names> => {
    const library = koffi.load(file);
    const entries = Object.entries<string>(functions).map(([name, declaration]) => [name, library.func(declaration)]);
    return Object.fromEntries(entries) as Bound<Names>;
  };
  try {
    return { ...bound(files.decoder, native.decoder), ...bound(files.base, native.base) };
  } catch (error) {
    throw new PocketsphinxError(
      `pocketsphinx cannot be loaded; on Debian: apt-get install libpocketsphinx3 (${errorText(error)})`,
      { cause: error },
    );
  }
}
