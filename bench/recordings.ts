// Recordings of people, which are not a part of the project: ../shared/audio/human, or the folder that a benchmark is given.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { activeLevelDb, amplify, rmsLevelDb } from '../src/audio/level.ts';
import { resample } from '../src/audio/resample.ts';
import { parseWav } from '../src/audio/wav.ts';

export const HUMAN_FOLDER = new URL('../../shared/audio/human', import.meta.url).pathname;

export interface Clip {
  readonly name: string;
  readonly text: string;
  /** Who speaks; empty where the manifest does not say. */
  readonly who: string;
  /** At 8 kHz. */
  readonly pcm: Int16Array;
}

/**
 * Reads a folder of WAV files, each with its text beside it (name.txt), or a manifest.csv whose first columns are file, text and speaker.
 * @param levelDb active level of the clips
 * @returns the clips by name; none without the folder
 */
export function readClips(folder: string, levelDb: number): readonly Clip[] {
  if (!existsSync(folder)) return [];
  const manifest = join(folder, 'manifest.csv');
  const rows = existsSync(manifest) ? readFileSync(manifest, 'utf8').split('\n').slice(1).map(fieldsOf) : [];
  const listed = new Map(rows.map(([file = '', text = '', who = '']) => [file, { text, who }]));
  return readdirSync(folder)
    .filter((name) => name.endsWith('.wav'))
    .toSorted()
    .map((name) => {
      const { samples, rateHz } = parseWav(readFileSync(join(folder, name)));
      const narrow = resample(samples[0] ?? new Int16Array(), rateHz, 8_000);
      const beside = join(folder, name.replace(/\.wav$/u, '.txt'));
      const { text = '', who = '' } = listed.get(name) ?? {};
      return {
        name,
        text: existsSync(beside) ? readFileSync(beside, 'utf8').trim() : text,
        who,
        pcm: amplify(narrow, levelDb - activeLevelDb(narrow, 8_000)),
      };
    });
}

function fieldsOf(line: string): readonly string[] {
  return Array.from(line.matchAll(/("((?:[^"]|"")*)"|[^,]*)(,|$)/gu), ([, whole = '', quoted]) =>
    (quoted?.replaceAll('""', '"') ?? whole).trim(),
  );
}

/** Sound begins where it reaches this level for one step: a room is heard before its speaker. */
export function fromFirstSound(pcm: Int16Array, levelDb: number, stepMs: number): Int16Array {
  const samples = stepMs * 8;
  for (let at = 0; at + samples <= pcm.length; at += 8)
    if (rmsLevelDb(pcm.subarray(at, at + samples)) > levelDb) return pcm.slice(at);
  return pcm;
}
