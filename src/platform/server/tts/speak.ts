import { joinSamples } from '../../../audio/samples.ts';
import { Resampler } from '../../../audio/resample.ts';
import type { Clock, Timer } from '../../../kernel/clock.ts';
import type { Backdrop } from '../../engines/background/backdrop.ts';
import { SynthesisRefusedError, type SynthesisChunk, type SynthesisEngine } from '../../engines/synth/port.ts';
import { LatexError, type LatexReader } from '../../engines/latex/latex-reader.ts';
import { setImmediate } from 'node:timers/promises';
import { Refusal } from '../listener/refusal.ts';
import { qualityFacts } from './encode-speech.ts';
import { backdropOf, referenceLikeness } from './speech-attachments.ts';
import type { SpeechRequest } from './speech-request.ts';
import { engineSpeed, TimeStretch } from './time-stretch.ts';

export interface SpeakOptions {
  readonly engine: SynthesisEngine;
  readonly latex: LatexReader;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Longest wait for one chunk of the engine. */
  readonly chunkMs: number;
  /** Priority of the request. */
  readonly priority: 'live' | 'batch';
  /** Told, before the first samples, what the client should know about the speech. */
  readonly onWarning: (warning: string) => unknown;
}

/**
 * Synthesises a request as a stream of samples at the rate of its format.
 * @throws Refusal 400 for an unusable clip, 422 for text that cannot be spoken, 504 when a chunk takes too long; the engine's error when
 * it is down; the signal's reason
 */
export async function* speak(request: SpeechRequest, options: SpeakOptions): AsyncIterable<Int16Array> {
  const { voice, language } = request;
  const { engine: pace, stretch: factor } = engineSpeed(request.speed);
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  try {
    const backdrop = request.background && (await backdropOf(request.background, request.format.rateHz));
    const likeness = request.reference && (await referenceLikeness(request.reference));
    const { text, warnings } = request.latex
      ? await options.latex.read(request.text, language?.code, voice.language)
      : { text: request.text, warnings: [] };
    for (const warning of warnings) options.onWarning(warning);
    const { levelWhole } = qualityFacts[request.quality];
    const asked = {
      text,
      voice: voice.name,
      language: language?.code,
      speed: pace,
      likeness,
      levelWhole,
      priority: options.priority,
    };
    const chunks = options.engine.synthesize(asked, signal);
    const pipeline = new SpeechPipeline(request, factor, backdrop);
    for await (const chunk of inTime(chunks, options, stop)) {
      yield pipeline.push(chunk);
      // The engine's chunks are ready without a wait: give the event loop a turn.
      await setImmediate();
    }
    yield pipeline.flush();
  } catch (error) {
    // The messages of these two are written for clients; those of other errors are for the log.
    if (error instanceof SynthesisRefusedError || error instanceof LatexError) {
      throw new Refusal(422, error.message, { cause: error });
    }
    throw error;
  } finally {
    // Stops the engine when the consumer left early.
    stop.abort(new Error('the synthesis is over'));
  }
}

/** Fails when a chunk takes too long. */
async function* inTime(
  chunks: AsyncIterable<SynthesisChunk>,
  { clock, chunkMs }: SpeakOptions,
  stop: AbortController,
): AsyncIterable<SynthesisChunk> {
  const late = new Refusal(504, `No audio was made within ${chunkMs / 1000} s`);
  const iterator = chunks[Symbol.asyncIterator]();
  for (;;) {
    let deadline: Timer | undefined;
    const expiry = new Promise<never>((_resolve, reject) => {
      deadline = clock.after(chunkMs, () => reject(late));
    });
    try {
      const next = await Promise.race([iterator.next(), expiry]);
      if (next.done === true) return;
      yield next.value;
    } catch (error) {
      stop.abort(error);
      throw error;
    } finally {
      deadline?.cancel();
    }
  }
}

/** Processes the engine's samples: time stretch, resampling, trimming, background. */
class SpeechPipeline {
  readonly #request: SpeechRequest;
  readonly #stretchFactor: number;
  readonly #trim: SilenceTrim | undefined;
  readonly #backdrop: Backdrop | undefined;
  #stretch: TimeStretch | undefined;
  #resampler: Resampler | undefined;

  constructor(request: SpeechRequest, stretchFactor: number, backdrop: Backdrop | undefined) {
    this.#backdrop = backdrop;
    this.#request = request;
    this.#stretchFactor = stretchFactor;
    this.#trim = request.trimSilence ? new SilenceTrim() : undefined;
  }

  push({ pcm, rateHz }: SynthesisChunk): Int16Array {
    const { searchStep, resamplerHalfTaps } = qualityFacts[this.#request.quality];
    if (this.#stretchFactor !== 1) this.#stretch ??= new TimeStretch(this.#stretchFactor, rateHz, searchStep);
    const { rateHz: toHz } = this.#request.format;
    if (rateHz !== toHz) this.#resampler ??= new Resampler(rateHz, toHz, resamplerHalfTaps);
    return this.#end(this.#atRate(this.#stretch?.push(pcm) ?? pcm));
  }

  flush(): Int16Array {
    const stretched = this.#stretch?.flush();
    const head = stretched === undefined ? new Int16Array(0) : this.#end(this.#atRate(stretched));
    const tail = this.#resampler === undefined ? new Int16Array(0) : this.#end(this.#resampler.flush());
    return joinSamples([head, tail]);
  }

  #atRate(pcm: Int16Array): Int16Array {
    return this.#resampler?.process(pcm) ?? pcm;
  }

  #end(pcm: Int16Array): Int16Array {
    const trimmed = this.#trim?.push(pcm) ?? pcm;
    return this.#backdrop?.under(trimmed) ?? trimmed;
  }
}

/** −40 dB of full scale (TTS doc, trim_silence). */
const threshold = Math.round(32_768 * 10 ** (-40 / 20));

/** Drops silence, below −40 dB, at the start and the end of a stream; pauses inside are kept. */
export class SilenceTrim {
  #started = false;
  /** Quiet samples, dropped unless louder ones follow. */
  #quiet: Int16Array[] = [];

  /** @returns the samples sure to be kept, in a new array */
  push(pcm: Int16Array): Int16Array {
    const first = pcm.findIndex(isLoud);
    if (first === -1) {
      if (this.#started) this.#quiet.push(pcm.slice());
      return new Int16Array(0);
    }
    const last = pcm.findLastIndex(isLoud);
    const kept = pcm.subarray(this.#started ? 0 : first, last + 1);
    const joined = joinSamples([...this.#quiet, kept]);
    this.#started = true;
    this.#quiet = last + 1 < pcm.length ? [pcm.slice(last + 1)] : [];
    return joined;
  }
}

function isLoud(sample: number): boolean {
  return sample >= threshold || sample <= -threshold;
}
