import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { measurePeaks, type SoundPeaks } from '../../audio/peaks.ts';
import type { RecordingCoder } from '../../audio/recording/recording-coder.ts';
import { readFileParts } from '../../kernel/file-streams.ts';
import { temporaryFolder } from '../../kernel/temporary.ts';
import type { StoredCall } from '../port.ts';
import { type OpenRecording, type Recordings, writePlain } from './recordings.ts';

/** Drawings of recordings that are remembered; the one that was used longest ago is forgotten. */
const MOST_REMEMBERED = 64;

/** Measures recordings for drawing, one at a time, whatever their format; the last ones are remembered. */
export class RecordingPeaks {
  readonly #recordings: Pick<Recordings, 'open'>;
  readonly #coder: Pick<RecordingCoder, 'code'>;
  readonly #workFolder: string;
  readonly #known = new Map<string, Promise<SoundPeaks>>();
  #last: Promise<unknown> = Promise.resolve();

  /** @param workFolder for plain copies of compressed recordings, while they are read */
  constructor(recordings: Pick<Recordings, 'open'>, coder: Pick<RecordingCoder, 'code'>, workFolder: string) {
    this.#recordings = recordings;
    this.#coder = coder;
    this.#workFolder = workFolder;
  }

  /** @returns undefined where the call has no recording @throws WavError, CompressedAudioError, ObjectStoreError */
  async of(call: StoredCall): Promise<SoundPeaks | undefined> {
    const recording = await this.#recordings.open(call);
    if (recording === undefined) return undefined;
    const name = [call.tenantId, call.id, call.keeping.recordingFormat, recording.bytes].join('/');
    const found = this.#known.get(name) ?? this.#inTurn(call, recording);
    this.#known.delete(name);
    this.#known.set(name, found);
    found.catch(() => this.#known.delete(name));
    const [oldest] = this.#known.keys();
    if (this.#known.size > MOST_REMEMBERED && oldest !== undefined) this.#known.delete(oldest);
    return found;
  }

  #inTurn(call: StoredCall, recording: OpenRecording): Promise<SoundPeaks> {
    const measured = this.#last.then(() => this.#measure(call, recording));
    this.#last = measured.catch(() => undefined);
    return measured;
  }

  async #measure({ id, keeping: { recordingFormat: format } }: StoredCall, recording: OpenRecording): Promise<SoundPeaks> {
    if (format === 'wav') return measurePeaks(recording.read(), recording.bytes);
    // Named after the call: an erasure finds it.
    await using folder = await temporaryFolder(this.#workFolder, id);
    const [inputPath, outputPath] = [join(folder.path, `recording.${format}`), join(folder.path, 'recording.wav')];
    await writePlain(recording, inputPath);
    await this.#coder.code({ type: 'restore', format, inputPath, outputPath }, AbortSignal.timeout(120_000));
    return measurePeaks(readFileParts(outputPath), (await stat(outputPath)).size);
  }
}
