import { mkdirSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

export const MARKS = ' .,!?;:-\u0964';
/** Signs of espeak's phonemes, as published voices have them. */
export const PHONEMES = `_^$${MARKS}abcdefghijklmnopqrstuvwxyz\u00e6\u00e7\u00f0\u014b\u0250\u0251\u0252\u0254\u0259\u025b\u025a\u025c\u0261\u026a\u026b\u0279\u027e\u0280\u0281\u0283\u028a\u028c\u0292\u0294\u02c8\u02cc\u02d0\u03b8\u1d7b`;

/** The folder `espeak-ng-data` of published voices, out of the package of the built-in ones. */
export async function writeEspeakData(folder: string): Promise<void> {
  const script = createRequire(import.meta.url).resolve('@echogarden/espeak-ng-emscripten');
  const home = dirname(script);
  const [source, data] = await Promise.all([readFile(script, 'utf8'), readFile(join(home, 'espeak-ng.data'))]);
  const places = source.matchAll(/filename:"\/usr\/share\/espeak-ng-data\/([^"]+)",start:(\d+),end:(\d+)/gu);
  for (const [, name = '', start = '0', end = '0'] of places) {
    // The dictionaries of all languages are 13 MB.
    if (name.endsWith('_dict') && !['en_dict', 'hi_dict'].includes(name)) continue;
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), data.subarray(Number(start), Number(end)));
  }
}
