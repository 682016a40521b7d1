import { activeLevelDb, amplify, peakLevel } from '../../../audio/level.ts';
import type { SynthesisChunk } from './port.ts';

/** Longest sentence; a longer one is cut at a comma or a space. */
const MAX_CHARS = 240;
/** After a danda or a line break, and after other marks followed by white space (not in "3.5" and "a.m"). */
const SENTENCE_END = /(?<=[.!?؟۔]['"”’)]?)\s+|(?<=[।॥])|\n+/u;

/**
 * Splits text into sentences (Latin and Indic marks, line breaks), so that speech starts after the first one. Only white space is lost;
 * no piece is empty.
 */
export function sentences(text: string, maxChars = MAX_CHARS): string[] {
  return text
    .split(SENTENCE_END)
    .flatMap((sentence) => cutLong(sentence.trim(), maxChars))
    .filter((sentence) => sentence !== '');
}

/** A first piece this long is worth cutting, so that speech starts sooner; the cut leaves at least some words on each side. */
const MAX_FIRST_CHARS = 60;
const LEAST_CHARS = 12;

/** Cuts the first sentence, if it is long, after its first comma or similar mark. */
export function withShortStart(pieces: readonly string[]): string[] {
  const [first = '', ...rest] = pieces;
  if (first.length <= MAX_FIRST_CHARS) return [...pieces];
  for (const { index } of first.matchAll(/(?<=[,;:\u060c\u2014])\s+/gu)) {
    const pieceOf = [first.slice(0, index), first.slice(index).trim()];
    if (pieceOf.every((piece) => piece.length >= LEAST_CHARS)) return [...pieceOf, ...rest];
  }
  return [...pieces];
}

function cutLong(sentence: string, maxChars: number): string[] {
  const pieces: string[] = [];
  let rest = sentence;
  while (rest.length > maxChars) {
    const window = rest.slice(0, maxChars);
    const comma = Math.max(window.lastIndexOf(', '), window.lastIndexOf('; '), window.lastIndexOf(': ')) + 1;
    const space = window.lastIndexOf(' ');
    const cut = comma > maxChars / 3 ? comma : space > 0 ? space : maxChars;
    pieces.push(rest.slice(0, cut).trim());
    rest = rest.slice(cut).trim();
  }
  return [...pieces, rest];
}

const CHUNK_MS = 100;
const PAUSE_BETWEEN_SENTENCES_MS = 120;
const SPEED = { min: 0.5, max: 2 };

/** The speed an engine is asked for; the rest is done by time stretching. */
export function engineSpeed(asked: number): number {
  return Math.max(SPEED.min, Math.min(SPEED.max, asked));
}

/** Synthesises one sentence, at no particular level. */
type Render = (sentence: string) => Promise<SynthesisChunk>;

/**
 * Speaks a text sentence by sentence, each at `SPEECH_LEVEL_DB`, with pauses in between.
 * @param text its sentences, where they were cut already
 * @param options.together level all sentences together, which waits for the last of them
 * @throws what `render` throws, or the signal's reason
 */
export async function* speakSentences(
  text: string | readonly string[],
  render: Render,
  { together, signal }: { readonly together: boolean; readonly signal: AbortSignal },
): AsyncGenerator<SynthesisChunk, void, undefined> {
  const parts = typeof text === 'string' ? sentences(text) : [...text];
  if (together) {
    yield* asOne(parts, render, signal);
    return;
  }
  const renderNext = (): Promise<SynthesisChunk> | undefined => {
    const part = parts.shift();
    return part === undefined ? undefined : render(part);
  };
  for (let next = renderNext(); next !== undefined;) {
    signal.throwIfAborted();
    const { pcm, rateHz } = await untilAborted(next, signal);
    // One sentence ahead: computed while this one is sent, and no more than that in memory.
    next = renderNext();
    next?.catch(() => undefined);
    yield* chunks(shapeSentence(pcm, rateHz), rateHz, signal);
    if (next !== undefined) yield* chunks(new Int16Array((rateHz * PAUSE_BETWEEN_SENTENCES_MS) / 1000), rateHz, signal);
  }
}

/** All sentences with one gain: a soft one stays softer than a loud one. */
async function* asOne(parts: readonly string[], render: Render, signal: AbortSignal): AsyncGenerator<SynthesisChunk> {
  const made: SynthesisChunk[] = [];
  for (const part of parts) {
    signal.throwIfAborted();
    made.push(await untilAborted(render(part), signal));
  }
  const rateHz = made[0]?.rateHz ?? 1;
  // The least of the sentences' gains, so that no sentence clips.
  const gainDb = Math.min(...made.map(({ pcm }) => (peakLevel(pcm) === 0 ? Infinity : speechGainDb(pcm, rateHz))));
  for (const [index, { pcm }] of made.entries()) {
    if (index > 0) yield* chunks(new Int16Array((rateHz * PAUSE_BETWEEN_SENTENCES_MS) / 1000), rateHz, signal);
    yield* chunks(shapeSentence(pcm, rateHz, Number.isFinite(gainDb) ? gainDb : 0), rateHz, signal);
  }
}

function* chunks(pcm: Int16Array, rateHz: number, signal: AbortSignal): Generator<SynthesisChunk, void, undefined> {
  const size = Math.round((rateHz * CHUNK_MS) / 1000);
  for (let at = 0; at < pcm.length; at += size) {
    signal.throwIfAborted();
    yield { pcm: pcm.slice(at, at + size), rateHz };
  }
}

/** Rejects when the signal aborts; the computation goes on for some milliseconds and its result is dropped. */
function untilAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** Level of speech from every engine and voice: the usual level of telephone speech. */
export const SPEECH_LEVEL_DB = -20;
/** Below full scale, with headroom for resampling. */
const MAX_PEAK = 29_000;
const FADE_MS = 5;

/** The gain to `SPEECH_LEVEL_DB`, or as near as the peaks allow. */
function speechGainDb(pcm: Int16Array, rateHz: number): number {
  const peak = peakLevel(pcm);
  if (peak === 0) return 0;
  return Math.min(SPEECH_LEVEL_DB - activeLevelDb(pcm, rateHz), 20 * Math.log10(MAX_PEAK / peak));
}

/** Amplifies a sentence by `gainDb` and fades both ends, so that neither the start nor a join clicks. */
export function shapeSentence(pcm: Int16Array, rateHz: number, gainDb = speechGainDb(pcm, rateHz)): Int16Array {
  const shaped = amplify(pcm, gainDb);
  const fade = Math.min(shaped.length >> 1, Math.round((rateHz * FADE_MS) / 1000));
  for (let index = 0; index < fade; index += 1) {
    const gain = index / fade;
    const last = shaped.length - 1 - index;
    shaped[index] = Math.round((shaped[index] ?? 0) * gain);
    shaped[last] = Math.round((shaped[last] ?? 0) * gain);
  }
  return shaped;
}
