import { Resampler } from '../../../audio/resample.ts';
import type { RecognitionResult } from './port.ts';
import type { AcousticModel } from './acoustic-model.ts';
import { addPhrases } from './add-phrases.ts';
import { features, normaliserOf } from './features.ts';
import {
  areSure,
  boostBonus,
  type Decoded,
  decodeUtterance,
  emptyResult,
  MAX_GAP,
  type RecognitionModel,
  textOf,
} from './decode.ts';
import type { SessionEvent } from './worker-protocol.ts';
import { BANDS, FRAME_S, HOP, MelBank, RATE_HZ, Spectrum, WINDOW } from '../acoustics/mel.ts';
import { Search } from './search.ts';
import { canBeSpeech, isVoiced, SpeechDetector } from './speech-detection.ts';

/** Frames before and after speech that are decoded with it: 0.3 s. */
const MARGIN = 20;
/** Frames between partials during speech: 180 ms. */
const PARTIAL_EVERY = 12;
/** Slopes need this many frames ahead, so that the newest frames wait. */
const LOOK_AHEAD = 4;
/** Partials at which the search restarts, with a better estimate of the utterance's level and means. */
const RESTARTS = new Set([3, 8]);
/** Silence that ends an utterance: 2 s. */
const ENDPOINT_FRAMES = Math.round(2 / FRAME_S);
/** A silence this long inside a turn may separate two utterances: 150 ms, longer than the closure of a p, t or k. */
const LEAST_PAUSE = 10;
/** Log likelihood by which two utterances must beat one. Measured: up to 62 for pauses inside a sentence, 81 and more between sentences. */
const CUT_COST = 75;
/** Depth of the division of a turn, so that decoding time stays bounded. */
const MOST_CUTS_DEEP = 3;
/** Confidence from which a turn is understood although phrases are still being learnt. */
const SURE = 0.7;
/** Longest utterance, so that memory and decoding time stay bounded: 20 s. */
const MAX_FRAMES = Math.round(20 / FRAME_S);

export interface SessionOptions {
  /** The models of the moment, one for each language; a change counts from the next utterance on. */
  readonly models: () => readonly RecognitionModel[];
  readonly rateHz: number;
  readonly boostPhrases: readonly string[];
  readonly boostWeight?: number | undefined;
}

/** Frames of a turn: sound from `first` to `end`, with the silence around it from `from` to `to`. */
interface Part {
  readonly first: number;
  readonly end: number;
  readonly from: number;
  readonly to: number;
  /** Whether the sound goes on after it. */
  readonly isCut: boolean;
}

/** A decoded part: its utterances in order, its frames of sound, and the log likelihood lost. */
interface Utterances {
  readonly results: readonly RecognitionResult[];
  readonly frames: number;
  readonly lost: number;
  /** Where a sentence starts that the end of the audio cuts. */
  readonly cutFrame: number | undefined;
}

/** One stream of audio: detects speech, emits partials, decodes utterances. Synchronous. */
export class Session {
  readonly #options: SessionOptions;
  /** As given, before the stream's own phrases. */
  #given: readonly RecognitionModel[];
  readonly #phrases = new Map<string, AcousticModel[]>();
  #models: readonly RecognitionModel[] = [];
  #bonuses: readonly ((word: number) => number)[] = [];
  readonly #emit: (event: SessionEvent) => void;
  readonly #resampler: Resampler | undefined;
  readonly #spectrum = new Spectrum();
  readonly #bank = new MelBank();
  readonly #speech = new SpeechDetector();
  /** 8 kHz samples that do not fill a frame yet, after one sample for the pre-emphasis. */
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
  #learning = false;
  #isLate = false;
  /** End of the speech that was not understood yet, while phrases are learnt. */
  #undecidedAt: number | undefined;

  constructor(options: SessionOptions, emit: (event: SessionEvent) => void) {
    this.#options = options;
    this.#given = options.models();
    this.#useModels();
    this.#emit = emit;
    this.#resampler = options.rateHz === RATE_HZ ? undefined : new Resampler(options.rateHz, RATE_HZ);
  }

  #useModels(): void {
    this.#models = this.#given.map((model) => {
      const phrases = this.#phrases.get(model.language);
      return phrases === undefined ? model : addPhrases(model, phrases);
    });
    const { boostPhrases, boostWeight } = this.#options;
    this.#bonuses = this.#models.map((model) => boostBonus(model, boostPhrases, boostWeight));
    this.#searches = [];
  }

  /** Takes models that changed since the last utterance. */
  #renewModels(): void {
    const given = this.#options.models();
    if (given.length === this.#given.length && given.every((model, index) => model === this.#given[index])) return;
    this.#given = given;
    this.#useModels();
  }

  /** Adds phrases outside the language's vocabulary from now on. */
  extend(language: string, phrases: readonly AcousticModel[]): void {
    this.#phrases.set(language, [...(this.#phrases.get(language) ?? []), ...phrases]);
    this.#useModels();
  }

  /** While phrases are learnt, silence does not end an utterance that is not understood: it may be one of them. */
  learning(learning: boolean): void {
    this.#learning = learning;
    this.#undecidedAt = undefined;
  }

  /** @param isLate whether to go without partials */
  push(pcm: Int16Array, isLate = false): void {
    this.#isLate = isLate;
    const narrow = this.#resampler === undefined ? pcm : this.#resampler.process(pcm);
    const samples = new Int16Array(this.#samples.length + narrow.length);
    samples.set(this.#samples);
    samples.set(narrow, this.#samples.length);
    let at = 1;
    for (; at + WINDOW <= samples.length; at += HOP) this.#frame(samples, at);
    this.#samples = samples.slice(at - 1);
  }

  /**
   * Decodes the audio since the last commit or segment.
   * @returns its utterances in order, at least one; text '' for a rejected one
   */
  commit(): readonly RecognitionResult[] {
    const { results } = this.#decode();
    this.#reset();
    return results;
  }

  /** Commits a turn that is understood without doubt, and one without speech. @returns undefined for any other, which goes on */
  tryCommit(): readonly RecognitionResult[] | undefined {
    const { results } = this.#decode();
    const isSure = results.every(({ text, confidence }) => text !== '' && confidence >= SURE);
    if (!isSure && this.#hasSpeech()) return undefined;
    this.#reset();
    return results;
  }

  #hasSpeech(): boolean {
    const { firstFrame, endFrame } = this.#speech;
    if (firstFrame === undefined) return false;
    return canBeSpeech(this.#mel.subarray(firstFrame * BANDS, endFrame * BANDS), this.#voiced.subarray(firstFrame, endFrame));
  }

  #frame(samples: Int16Array, at: number): void {
    if ((this.#frames + 1) * BANDS > this.#mel.length) {
      const mel = new Float32Array(this.#mel.length * 2);
      mel.set(this.#mel);
      this.#mel = mel;
      this.#voiced = doubled(this.#voiced);
      this.#sound = doubled(this.#sound);
    }
    const offset = this.#frames * BANDS;
    this.#bank.apply(this.#spectrum.compute(samples, at), this.#mel, offset);
    this.#voiced[this.#frames] = isVoiced(samples, at) ? 1 : 0;
    this.#frames += 1;
    let energy = 0;
    for (const band of this.#mel.subarray(offset, offset + BANDS)) energy += band;
    const speech = this.#speech.add(energy);
    this.#sound[this.#frames - 1] = this.#speech.sound ? 1 : 0;
    if (!speech) this.#dropBeforeSpeech();
    else if (this.#frames >= MAX_FRAMES) this.#cut();
    else if (this.#speech.silentFrames >= ENDPOINT_FRAMES) this.#endBySilence();
    else if (this.#frames - this.#searched >= PARTIAL_EVERY + LOOK_AHEAD && this.#speech.silentFrames < MARGIN) this.#partial();
  }

  #dropBeforeSpeech(): void {
    const extra = this.#frames - 2 * MARGIN;
    // In blocks, since each drop copies the rest.
    if (extra < 2 * MARGIN) return;
    this.#renewModels();
    this.#dropFrames(extra);
  }

  #dropFrames(first: number): void {
    this.#mel.copyWithin(0, first * BANDS, this.#frames * BANDS);
    this.#voiced.copyWithin(0, first, this.#frames);
    this.#sound.copyWithin(0, first, this.#frames);
    this.#frames -= first;
    this.#before += first;
    this.#speech.dropped(first);
  }

  #partial(): void {
    if (this.#isLate) return;
    const from = Math.max(0, (this.#speech.firstFrame ?? 0) - MARGIN);
    const mel = this.#mel.subarray(from * BANDS, this.#frames * BANDS);
    if (!canBeSpeech(mel, this.#voiced.subarray(from, this.#frames))) {
      this.#searched = Math.max(this.#searched, this.#frames - LOOK_AHEAD);
      this.#searches = [];
      return;
    }
    const frames = features(mel, normaliserOf(mel));
    this.#partials += 1;
    if (this.#searches.length === 0 || RESTARTS.has(this.#partials)) {
      this.#searches = this.#models.map(
        ({ model, network }, index) => new Search(model, network, { bonus: this.#bonuses[index] }),
      );
      this.#searched = from;
    }
    const until = this.#frames - LOOK_AHEAD;
    for (let frame = this.#searched; frame < until; frame += 1) {
      for (const search of this.#searches) search.step(frames, frame - from);
    }
    this.#searched = until;
    const [best] = this.#models
      .flatMap((model, index) => (this.#searches[index]?.hypotheses(false, 1) ?? []).map((hypothesis) => ({ model, hypothesis })))
      .sort((a, b) => b.hypothesis.score - a.hypothesis.score);
    const text = best === undefined ? '' : textOf(best.model, best.hypothesis.words);
    if (text !== '') this.#emit({ type: 'partial', text });
  }

  #endBySilence(): void {
    if (!this.#learning) {
      this.#endByItself();
      return;
    }
    const { endFrame } = this.#speech;
    if (this.#undecidedAt === endFrame) return;
    const results = this.tryCommit();
    this.#undecidedAt = results === undefined ? endFrame : undefined;
    if (results !== undefined) this.#emitSegments(results);
  }

  /** Ends an utterance at its longest, before the sentence that is being spoken. */
  #cut(): void {
    const { results, cutFrame } = this.#decode(true);
    // A sentence that is as long as what is left would be cut again and again.
    if (cutFrame === undefined || cutFrame < this.#frames / 2) this.#reset();
    else {
      this.#dropFrames(cutFrame);
      this.#startAgain();
    }
    this.#emitSegments(results);
  }

  #endByItself(): void {
    this.#emitSegments(this.commit());
  }

  #emitSegments(results: readonly RecognitionResult[]): void {
    for (const result of results) if (result.text !== '') this.#emit({ type: 'segment', result });
  }

  #decode(isCut = false): Utterances {
    const first = this.#speech.firstFrame;
    if (first === undefined) return { results: [this.#nothing()], frames: 0, lost: 0, cutFrame: undefined };
    return this.#utterances({ first, end: this.#speech.endFrame, from: 0, to: this.#frames, isCut }, MOST_CUTS_DEEP);
  }

  /**
   * Decodes a part as one utterance, or as two with a pause between, whichever fits the audio better. A turn may hold two sentences, a
   * sentence may have pauses, and sound beside a sentence may be no words.
   */
  #utterances(part: Part, cutsLeft: number): Utterances {
    const { results, lost, allowed, cutFrame } = this.#decodePart(part);
    const pause = cutsLeft === 0 ? undefined : longestPause(this.#sound.subarray(part.first, part.end), LEAST_PAUSE);
    if (pause === undefined) {
      const frames = part.end - part.first;
      return { results, frames, lost: lost ?? allowed * frames, cutFrame };
    }
    const [from, to] = [part.first + pause.from, part.first + pause.to];
    const before = this.#utterances({ ...part, end: from, to, isCut: false }, cutsLeft - 1);
    const after = this.#utterances({ ...part, first: to, from }, cutsLeft - 1);
    const frames = before.frames + after.frames;
    const both = [...before.results, ...after.results];
    const apart = { results: both, frames, lost: before.lost + after.lost + CUT_COST, cutFrame: after.cutFrame };
    const together = { results, frames, cutFrame, lost: Math.min(lost ?? Infinity, allowed * frames) };
    if (!apart.results.some(({ text }) => text !== '')) return together;
    if (apart.lost < together.lost) return apart;
    const isBelieved = ({ results: own }: Utterances, fromFrame: number, toFrame: number): boolean =>
      !own.every(({ text, confidence }) => text === '' && confidence > 0) ||
      areSure(results, (this.#before + fromFrame) * FRAME_S, (this.#before + toFrame) * FRAME_S);
    return isBelieved(before, part.first, from) && isBelieved(after, to, part.end) ? together : apart;
  }

  #decodePart(part: Part): Decoded {
    const from = Math.max(part.from, part.first - MARGIN);
    const to = Math.min(part.to, part.end + MARGIN);
    const mel = this.#mel.slice(from * BANDS, to * BANDS);
    if (!canBeSpeech(mel, this.#voiced.subarray(from, to))) return { results: [this.#nothing()], allowed: MAX_GAP };
    const startS = (this.#before + from) * FRAME_S;
    const [best] = this.#models
      .map((model, index) => decodeUtterance(model, mel, startS, this.#bonuses[index] ?? (() => 0), part.isCut))
      .sort((a, b) => Number(b.lost !== undefined) - Number(a.lost !== undefined) || confidenceOf(b) - confidenceOf(a));
    if (best === undefined) return { results: [this.#nothing()], allowed: MAX_GAP };
    return { ...best, cutFrame: best.cutFrame === undefined ? undefined : from + best.cutFrame };
  }

  /** The result for all of the audio when nothing in it is recognised. */
  #nothing(): RecognitionResult {
    return emptyResult(this.#models[0]?.language ?? '', this.#before * FRAME_S, (this.#before + this.#frames) * FRAME_S);
  }

  #reset(): void {
    this.#before += this.#frames;
    this.#frames = 0;
    // Frees the memory of a long utterance.
    if (this.#mel.length > 1_024 * BANDS) {
      this.#mel = new Float32Array(256 * BANDS);
      this.#voiced = new Uint8Array(256);
      this.#sound = new Uint8Array(256);
    }
    this.#speech.reset(0);
    this.#startAgain();
  }

  /** Searches anew, with the models of the moment. */
  #startAgain(): void {
    this.#searches = [];
    this.#searched = 0;
    this.#partials = 0;
    this.#undecidedAt = undefined;
    this.#renewModels();
  }
}

/** Of the sentences that were understood, each by its length; of the rest where none was. */
function confidenceOf({ results }: Decoded): number {
  const understood = results.filter(({ text }) => text !== '');
  const counted = understood.length > 0 ? understood : results;
  const length = ({ startS, endS }: RecognitionResult): number => Math.max(0.01, endS - startS);
  const total = counted.reduce((sum, result) => sum + length(result), 0);
  return counted.reduce((sum, result) => sum + result.confidence * length(result), 0) / total;
}

/** The same flags in an array of twice the length. */
function doubled(flags: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(flags.length * 2);
  larger.set(flags);
  return larger;
}

/** The longest run of silent frames between sounds, if it has at least `least` frames. */
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
