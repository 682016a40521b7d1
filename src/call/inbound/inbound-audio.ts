import { DetectorLine } from '../../audio/detector-line.ts';
import { FRAME_MS, FRAME_SAMPLES_8K, NARROW_RATE_HZ } from '../../audio/format.ts';
import { SampleBatch } from '../../audio/samples.ts';
import type { RecognitionEvent } from '../../speech/port.ts';
import type { EchoGuard } from './echo/echo-guard.ts';
import { LineQuality, type LineRecord } from './line-quality.ts';
import type { SuppressedLine } from './neural/noise-suppressor.ts';
import type { SoundSink } from '../recording/heard-sound.ts';
import type { VoiceFrame } from '../turn/evidence.ts';
import type { TurnEvent } from '../turn/turn-state.ts';
import { DEFAULT_LINE } from '../turn/turn-settings.ts';

/** Share of passing time by which dates catch up on a lagging line. */
const CATCH_UP = 0.1;

/**
 * Dates inbound audio on our clock. After a stall of the network or the process, waiting audio arrives at once; dated by arrival, it would be a
 * silence with everything said at its end. Late audio is dated right after the audio before it, by the carrier's timestamps. A permanently late line
 * is dated by arrival again within seconds.
 */
export class FrameTime {
  /** Last audio: its end timestamp, that end on our clock, and its arrival. */
  #stampMs: number | undefined;
  #overMs = 0;
  #cameMs = 0;
  #late = false;

  /**
   * Dates the next audio, in the order it was sent.
   * @param timestampMs first sample's carrier timestamp; undefined where it gives none
   * @param nowMs arrival, on the monotonic clock
   * @returns its end on the monotonic clock: never later than now, never before the last one
   */
  endOf(timestampMs: number | undefined, durationMs: number, nowMs: number): number {
    const stampMs = timestampMs === undefined ? undefined : timestampMs + durationMs;
    const goesOnMs = this.#goesOn(stampMs, durationMs, nowMs);
    const lateMs = nowMs - goesOnMs;
    this.#late = lateMs > (this.#late ? 0 : DEFAULT_LINE.lateAfterMs) && lateMs < DEFAULT_LINE.lateUntilMs;
    this.#stampMs = stampMs;
    this.#overMs = this.#late ? goesOnMs : nowMs;
    this.#cameMs = nowMs;
    return this.#overMs;
  }

  /** The end of audio that continues the last; now, where that is not known. */
  #goesOn(stampMs: number | undefined, durationMs: number, nowMs: number): number {
    if (stampMs === undefined || this.#stampMs === undefined || stampMs < this.#stampMs) return nowMs;
    // Audio takes at least its own duration, whatever its timestamps say.
    const passedMs = Math.max(durationMs, stampMs - this.#stampMs);
    return this.#overMs + passedMs + Math.min(CATCH_UP * passedMs, nowMs - this.#cameMs);
  }
}

/** Smaller differences are rounding or clock drift. */
const LEAST_GAP_MS = 20;
/** A longer gap is not filled completely: the line was away. */
const MOST_GAP_MS = 2_000;
/** Most that sound, with filled gaps, may be ahead of elapsed time. */
const MOST_AHEAD_MS = 2_000;

/** Finds audio that the carrier's timestamps prove missing: lost frames, or silence that was never sent. */
export class LineGaps {
  /** End of the last audio, by the carrier's timestamps. */
  #endMs: number | undefined;
  /** Arrival of the first sample, and the sound since, filled gaps included. */
  #firstMs: number | undefined;
  #lengthMs = 0;

  /**
   * @param timestampMs of the audio that arrived, in order; undefined where the carrier gives none
   * @param nowMs arrival, on the monotonic clock: unsteady timestamps fill no more than the elapsed time
   * @returns missing audio before it, in ms; 0 where none is proven
   */
  before(timestampMs: number | undefined, durationMs: number, nowMs: number): number {
    this.#firstMs ??= nowMs - durationMs;
    const roomMs = Math.max(0, nowMs - this.#firstMs + MOST_AHEAD_MS - this.#lengthMs - durationMs);
    const missingMs = Math.min(this.#missing(timestampMs, durationMs), Math.floor(roomMs));
    this.#lengthMs += durationMs + missingMs;
    return missingMs;
  }

  #missing(timestampMs: number | undefined, durationMs: number): number {
    if (timestampMs === undefined) return 0;
    const gapMs = timestampMs - (this.#endMs ?? timestampMs);
    const isLate = gapMs <= -LEAST_GAP_MS && gapMs > -MOST_GAP_MS;
    if (!isLate) this.#endMs = timestampMs + durationMs;
    return gapMs < LEAST_GAP_MS ? 0 : Math.min(gapMs, MOST_GAP_MS);
  }
}

/** Judges one 20 ms frame at 8 kHz; implemented by `audio/voice-activity`. */
export interface VoiceDetector {
  /** @returns valid until the next frame */
  process(frame: Int16Array): { readonly voiced: boolean; readonly speechLike: number };
  /** Gives back what the detector holds; nothing is processed after it. */
  close(): void;
}

export interface Moment {
  readonly nowMs: number;
  readonly wallMs: number;
}

const SILENCE = new Int16Array(FRAME_SAMPLES_8K);
/** Longest text of one segment; of a longer one the end is kept. */
const MOST_SEGMENT_CHARACTERS = 2_000;

interface InboundParts {
  /** Absent where the call is not heard by listeners and not recorded here. */
  readonly sound?: Pick<SoundSink, 'caller'> | undefined;
  /** Sees each frame, at 8 kHz, before the turns do. */
  readonly watch?: (pcm: Int16Array, frame: VoiceFrame) => void;
  /** Rate of the caller's audio; 8 kHz when absent. */
  readonly rateHz?: number;
  /** Takes noise out of what the recogniser hears; closed with the call. */
  readonly suppressed?: SuppressedLine | undefined;
}

/**
 * The inbound side: carrier audio goes to the recording unchanged, to the recogniser unchanged or with less noise, and comes out as 20 ms voice frames and words for the turn machine.
 * Detectors hear it at 8 kHz.
 */
export class InboundAudio {
  readonly #detector: VoiceDetector;
  readonly #sound: Pick<SoundSink, 'caller'> | undefined;
  readonly #echo: EchoGuard;
  readonly #sink: (event: TurnEvent) => void;
  readonly #watch: (pcm: Int16Array, frame: VoiceFrame) => void;
  readonly #gaps = new LineGaps();
  readonly #time = new FrameTime();
  #suppressed: SuppressedLine | undefined;
  readonly #samplesPerMs: number;
  readonly #line: DetectorLine;
  readonly #frame = new SampleBatch(FRAME_SAMPLES_8K);
  readonly #quality = new LineQuality();
  /** Date of the last frame that was judged. */
  #judgedMs = Number.NEGATIVE_INFINITY;

  constructor(detector: VoiceDetector, echo: EchoGuard, sink: (event: TurnEvent) => void, parts: InboundParts = {}) {
    const { sound, watch = () => undefined, rateHz = NARROW_RATE_HZ, suppressed } = parts;
    this.#samplesPerMs = rateHz / 1000;
    this.#line = new DetectorLine(rateHz);
    this.#detector = detector;
    this.#sound = sound;
    this.#echo = echo;
    this.#sink = sink;
    this.#watch = watch;
    this.#suppressed = suppressed;
  }

  /** @param pcm caller audio at the call's rate; not kept, and made silence where it may not be heard */
  hear(
    pcm: Int16Array,
    timestampMs: number | undefined,
    at: Moment & { readonly silent: boolean },
    recogniser: { send(pcm: Int16Array): void },
  ): void {
    const { nowMs, wallMs } = at;
    if (at.silent) pcm.fill(0);
    this.#sound?.caller(pcm, timestampMs, nowMs, wallMs);
    // Words after lost frames are dated where they were said, and turns end by the real silence between.
    const durationMs = pcm.length / this.#samplesPerMs;
    const missingMs = this.#gaps.before(timestampMs, durationMs, nowMs);
    if (missingMs > 0) this.#quality.gap(missingMs);
    if (missingMs > 0) recogniser.send(this.#forWords(new Int16Array(Math.round(missingMs * this.#samplesPerMs))));
    recogniser.send(this.#forWords(pcm));
    const endMs = this.#time.endOf(timestampMs, durationMs, nowMs);
    this.#miss(missingMs, endMs - durationMs, nowMs);
    const heard = this.#line.process(pcm);
    this.#echo.arrived(heard.length, timestampMs, nowMs);
    if (this.#frame.length === 0 && heard.length === FRAME_SAMPLES_8K) this.#judge(heard, endMs, nowMs);
    else this.#cut(heard, endMs, nowMs);
  }

  /** Inbound audio that never arrived, in ms. */
  get missingMs(): number {
    return this.#quality.gapsMs;
  }

  get quality(): LineRecord {
    return this.#quality.record;
  }

  /** What the recogniser hears: no noise that is to be taken out, and no echo of the bot. */
  #forWords(pcm: Int16Array): Int16Array {
    const heard = this.#suppressed?.process(pcm) ?? pcm;
    return this.#echo.isEcho(heard) ? new Int16Array(heard.length) : heard;
  }

  /**
   * Missing audio counts as silence for the turns. Detectors do not get it: it would look like line noise.
   * @param untilMs when the audio after it began
   */
  #miss(missingMs: number, untilMs: number, cameMs: number): void {
    for (let leftMs = missingMs - FRAME_MS; leftMs >= 0; leftMs -= FRAME_MS) {
      this.#judgedMs = Math.max(this.#judgedMs, untilMs - leftMs);
      this.#tell(SILENCE, { atMs: this.#judgedMs, cameMs, voiced: false, speechLike: 0 });
    }
  }

  /** Cuts messages of any length into frames. */
  #cut(pcm: Int16Array, endMs: number, cameMs: number): void {
    const frames = Math.floor((this.#frame.length + pcm.length) / FRAME_SAMPLES_8K);
    let frameMs = endMs - (frames - 1) * FRAME_MS;
    for (let from = 0; from < pcm.length;) {
      from += this.#frame.add(pcm, from);
      if (this.#frame.room > 0) break;
      this.#judge(this.#frame.take(), frameMs, cameMs);
      frameMs += FRAME_MS;
    }
  }

  #judge(frame: Int16Array, endMs: number, cameMs: number): void {
    const { voiced: sounds, speechLike } = this.#detector.process(frame);
    const echo = this.#echo.explains(frame, sounds);
    this.#quality.hear(frame, sounds && !echo);
    this.#judgedMs = Math.max(this.#judgedMs, endMs);
    this.#tell(frame, { atMs: this.#judgedMs, cameMs, voiced: sounds && !echo, speechLike });
  }

  #tell(pcm: Int16Array, frame: VoiceFrame): void {
    this.#watch(pcm, frame);
    this.#sink({ type: 'frame', frame });
  }

  close(): void {
    this.#detector.close();
    this.#suppressed?.close();
    // A message that comes later is not given to what is gone.
    this.#suppressed = undefined;
  }

  /** Turns a recogniser event into a turn event, where it is one. */
  words(event: RecognitionEvent, nowMs: number): void {
    switch (event.type) {
      case 'partial':
        this.#sink({ type: 'partial', atMs: nowMs, seg: event.seg, text: this.#said(event.text, nowMs) });
        break;
      case 'final':
      case 'final-refined': {
        const endOfUtterance = event.type === 'final' ? event.endOfUtterance : undefined;
        this.#sink({ type: 'final', atMs: nowMs, seg: event.seg, text: this.#said(event.text, nowMs), endOfUtterance });
        break;
      }
      case 'ready':
      case 'reconnecting':
      case 'audio-lost':
      case 'closed':
        break;
    }
  }

  /** The caller's words; empty when the recogniser heard the bot, or no word. */
  #said(whole: string, nowMs: number): string {
    const text = withoutSigns(bounded(whole));
    return this.#echo.repeats(text, nowMs) ? '' : text;
  }
}

/** Models write signs for noise, such as "♪♪♪": they are no words. */
function withoutSigns(text: string): string {
  const words = text.replaceAll(/[♩♪♫♬]+\s*/gu, '');
  return /[\p{L}\p{N}]/u.test(words) ? words : '';
}

function bounded(text: string): string {
  if (text.length <= MOST_SEGMENT_CHARACTERS) return text;
  const end = text.slice(-MOST_SEGMENT_CHARACTERS);
  return end.slice(end.indexOf(' ') + 1);
}
