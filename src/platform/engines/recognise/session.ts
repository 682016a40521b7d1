import { Resampler } from '../../../audio/resample.ts';
import type { RecognitionResult } from '../port.ts';
import { features, normaliserOf } from './features.ts';
import { BANDS, FRAME_S, HOP, MelBank, RATE_HZ, Spectrum, WINDOW } from './mel.ts';
import { Search } from './search.ts';
import { canBeSpeech, isVoiced } from './speech-likeness.ts';
import { SpeechSpan } from './speech-span.ts';
import { boostOf, type Ear, nothing, textOf, understand } from './understanding.ts';

/** Frames kept before speech, and round it when it is understood: 0.3 s. */
const MARGIN = 20;
/** Frames from one partial to the next while there is speech: 180 ms. */
const PARTIAL_EVERY = 12;
/** Slopes look this far ahead, so the newest frames wait. */
const LOOK_AHEAD = 4;
/** Partials at which the search starts over: by then the utterance's level and means are known better. */
const RESTARTS = new Set([3, 8]);
/** Silence after which an utterance ends by itself: 2 s. */
const ENDPOINT_FRAMES = Math.round(2 / FRAME_S);
/** An utterance is cut here whatever happens, so that memory and the time to understand it stay bounded: 20 s. */
const MAX_FRAMES = Math.round(20 / FRAME_S);

export interface SessionOptions {
  readonly ears: readonly Ear[];
  readonly rateHz: number;
  readonly boostPhrases: readonly string[];
  readonly boostWeight?: number | undefined;
}

export type SessionEvent =
  | { readonly type: 'partial'; readonly text: string }
  | { readonly type: 'segment'; readonly result: RecognitionResult };

/** One stream of audio: finds speech in it, follows it, understands it. All of it synchronous. */
export class Session {
  readonly #ears: readonly Ear[];
  readonly #bonuses: readonly ((word: number) => number)[];
  readonly #emit: (event: SessionEvent) => void;
  readonly #resampler: Resampler | undefined;
  readonly #spectrum = new Spectrum();
  readonly #bank = new MelBank();
  readonly #span = new SpeechSpan();
  /** 8 kHz samples that do not fill a frame yet, with one before for the pre-emphasis. */
  #samples = new Int16Array(1);
  #mel = new Float32Array(256 * BANDS);
  #voiced = new Uint8Array(256);
  #frames = 0;
  /** Frames of the stream before `#mel`. */
  #before = 0;
  #searches: Search[] = [];
  #searched = 0;
  #partials = 0;

  constructor(options: SessionOptions, emit: (event: SessionEvent) => void) {
    this.#ears = options.ears;
    this.#bonuses = options.ears.map((ear) => boostOf(ear, options.boostPhrases, options.boostWeight));
    this.#emit = emit;
    this.#resampler = options.rateHz === RATE_HZ ? undefined : new Resampler(options.rateHz, RATE_HZ);
  }

  push(pcm: Int16Array): void {
    const narrow = this.#resampler === undefined ? pcm : this.#resampler.process(pcm);
    const samples = new Int16Array(this.#samples.length + narrow.length);
    samples.set(this.#samples);
    samples.set(narrow, this.#samples.length);
    let at = 1;
    for (; at + WINDOW <= samples.length; at += HOP) this.#frame(samples, at);
    this.#samples = samples.slice(at - 1);
  }

  /** Understands what was heard since the last commit or segment. */
  commit(): RecognitionResult {
    const result = this.#understand();
    this.#reset();
    return result;
  }

  #frame(samples: Int16Array, at: number): void {
    if ((this.#frames + 1) * BANDS > this.#mel.length) {
      const larger = new Float32Array(this.#mel.length * 2);
      larger.set(this.#mel);
      this.#mel = larger;
      const voiced = new Uint8Array(this.#voiced.length * 2);
      voiced.set(this.#voiced);
      this.#voiced = voiced;
    }
    const offset = this.#frames * BANDS;
    this.#bank.apply(this.#spectrum.compute(samples, at), this.#mel, offset);
    this.#voiced[this.#frames] = isVoiced(samples, at) ? 1 : 0;
    this.#frames += 1;
    let energy = 0;
    for (let band = 0; band < BANDS; band += 1) energy += this.#mel[offset + band]!;
    if (!this.#span.add(energy)) this.#dropBeforeSpeech();
    else if (this.#span.silentFrames >= ENDPOINT_FRAMES || this.#frames >= MAX_FRAMES) this.#endByItself();
    else if (this.#frames - this.#searched >= PARTIAL_EVERY + LOOK_AHEAD && this.#span.silentFrames < MARGIN) this.#partial();
  }

  #dropBeforeSpeech(): void {
    const extra = this.#frames - 2 * MARGIN;
    // In blocks, so that the copy is rare.
    if (extra < 2 * MARGIN) return;
    this.#mel.copyWithin(0, extra * BANDS, this.#frames * BANDS);
    this.#voiced.copyWithin(0, extra, this.#frames);
    this.#frames -= extra;
    this.#before += extra;
    this.#span.dropped(extra);
  }

  #partial(): void {
    const from = Math.max(0, (this.#span.firstFrame ?? 0) - MARGIN);
    const mel = this.#mel.subarray(from * BANDS, this.#frames * BANDS);
    if (!canBeSpeech(mel, this.#voiced.subarray(from, this.#frames))) {
      this.#searched = Math.max(this.#searched, this.#frames - LOOK_AHEAD);
      this.#searches = [];
      return;
    }
    const frames = features(mel, normaliserOf(mel));
    this.#partials += 1;
    if (this.#searches.length === 0 || RESTARTS.has(this.#partials)) {
      this.#searches = this.#ears.map((ear, index) => new Search(ear.model, ear.network, this.#bonuses[index]));
      this.#searched = from;
    }
    const until = this.#frames - LOOK_AHEAD;
    for (let frame = this.#searched; frame < until; frame += 1) {
      for (const search of this.#searches) search.step(frames, frame - from);
    }
    this.#searched = until;
    const best = this.#searches
      .map((search, index) => ({ ear: this.#ears[index]!, hypothesis: search.hypotheses(false, 1)[0] }))
      .sort((a, b) => (b.hypothesis?.score ?? -Infinity) - (a.hypothesis?.score ?? -Infinity))[0];
    const text = best?.hypothesis === undefined ? '' : textOf(best.ear, best.hypothesis);
    if (text !== '') this.#emit({ type: 'partial', text });
  }

  #endByItself(): void {
    const result = this.#understand();
    this.#reset();
    if (result.text !== '') this.#emit({ type: 'segment', result });
  }

  #understand(): RecognitionResult {
    const endS = (this.#before + this.#frames) * FRAME_S;
    const first = this.#span.firstFrame;
    const language = this.#ears[0]!.language;
    if (first === undefined) return nothing(language, this.#before * FRAME_S, endS);
    const from = Math.max(0, first - MARGIN);
    const to = Math.min(this.#frames, this.#span.endFrame + MARGIN);
    const mel = this.#mel.slice(from * BANDS, to * BANDS);
    if (!canBeSpeech(mel, this.#voiced.subarray(from, to))) return nothing(language, this.#before * FRAME_S, endS);
    const startS = (this.#before + from) * FRAME_S;
    return this.#ears
      .map((ear, index) => understand(ear, mel, startS, this.#bonuses[index]!))
      .sort((a, b) => Number(b.text !== '') - Number(a.text !== '') || b.confidence - a.confidence)[0]!;
  }

  #reset(): void {
    this.#before += this.#frames;
    this.#frames = 0;
    // A long utterance's memory is given back.
    if (this.#mel.length > 1_024 * BANDS) {
      this.#mel = new Float32Array(256 * BANDS);
      this.#voiced = new Uint8Array(256);
    }
    this.#span.reset(0);
    this.#searches = [];
    this.#searched = 0;
    this.#partials = 0;
  }
}
