import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { measurePeaks, type SoundPeaks } from '../../audio/peaks.ts';
import type { RecordingCoder } from '../../audio/recording/recording-coder.ts';
import { readFileParts } from '../../kernel/file-streams.ts';
import { temporaryFolder } from '../../kernel/temporary.ts';
import type { StoredCall } from '../port.ts';
import { type OpenRecording, type Recordings, writePlain } from './recordings.ts';
import { readWavLayout, wavHeader } from '../../audio/wav.ts';

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

/** As much of a WAV file as has everything before its samples. */
const HEAD_BYTES = 4_096;
const BYTES_PER_FRAME = 4;
const RESTORE_LIMIT_MS = 120_000;

/** Cuts messages out of calls' recordings, which alone have their sound: they are sealed, kept and erased with them. */
export class VoicemailSounds {
  readonly #recordings: Pick<Recordings, 'open'>;
  readonly #coder: Pick<RecordingCoder, 'code'>;
  readonly #workFolder: string;

  /** @param workFolder for plain copies of compressed recordings, while they are read */
  constructor(recordings: Pick<Recordings, 'open'>, coder: Pick<RecordingCoder, 'code'>, workFolder: string) {
    this.#recordings = recordings;
    this.#coder = coder;
    this.#workFolder = workFolder;
  }

  /**
   * The caller's side of the message left in a turn, as a mono WAV.
   * @returns undefined without a message, or without its sound
   * @throws WavError, CompressedAudioError, ObjectStoreError
   */
  async of(call: StoredCall, turn: number): Promise<Uint8Array | undefined> {
    const interval = call.voicemails?.find((voicemail) => voicemail.turn === turn)?.recorded;
    const recording = interval === undefined ? undefined : await this.#recordings.open(call);
    if (interval === undefined || recording === undefined) return undefined;
    const { recordingFormat: format } = call.keeping;
    if (format === 'wav') return cut(recording, interval);
    // Named after the call: an erasure finds it.
    await using folder = await temporaryFolder(this.#workFolder, call.id);
    const [inputPath, outputPath] = [join(folder.path, `recording.${format}`), join(folder.path, 'recording.wav')];
    await writePlain(recording, inputPath);
    await this.#coder.code({ type: 'restore', format, inputPath, outputPath }, AbortSignal.timeout(RESTORE_LIMIT_MS));
    const { size } = await stat(outputPath);
    return cut({ bytes: size, read: (start = 0, end = size) => readFileParts(outputPath, { start, end }) }, interval);
  }
}

/** The left channel of a part of a stereo recording. */
async function cut(
  recording: OpenRecording,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Promise<Uint8Array> {
  const { bytes } = recording;
  const head = await joined(recording.read(0, Math.min(bytes, HEAD_BYTES)));
  const { rateHz, dataOffset } = readWavLayout(head, bytes);
  const byteAt = (atMs: number): number =>
    Math.min(bytes, dataOffset + Math.max(0, Math.round((atMs * rateHz) / 1000)) * BYTES_PER_FRAME);
  const stereo = await joined(recording.read(byteAt(fromMs), byteAt(toMs)));
  const frames = Math.floor(stereo.length / BYTES_PER_FRAME);
  const mono = Buffer.alloc(frames * 2);
  for (let frame = 0; frame < frames; frame += 1) {
    mono[2 * frame] = stereo[BYTES_PER_FRAME * frame] ?? 0;
    mono[2 * frame + 1] = stereo[BYTES_PER_FRAME * frame + 1] ?? 0;
  }
  return Buffer.concat([wavHeader({ rateHz, channels: 1, dataBytes: mono.length, encoding: 'pcm16' }), mono]);
}

async function joined(parts: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const all: Uint8Array[] = [];
  for await (const part of parts) all.push(part);
  return Buffer.concat(all);
}
