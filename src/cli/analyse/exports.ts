import { readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { type RecordingAnalysis, recordingAnalysis } from '../../records/analysis/document.ts';
import { csvLines, tableColumns, tableRow } from '../../records/analysis/table.ts';
import { writeFileAtomic } from '../../kernel/temporary.ts';
import { pourIntoFile } from '../../kernel/file-streams.ts';
import { type Cue, cuesOf, srtOf, vttOf } from '../shell/subtitles.ts';

export const EXPORTS = ['csv', 'jsonl', 'srt', 'vtt'] as const;
export type ExportFormat = (typeof EXPORTS)[number];

/** Writes subtitles beside a document. */
export async function writeSubtitles(
  document: RecordingAnalysis,
  resultPath: string,
  formats: readonly ExportFormat[],
): Promise<void> {
  const cues = subtitleCues(document);
  const stem = resultPath.replace(/\.json$/u, '');
  if (formats.includes('srt')) await writeFileAtomic(`${stem}.srt`, srtOf(cues));
  if (formats.includes('vtt')) await writeFileAtomic(`${stem}.vtt`, vttOf(cues));
}

/** All speakers' cues in order of time, named by role. */
export function subtitleCues({ channels, speakers, durations }: RecordingAnalysis): Cue[] {
  return channels
    .flatMap(({ role, text, segments, words }) => {
      const spoken = segments.map(({ speaker, ...segment }) => {
        const known = speakers.find(({ label }) => label === speaker);
        return { ...EMPTY, ...segment, speaker: known?.name ?? known?.role ?? speaker ?? role };
      });
      return cuesOf({
        text,
        segments: spoken,
        words: words.map((word) => ({ confidence: undefined, ...word })),
        durationS: durations.totalS,
      });
    })
    .sort((left, right) => left.startS - right.startS);
}

const EMPTY = { confidence: undefined, emotion: undefined, emotionConfidence: undefined };

/**
 * Writes all documents of a profile into one file, one at a time, so that their number does not matter.
 * @param results paths, in order
 * @returns the file's path
 */
export async function writeTable(
  folder: string,
  stem: string,
  format: 'csv' | 'jsonl',
  results: readonly string[],
  fields: readonly string[],
): Promise<string> {
  const path = join(folder, `${stem}.${format}`);
  const temporary = `${path}.tmp`;
  await pourIntoFile(format === 'csv' ? csvOf(results, fields) : jsonlOf(results), temporary);
  await rename(temporary, path);
  return path;
}

async function* jsonlOf(results: readonly string[]): AsyncIterable<string> {
  for await (const document of documentsAt(results)) yield `${JSON.stringify(document)}\n`;
}

async function* csvOf(results: readonly string[], fields: readonly string[]): AsyncIterable<string> {
  // The metadata columns are known only after all documents were read.
  const metadata = new Set<string>();
  for await (const { recording } of documentsAt(results)) for (const name of Object.keys(recording.metadata)) metadata.add(name);
  const columns = tableColumns(fields, [...metadata]);
  yield csvLines([columns]);
  for await (const document of documentsAt(results)) yield csvLines([tableRow(document, columns)]);
}

async function* documentsAt(paths: readonly string[]): AsyncIterable<RecordingAnalysis> {
  for (const path of paths) yield recordingAnalysis.parse(JSON.parse(await readFile(path, 'utf8')));
}
