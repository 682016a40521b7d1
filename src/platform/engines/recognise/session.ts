import { Resampler } from '../../../audio/resample.ts';
import type { RecognitionResult } from './port.ts';
import type { AcousticModel } from './acoustic-model.ts';
import { extendEar } from './add-phrases.ts';
import { features, normaliserOf } from './features.ts';
import { MAX_GAP, boostOf, type Ear, nothing, textOf, understand, type Understanding } from './decode.ts';
import { BANDS, FRAME_S, HOP, MelBank, RATE_HZ, Spectrum, WINDOW } from '../acoustics/mel.ts';
import { Search } from './search.ts';
import { canBeSpeech, isVoiced, SpeechSpan } from './speech-detection.ts';

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
/** A silence this long inside a turn may part two utterances: 150 ms, longer than the closure of a p, t or k. */
const LEAST_PAUSE = 10;
/** Log likelihood that two utterances must win over one: pauses inside a sentence won up to 62, between sentences from 81 on. */
const CUT_COST = 75;
/** A turn is halved this often, so that the time to understand it stays bounded. */
const MOST_CUTS_DEEP = 3;
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

/** Frames of a turn: sound from `first` to `end`, and how far the silence round it reaches. */
interface Part {
  readonly first: number;
  readonly end: number;
  readonly from: number;
  readonly to: number;
}

/** A part understood: its utterances in order, how many frames of sound it has, and the log likelihood they lose. */
interface Utterances {
  readonly results: readonly RecognitionResult[];
  readonly frames: number;
  readonly lost: number;
}

/** One stream of audio: finds speech in it, follows it, understands it. All of it synchronous. */
export class Session {
  readonly #options: SessionOptions;
  #ears: readonly Ear[];
  #bonuses: readonly ((word: number) => number)[];
  readonly #emit: (event: SessionEvent) => void;
  readonly #resampler: Resampler | undefined;
  readonly #spectrum = new Spectrum();
  readonly #bank = new MelBank();
  readonly #span = new SpeechSpan();
  /** 8 kHz samples that do not fill a frame yet, with one before for the pre-emphasis. */
  #samples = new Int16Array(1);
  #mel = new Float32Array(256 * BANDS);
  #voiced = new Uint8Array(256);
  /** For each frame, 1 where there was sound. */
  #sound = new Uint8Array(256);
  #frames = 0;
  /** Frames of the stream before `#mel`. */
  #before = 0;
  #searches: Search[] = [];
  #searched = 0;
  #partials = 0;

  constructor(options: SessionOptions, emit: (event: SessionEvent) => void) {
    this.#options = options;
    this.#ears = options.ears;
    this.#bonuses = this.#bonusesOf(options.ears);
    this.#emit = emit;
    this.#resampler = options.rateHz === RATE_HZ ? undefined : new Resampler(options.rateHz, RATE_HZ);
  }

  #bonusesOf(ears: readonly Ear[]): ((word: number) => number)[] {
    return ears.map((ear) => boostOf(ear, this.#options.boostPhrases, this.#options.boostWeight));
  }

  /** From here on phrases can be heard that are not in the language's vocabulary. */
  extend(language: string, phrases: readonly AcousticModel[]): void {
    this.#ears = this.#ears.map((ear) => (ear.language === language ? extendEar(ear, phrases) : ear));
    this.#bonuses = this.#bonusesOf(this.#ears);
    this.#searches = [];
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

  /**
   * Understands what was heard since the last commit or segment.
   * @returns its utterances in order, refused ones with text ''; at least one
   */
  commit(): readonly RecognitionResult[] {
    const results = this.#understand();
    this.#reset();
    return results;
  }

  #frame(samples: Int16Array, at: number): void {
    if ((this.#frames + 1) * BANDS > this.#mel.length) {
      const mel = new Float32Array(this.#mel.length * 2);
      mel.set(this.#mel);
      this.#mel = mel;
      [this.#voiced, this.#sound] = [this.#voiced, this.#sound].map((flags) => {
        const larger = new Uint8Array(flags.length * 2);
        larger.set(flags);
        return larger;
      }) as [Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>];
    }
    const offset = this.#frames * BANDS;
    this.#bank.apply(this.#spectrum.compute(samples, at), this.#mel, offset);
    this.#voiced[this.#frames] = isVoiced(samples, at) ? 1 : 0;
    this.#frames += 1;
    let energy = 0;
    for (let band = 0; band < BANDS; band += 1) energy += this.#mel[offset + band] ?? 0;
    const speech = this.#span.add(energy);
    this.#sound[this.#frames - 1] = this.#span.sound ? 1 : 0;
    if (!speech) this.#dropBeforeSpeech();
    else if (this.#span.silentFrames >= ENDPOINT_FRAMES || this.#frames >= MAX_FRAMES) this.#endByItself();
    else if (this.#frames - this.#searched >= PARTIAL_EVERY + LOOK_AHEAD && this.#span.silentFrames < MARGIN) this.#partial();
  }

  #dropBeforeSpeech(): void {
    const extra = this.#frames - 2 * MARGIN;
    // In blocks, so that the copy is rare.
    if (extra < 2 * MARGIN) return;
    this.#mel.copyWithin(0, extra * BANDS, this.#frames * BANDS);
    this.#voiced.copyWithin(0, extra, this.#frames);
    this.#sound.copyWithin(0, extra, this.#frames);
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
    const results = this.#understand();
    this.#reset();
    for (const result of results) if (result.text !== '') this.#emit({ type: 'segment', result });
  }

  #understand(): readonly RecognitionResult[] {
    const first = this.#span.firstFrame;
    if (first === undefined) return [this.#refusal()];
    return this.#utterances({ first, end: this.#span.endFrame, from: 0, to: this.#frames }, MOST_CUTS_DEEP).results;
  }

  /**
   * Understands a part as one utterance, or as two with a pause between, whichever fits its sound better: two sentences
   * may stand in a turn, a sentence may have pauses, and what is beside a sentence may be no words at all.
   */
  #utterances(part: Part, cutsLeft: number): Utterances {
    const { result, lost, allowed } = this.#understandPart(part);
    const pause = cutsLeft === 0 ? undefined : longestPause(this.#sound.subarray(part.first, part.end), LEAST_PAUSE);
    if (pause === undefined) {
      const frames = part.end - part.first;
      return { results: [result], frames, lost: lost ?? allowed * frames };
    }
    const [from, to] = [part.first + pause.from, part.first + pause.to];
    const before = this.#utterances({ ...part, end: from, to }, cutsLeft - 1);
    const after = this.#utterances({ ...part, first: to, from }, cutsLeft - 1);
    const frames = before.frames + after.frames;
    const apart = { results: [...before.results, ...after.results], frames, lost: before.lost + after.lost + CUT_COST };
    const together = { results: [result], frames, lost: Math.min(lost ?? Infinity, allowed * frames) };
    const understood = apart.results.some(({ text }) => text !== '');
    return understood && apart.lost < together.lost ? apart : together;
  }

  #understandPart(part: Part): Understanding {
    const from = Math.max(part.from, part.first - MARGIN);
    const to = Math.min(part.to, part.end + MARGIN);
    const mel = this.#mel.slice(from * BANDS, to * BANDS);
    if (!canBeSpeech(mel, this.#voiced.subarray(from, to))) return { result: this.#refusal(), allowed: MAX_GAP };
    const startS = (this.#before + from) * FRAME_S;
    return this.#ears
      .map((ear, index) => understand(ear, mel, startS, this.#bonuses[index]!))
      .sort(
        (a, b) => Number(b.lost !== undefined) - Number(a.lost !== undefined) || b.result.confidence - a.result.confidence,
      )[0]!;
  }

  #refusal(): RecognitionResult {
    return nothing(this.#ears[0]!.language, this.#before * FRAME_S, (this.#before + this.#frames) * FRAME_S);
  }

  #reset(): void {
    this.#before += this.#frames;
    this.#frames = 0;
    // A long utterance's memory is given back.
    if (this.#mel.length > 1_024 * BANDS) {
      this.#mel = new Float32Array(256 * BANDS);
      this.#voiced = new Uint8Array(256);
      this.#sound = new Uint8Array(256);
    }
    this.#span.reset(0);
    this.#searches = [];
    this.#searched = 0;
    this.#partials = 0;
  }
}

/** The longest run of silent frames between sounds, if one has at least so many. */
function longestPause(sound: Uint8Array, least: number): { from: number; to: number } | undefined {
  let longest: { from: number; to: number } | undefined;
  let from = 0;
  for (let frame = 0; frame < sound.length; frame += 1) {
    if (sound[frame] === 0) continue;
    if (from > 0 && frame - from >= Math.max(least, longest === undefined ? 0 : longest.to - longest.from + 1)) {
      longest = { from, to: frame };
    }
    from = frame + 1;
  }
  return longest;
}
