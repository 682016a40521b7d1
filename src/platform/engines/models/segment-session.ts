import { joinSamples } from '../../../audio/samples.ts';
import type { RecognitionResult } from '../recognise/port.ts';
import type { ThreadSession } from './decoding-turns.ts';
import { joinResults, NOTHING_HEARD, resultOf, Timeline } from './heard.ts';
import { withHints } from './hints.ts';
import type { SegmentLane } from './segment-lane.ts';
import type { SegmentModel } from './segment-model.ts';
import type { SessionOptions } from './streaming-session.ts';
import { VoiceQueue, type VoiceStep } from './voice-queue.ts';

/** A turn longer than this is cut, when this much of it is voice. */
const LONGEST_TURN_S = 30;
const MOST_SPOKEN_S = 28;
/** A segment that gets too long is cut where it is quietest within its last seconds, which is most often between two words. */
const CUT_WITHIN_S = 2.5;
const CUT_WINDOW_S = 0.1;
const CUT_STEP_S = 0.02;
/** Additional voice before the next partial, and the largest share of that time a partial may take. */
const PARTIAL_EVERY_S = 1;
const PARTIAL_SHARE = 0.25;
/**
 * A short sound without pitch is a cough, a click or breath: the models make a word of it, such as "you". The shortest words of people
 * have 0.2 s with pitch, a cough has none.
 */
const SHORT_SOUND_S = 0.6;
const LEAST_PITCHED_S = 0.06;
/** Lead of a commit over segments that no client waits for yet. */
const COMMIT_AHEAD_MS = 1_000;
const STEPS = 8;

/** A piece of a turn without a pause longer than the gate and the audio before a voice. */
interface Segment {
  readonly parts: Int16Array[];
  readonly timeline: Timeline;
  readonly startS: number;
  samples: number;
  endS: number;
  voicedS: number;
  pitchedS: number;
  /** What was decoded last, with how many samples. */
  decoded: { readonly samples: number; readonly result: Promise<RecognitionResult> } | undefined;
}

/**
 * One stream of audio through a model that decodes whole segments. A segment is decoded when its voice pauses, so that a commit after
 * the pause finds it decoded; partials come from there, and where the model is fast, from the segment so far while the caller speaks.
 */
export class SegmentSession implements ThreadSession {
  readonly model = undefined;
  readonly ready = undefined;
  readonly #model: SegmentModel;
  readonly #lane: SegmentLane;
  readonly #options: SessionOptions;
  readonly #queue: VoiceQueue;
  readonly #commits: ((results: readonly RecognitionResult[]) => void)[] = [];
  /** The segments of this turn. */
  #segments: Segment[] = [];
  #turnStartS = 0;
  #at = 0;
  /** Commits that were reached in the audio and are not answered. */
  #committed = 0;
  #asking = 0;
  #closed = false;
  /** Answers are given in the order of the turns. */
  #answered: Promise<void> = Promise.resolve();

  constructor(model: SegmentModel, lane: SegmentLane, options: SessionOptions) {
    this.#model = model;
    this.#lane = lane;
    this.#options = options;
    this.#queue = new VoiceQueue(options.rateHz);
  }

  push(pcm: Int16Array): void {
    this.#queue.push(pcm, this.#options.clock.nowMs());
    this.#options.wake(this);
  }

  commit(): Promise<readonly RecognitionResult[]> {
    this.#queue.commit();
    this.#options.wake(this);
    return new Promise((resolve) => {
      this.#commits.push(resolve);
    });
  }

  close(): void {
    this.#closed = true;
    this.#queue.close();
    this.#segments = [];
  }

  fail(error: unknown): void {
    if (this.#closed) return;
    this.#options.outputs.fail(error);
    this.close();
  }

  get isCommitted(): boolean {
    return this.#committed > 0 || this.#queue.isCommitted;
  }

  get dueMs(): number {
    return this.#queue.dueMs - (this.isCommitted ? COMMIT_AHEAD_MS : 0);
  }

  prepare(): boolean {
    if (this.#closed) return false;
    for (let step = 0; step < STEPS; step += 1) {
      const next = this.#queue.next();
      if (next === undefined) return false;
      if (next.type === 'voice') this.#add(next);
      if (next.type === 'commit') this.#endTurn(next.at / this.#options.rateHz, true);
    }
    return true;
  }

  decoded(): void {}

  #add({ pcm, from, voiceEnd, closes, voicedS, pitchedS }: Extract<VoiceStep, { type: 'voice' }>): void {
    const { rateHz } = this.#options;
    const current = this.#segments.at(-1);
    let segment = current === undefined || from !== this.#at ? this.#newSegment(from) : current;
    segment.parts.push(pcm);
    segment.samples += pcm.length;
    this.#at = from + pcm.length;
    segment.endS = voiceEnd / rateHz;
    segment.voicedS += voicedS;
    segment.pitchedS += pitchedS;
    const isFull = segment.samples >= this.#model.longestS * rateHz;
    if (closes || isFull) {
      if (isFull) segment = this.#cut(segment);
      this.#partial(segment);
    } else {
      const newS = (segment.samples - (segment.decoded?.samples ?? 0)) / rateHz;
      const pays = this.#model.costMs(segment.samples / rateHz) <= PARTIAL_SHARE * newS * 1_000;
      if (newS >= PARTIAL_EVERY_S && pays && this.#lane.isIdle) this.#partial(segment);
    }
    if (segment.endS - this.#turnStartS >= LONGEST_TURN_S && this.#spokenS >= MOST_SPOKEN_S) this.#endTurn(segment.endS, false);
  }

  get #spokenS(): number {
    return this.#segments.reduce((sum, { samples }) => sum + samples, 0) / this.#options.rateHz;
  }

  /** Moves the end of a segment that got too long into a new one. @returns the new one */
  #cut(segment: Segment): Segment {
    const { rateHz } = this.#options;
    const pcm = joinSamples(segment.parts);
    const at = quietestPlace(pcm, Math.round(this.#model.longestS * rateHz), rateHz);
    const rest = this.#newSegment(Math.round(segment.startS * rateHz) + at);
    rest.parts.push(pcm.slice(at));
    rest.samples = pcm.length - at;
    rest.endS = Math.max(rest.startS, segment.endS);
    // Where the voice went on, the rest is speech as well; else it is the silence after it, of which a model makes a word.
    rest.voicedS = rest.pitchedS = segment.endS > rest.startS ? SHORT_SOUND_S : 0;
    segment.parts.splice(0, segment.parts.length, pcm.slice(0, at));
    segment.samples = at;
    segment.endS = rest.startS;
    return rest;
  }

  #newSegment(from: number): Segment {
    const startS = from / this.#options.rateHz;
    const timeline = new Timeline();
    timeline.add(0, startS);
    const segment: Segment = {
      parts: [],
      timeline,
      startS,
      endS: startS,
      samples: 0,
      voicedS: 0,
      pitchedS: 0,
      decoded: undefined,
    };
    this.#segments.push(segment);
    return segment;
  }

  /** Decodes a segment so far; the texts of the turn so far make a partial. */
  #partial(segment: Segment): void {
    const turn = this.#segments;
    const before = turn.slice(0, -1);
    this.#asking += 1;
    const asked = this.#asking;
    const results = [...before, segment].map((each) => this.#resultOf(each));
    Promise.all(results).then(
      (parts) => {
        if (this.#closed || this.#segments !== turn || asked !== this.#asking || this.isCommitted) return;
        const text = parts
          .map((part) => part.text)
          .filter((each) => each !== '')
          .join(' ');
        if (text !== '') this.#options.outputs.emit({ type: 'partial', text });
      },
      (error: unknown) => this.fail(error),
    );
  }

  /** The segment as it is now, decoded once. */
  #resultOf(segment: Segment): Promise<RecognitionResult> {
    if (segment.decoded?.samples === segment.samples) return segment.decoded.result;
    const { rateHz, language } = this.#options;
    const pcm = joinSamples(segment.parts);
    segment.parts.splice(0, segment.parts.length, pcm);
    const { startS, endS, timeline } = segment;
    const job = { pcm, rateHz, language, hints: this.#options.hints };
    const heardIn = isNoise(segment) ? Promise.resolve(NOTHING_HEARD) : this.#lane.decode(this.#model, job, () => this.dueMs);
    const result = heardIn.then((heard) =>
      resultOf(heard, { startS, endS, timeline, language, languages: this.#model.languages }),
    );
    segment.decoded = { samples: segment.samples, result };
    return result;
  }

  /** @param committed whether a commit ends it; else it got too long */
  #endTurn(atS: number, committed: boolean): void {
    const { language } = this.#options;
    const startS = this.#turnStartS;
    if (committed) this.#committed += 1;
    const nothing = resultOf(NOTHING_HEARD, {
      startS,
      endS: atS,
      timeline: new Timeline(),
      language,
      languages: this.#model.languages,
    });
    const parts = Promise.all(this.#segments.map((segment) => this.#resultOf(segment)));
    this.#segments = [];
    this.#turnStartS = atS;
    this.#answered = Promise.all([parts, this.#answered]).then(
      ([[first = nothing, ...more]]) => {
        if (this.#closed) return;
        const result = withHints(joinResults([first, ...more]), this.#options.hints);
        if (!committed) return this.#options.outputs.emit({ type: 'segment', result });
        this.#committed -= 1;
        this.#commits.shift()?.([result]);
      },
      (error: unknown) => this.fail(error),
    );
  }
}

function isNoise({ voicedS, pitchedS }: Segment): boolean {
  return voicedS < SHORT_SOUND_S && pitchedS < LEAST_PITCHED_S;
}

/** @returns the middle of the quietest window that ends before `end`, in samples */
function quietestPlace(pcm: Int16Array, end: number, rateHz: number): number {
  const window = Math.round(CUT_WINDOW_S * rateHz);
  let [best, least] = [end, Number.POSITIVE_INFINITY];
  for (let at = end - Math.round(CUT_WITHIN_S * rateHz); at + window <= end; at += Math.round(CUT_STEP_S * rateHz)) {
    const power = pcm.subarray(at, at + window).reduce((sum, sample) => sum + sample * sample, 0);
    // The later of two equals, so that the segment is long.
    if (power <= least) [best, least] = [at + Math.round(window / 2), power];
  }
  return best;
}
