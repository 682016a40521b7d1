// espeak-ng (GPL-3.0, optional) runs in this separate process and exchanges only messages with the platform.
import { joinSamples } from '../../../audio/samples.ts';
import { NoVoiceError, type Render, type RenderRequest, renderRequestSchema, serveRequests } from './child-protocol.ts';

/** The part of the package we use; it ships no types. `synthesize` returns when all callbacks have run. */
interface EspeakWorker {
  /** 0 when taken; anything else keeps the old voice. */
  set_voice(identifier: string): number;
  set_rate(wordsPerMinute: number): void;
  set_pitch(pitch: number): void;
  set_range(range: number): void;
  synthesize(ssml: string, onAudio: (pcm: Int16Array | undefined) => boolean): void;
}

const RATE_HZ = 22_050;
const DEFAULT_WORDS_PER_MINUTE = 165;

async function load(): Promise<Render | undefined> {
  let create: () => Promise<{ eSpeakNGWorker: new () => Promise<EspeakWorker> }>;
  try {
    // Through a variable, so that the compiler does not look for the types of an optional package.
    const name: string = '@echogarden/espeak-ng-emscripten';
    ({ default: create } = (await import(name)) as { default: typeof create });
  } catch {
    return undefined;
  }
  const worker = await new (await create()).eSpeakNGWorker();
  // The first synthesis in a language loads its dictionary: load English and Hindi before ready.
  for (const voice of ['en-us', 'hi']) speak(worker, { id: 0, text: 'a', voice, speed: 1, pitch: 50 });
  return (request) => Promise.resolve({ pcm: speak(worker, request), rateHz: RATE_HZ });
}

function speak(worker: EspeakWorker, request: RenderRequest): Int16Array<ArrayBuffer> {
  if (worker.set_voice(request.voice) !== 0) throw new NoVoiceError(`no espeak voice ${request.voice}`);
  worker.set_rate(Math.max(80, Math.min(450, Math.round(DEFAULT_WORDS_PER_MINUTE * request.speed))));
  worker.set_pitch(request.pitch);
  worker.set_range(request.range ?? 50);
  const chunks: Int16Array[] = [];
  worker.synthesize(escapeXml(request.text), (pcm) => {
    // The engine reuses its buffer.
    if (pcm !== undefined) chunks.push(Int16Array.from(pcm));
    return false;
  });
  return joinSamples(chunks);
}

/** espeak reads its input as SSML, always. */
function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

await serveRequests(renderRequestSchema, load);
