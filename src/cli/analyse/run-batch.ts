import { existsSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import type { Clock, Timer } from '../../kernel/clock.ts';
import { errorText, OffhookError } from '../../kernel/errors.ts';
import { writeFileAtomic } from '../../kernel/temporary.ts';
import { analyseRecording, type AnalyseRecordingParts } from '../../records/analysis/analyse-recording.ts';
import type { RecordingAnalysis } from '../../records/analysis/document.ts';
import {
  type LocalRecording,
  MOST_RECORDING_BYTES,
  RecordingFetcher,
  type RecordingFetcherOptions,
} from '../../records/submissions/recording-fetcher.ts';
import { SpeechAuthError } from '../../speech/client/errors.ts';
import { bar } from '../shell/progress.ts';
import { type BrokenItem, isBroken, type Item, placeName } from './items.ts';
import type { Manifest } from './output-folder.ts';
import type { S3Source } from './s3-source.ts';

export interface BatchFailure {
  readonly name: string;
  /** The error's stable code, if it has one. */
  readonly code: string | undefined;
  readonly reason: string;
  /** Whether a retry may work. */
  readonly retryable: boolean;
}

export interface BatchParts extends AnalyseRecordingParts {
  readonly fetcher: ItemFetcher;
  readonly manifest: Manifest;
  /** Distinguishes results of different profiles. */
  readonly profileKey: string;
  readonly outFolder: string;
  readonly concurrency: number;
  /** Wall time, for recordings of unknown age. */
  readonly nowMs: () => number;
  /** Called after each document was written. */
  readonly onDone?: (document: RecordingAnalysis, resultPath: string) => Promise<void>;
}

/** One run over items. Each result is on disk at once, so that a repeated run continues where a stopped one ended. */
export class Batch {
  readonly #parts: BatchParts;
  readonly #results = new Set<string>();
  readonly #failed: BatchFailure[] = [];
  readonly #problems: { readonly name: string; readonly problem: string }[] = [];
  /** Contents in progress, so that two copies of one recording are sent once. */
  readonly #running = new Map<string, Promise<void>>();
  #done = 0;
  #skipped = 0;
  #total: number | undefined;
  #fatal: Error | undefined;

  constructor(parts: BatchParts) {
    this.#parts = parts;
  }

  get counts(): BatchCounts {
    return { done: this.#done, skipped: this.#skipped, failed: this.#failed.length, total: this.#total };
  }

  get failed(): readonly BatchFailure[] {
    return this.#failed;
  }

  /** Problems of recordings that were analysed nevertheless. */
  get problems(): readonly { readonly name: string; readonly problem: string }[] {
    return this.#problems;
  }

  /** Paths of the documents of this run and of skipped recordings. */
  get results(): readonly string[] {
    return [...this.#results];
  }

  /**
   * Analyses the items, several at once. A failure of one is recorded and the others go on.
   * @throws SpeechAuthError, which would concern every recording; the signal's reason when aborted
   */
  async run(items: readonly (Item | BrokenItem)[], signal: AbortSignal): Promise<void> {
    this.#total = (this.#total ?? 0) + items.length;
    const left = items.values();
    const work = async (): Promise<void> => {
      for (const item of left) {
        if (signal.aborted || this.#fatal !== undefined) return;
        await this.#one(item, signal);
      }
    };
    await Promise.all(Array.from({ length: Math.min(this.#parts.concurrency, items.length) }, work));
    signal.throwIfAborted();
    if (this.#fatal !== undefined) throw this.#fatal;
  }

  async #one(item: Item | BrokenItem, signal: AbortSignal): Promise<void> {
    if (isBroken(item)) {
      this.#failed.push({ name: item.name, code: undefined, reason: item.reason, retryable: false });
      return;
    }
    try {
      const { manifest, profileKey } = this.#parts;
      const known = manifest.byPlace(placeName(item), item.version, profileKey);
      if (known !== undefined && this.#isThere(known.result)) this.#skip(known.result);
      else await this.#fetchAndAnalyse(item, signal);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof SpeechAuthError) this.#fatal = error;
      const isOurs = error instanceof OffhookError;
      this.#failed.push({
        name: item.name,
        code: isOurs ? error.code : undefined,
        reason: errorText(error),
        retryable: !isOurs || error.retryable,
      });
    }
  }

  async #fetchAndAnalyse(item: Item, signal: AbortSignal): Promise<void> {
    const { fetcher, manifest, profileKey } = this.#parts;
    await using local = await fetcher.fetch(item, signal);
    // Waits for another item with the same content; a loop, since two may have waited.
    for (let other = this.#running.get(local.sha256); other !== undefined; other = this.#running.get(local.sha256))
      await other.catch(() => undefined);
    const known = manifest.byContent(local.sha256, profileKey);
    if (known !== undefined && this.#isThere(known.result)) {
      const { version } = item;
      await manifest.add({ ...known, place: placeName(item), ...(version === undefined ? {} : { version }) });
      this.#skip(known.result);
      return;
    }
    const run = this.#analyse(item, local, signal);
    this.#running.set(local.sha256, run);
    try {
      await run;
    } finally {
      this.#running.delete(local.sha256);
    }
  }

  async #analyse(
    item: Item,
    { path, sha256, bytes }: { readonly path: string; readonly sha256: string; readonly bytes: number },
    signal: AbortSignal,
  ): Promise<void> {
    const { manifest, profileKey, outFolder, nowMs, onDone } = this.#parts;
    const { name, version, metadata, recordedAtMs = nowMs() } = item;
    const document = await analyseRecording(this.#parts, { path, name, sha256, bytes, recordedAtMs, metadata }, signal);
    const result = `${resultStem(item, sha256)}.${profileKey}.json`;
    await writeFileAtomic(join(outFolder, result), `${JSON.stringify(document, null, 2)}\n`);
    await onDone?.(document, join(outFolder, result));
    this.#problems.push(...document.problems.map((problem) => ({ name, problem })));
    const place = placeName(item);
    await manifest.add({ sha256, profile: profileKey, place, ...(version === undefined ? {} : { version }), result });
    this.#done += 1;
    this.#results.add(join(outFolder, result));
  }

  /** Whether the document still exists; a deleted one is made again. */
  #isThere(result: string): boolean {
    return existsSync(join(this.#parts.outFolder, result));
  }

  #skip(result: string): void {
    this.#skipped += 1;
    this.#results.add(join(this.#parts.outFolder, result));
  }
}

/** The recording's name, made safe, with a part of its content's hash to make it unique. */
function resultStem({ place }: Item, sha256: string): string {
  const path = place.kind === 'file' ? place.path : place.kind === 's3' ? place.key : new URL(place.url).pathname;
  const name = basename(path, extname(path))
    .normalize('NFC')
    .replaceAll(/[^\p{L}\p{M}\p{N}._-]+/gu, '_')
    .slice(0, 80);
  return `${name === '' ? 'recording' : name}.${sha256.slice(0, 12)}`;
}

export interface BatchCounts {
  readonly done: number;
  readonly skipped: number;
  readonly failed: number;
  /** Undefined while it is still being found out. */
  readonly total: number | undefined;
}

const TERMINAL_MS = 500;
const LOG_MS = 10_000;
/** The rate is that of the last minutes, not of a slow start. */
const WINDOW_MS = 120_000;

/** Tells of a batch on stderr: one line drawn over and over on a terminal, else a line every ten seconds. */
export class BatchProgress implements Disposable {
  readonly #stream: Pick<NodeJS.WriteStream, 'isTTY' | 'write'>;
  readonly #clock: Clock;
  readonly #counts: () => BatchCounts;
  readonly #samples: { readonly atMs: number; readonly done: number }[] = [];
  #timer: Timer | undefined;

  constructor(clock: Clock, counts: () => BatchCounts, stream: Pick<NodeJS.WriteStream, 'isTTY' | 'write'> = process.stderr) {
    this.#stream = stream;
    this.#clock = clock;
    this.#counts = counts;
    this.#tick();
  }

  [Symbol.dispose](): void {
    this.#timer?.cancel();
    if (this.#stream.isTTY) this.#stream.write('\r\u001B[2K');
  }

  #tick(): void {
    const counts = this.#counts();
    const nowMs = this.#clock.nowMs();
    const latest = { atMs: nowMs, done: counts.done + counts.failed };
    this.#samples.push(latest);
    while (this.#samples.length > 2 && nowMs - (this.#samples[0] ?? latest).atMs > WINDOW_MS) this.#samples.shift();
    const [first = latest] = this.#samples;
    const minutes = (nowMs - first.atMs) / 60_000;
    const perMinute = minutes === 0 ? 0 : (counts.done + counts.failed - first.done) / minutes;
    const line = progressLine(counts, perMinute);
    if (this.#stream.isTTY) this.#stream.write(`\r\u001B[2K${line}`);
    else if (minutes > 0) this.#stream.write(`${line}\n`);
    this.#timer = this.#clock.after(this.#stream.isTTY ? TERMINAL_MS : LOG_MS, () => this.#tick());
  }
}

/** `[####....]  25 % 250 of 1000, 3 failed, 12.5 a minute, 1 h 0 min left` */
export function progressLine({ done, skipped, failed, total }: BatchCounts, perMinute: number): string {
  const finished = done + skipped + failed;
  const parts = [
    total === undefined ? `${finished}` : `${finished} of ${total}`,
    ...(skipped === 0 ? [] : [`${skipped} skipped`]),
    ...(failed === 0 ? [] : [`${failed} failed`]),
    ...(perMinute === 0 ? [] : [`${perMinute < 10 ? perMinute.toFixed(1) : Math.round(perMinute)} a minute`]),
    ...(perMinute === 0 || total === undefined ? [] : [`${spell((total - finished) / perMinute)} left`]),
  ];
  return `${bar(total === undefined || total === 0 ? undefined : finished / total)}${parts.join(', ')}`;
}

function spell(minutes: number): string {
  if (minutes < 1.5) return `${Math.max(0, Math.round(minutes * 60))} s`;
  if (minutes < 90) return `${Math.round(minutes)} min`;
  return `${Math.floor(minutes / 60)} h ${Math.round(minutes % 60)} min`;
}

export interface ItemFetcherOptions extends RecordingFetcherOptions {
  readonly s3: S3Source;
  /** Folder for fetched copies. */
  readonly workFolder: string;
}

/** Fetches recordings: local files in place, others as a copy on this disk, URLs only from public hosts. */
export class ItemFetcher {
  readonly #options: ItemFetcherOptions;
  readonly #recordings: RecordingFetcher;

  constructor(options: ItemFetcherOptions) {
    this.#options = options;
    this.#recordings = new RecordingFetcher(options);
  }

  /** @throws RecordingFetchError, RecordingRefusedError; the signal's reason when aborted */
  async fetch({ place, name }: Item, signal: AbortSignal): Promise<LocalRecording> {
    const { s3, workFolder } = this.#options;
    switch (place.kind) {
      case 'file':
        return this.#recordings.fromFile(place.path, signal);
      case 'url':
        return this.#recordings.fromUrl(place.url, workFolder, signal);
      case 's3':
        return this.#recordings.copied(name, workFolder, signal, (path) =>
          s3.download(place, path, MOST_RECORDING_BYTES, signal),
        );
    }
  }
}
