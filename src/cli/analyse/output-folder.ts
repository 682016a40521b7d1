import { type FileHandle, mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { hasCode } from '../../kernel/errors.ts';
import { pourIntoFile } from '../../kernel/file-streams.ts';
import { isRunning } from '../../kernel/process-identity.ts';
import { writeFileAtomic } from '../../kernel/temporary.ts';
import { type RecordingAnalysis, recordingAnalysis } from '../../records/analysis/document.ts';
import { csvLines, tableColumns, tableRow } from '../../records/analysis/table.ts';
import { UsageError } from '../shell/output.ts';
import { type Cue, cuesOf, srtOf, vttOf } from '../shell/subtitles.ts';

const LOCK = '.lock';
const WORK = '.work';

/** The folder of results, locked for one run, with a work folder for temporary files. */
export class OutputFolder implements AsyncDisposable {
  readonly path: string;
  readonly workFolder: string;

  private constructor(path: string) {
    this.path = path;
    this.workFolder = join(path, WORK);
  }

  /** Makes and locks it, and removes leftovers of a killed run. @throws UsageError while another run has it */
  static async open(path: string): Promise<OutputFolder> {
    await mkdir(path, { recursive: true });
    const folder = new OutputFolder(path);
    await folder.#lock();
    await rm(folder.workFolder, { recursive: true, force: true });
    await mkdir(folder.workFolder, { mode: 0o700 });
    for (const name of await readdir(path)) if (name.endsWith('.tmp')) await rm(join(path, name), { force: true });
    return folder;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.workFolder, { recursive: true, force: true });
    await rm(join(this.path, LOCK), { force: true });
  }

  async #lock(): Promise<void> {
    const path = join(this.path, LOCK);
    const take = (): Promise<void> => writeFile(path, String(process.pid), { flag: 'wx' });
    try {
      await take();
    } catch {
      const holder = Number(await readFile(path, 'utf8').catch(() => ''));
      if (holder !== process.pid && isRunning(holder))
        throw new UsageError(`process ${holder} is writing to ${this.path}; wait for it, or choose another --out`);
      await rm(path, { force: true });
      await take();
    }
  }
}

const entrySchema = z.object({
  sha256: z.string(),
  /** Name and hash of the profile, as `profileKey` has them. */
  profile: z.string(),
  /** The recording's place, see `placeName`. */
  place: z.string(),
  version: z.string().optional(),
  /** File name of the document, in the same folder. */
  result: z.string(),
});
export type ManifestEntry = z.infer<typeof entrySchema>;

/** The file's name, in the folder of results. */
export const MANIFEST = 'manifest.jsonl';

/**
 * The finished recordings of a folder of results, one line each, flushed at once. A killed run leaves at most one truncated line,
 * which is ignored; its recording is analysed again.
 */
export class Manifest implements AsyncDisposable {
  readonly #file: FileHandle;
  readonly #byContent = new Map<string, ManifestEntry>();
  readonly #byPlace = new Map<string, ManifestEntry>();

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  static async open(folder: string): Promise<Manifest> {
    const path = join(folder, MANIFEST);
    // An unreadable manifest is an error: everything would be analysed, and charged, again.
    const text = await readFile(path, 'utf8').catch((error: unknown) => {
      if (hasCode(error, 'ENOENT')) return '';
      throw error;
    });
    const file = await open(path, 'a', 0o600);
    const manifest = new Manifest(file);
    for (const line of text.split('\n')) {
      const entry = readEntry(line);
      if (entry !== undefined) manifest.#remember(entry);
    }
    // Ends the truncated line of a killed run.
    if (text !== '' && !text.endsWith('\n')) await file.appendFile('\n');
    return manifest;
  }

  /** By content and profile, whatever the recording's name. */
  byContent(sha256: string, profile: string): ManifestEntry | undefined {
    return this.#byContent.get(contentKey(sha256, profile));
  }

  /** By place, version and profile, without reading the recording. */
  byPlace(place: string, version: string | undefined, profile: string): ManifestEntry | undefined {
    const entry = this.#byPlace.get(JSON.stringify([place, profile]));
    return entry !== undefined && entry.version === version ? entry : undefined;
  }

  /** Durable when it returns. */
  async add(entry: ManifestEntry): Promise<void> {
    await this.#file.appendFile(`${JSON.stringify(entry)}\n`);
    await this.#file.datasync();
    this.#remember(entry);
  }

  /** Entries of one profile, oldest first. */
  entries(profile: string): ManifestEntry[] {
    return [...this.#byContent.values()].filter((entry) => entry.profile === profile);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.close();
  }

  #remember(entry: ManifestEntry): void {
    const key = contentKey(entry.sha256, entry.profile);
    if (!this.#byContent.has(key)) this.#byContent.set(key, entry);
    this.#byPlace.set(JSON.stringify([entry.place, entry.profile]), entry);
  }
}

function contentKey(sha256: string, profile: string): string {
  return `${sha256} ${profile}`;
}

function readEntry(line: string): ManifestEntry | undefined {
  try {
    return entrySchema.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}

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
