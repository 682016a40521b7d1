import { decodeAudio } from '../../../audio/codec.ts';
import { cutFrames } from '../../../audio/framing.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { SpeakerEar } from '../../engines/diarise/speaker-ear.ts';
import { answersOf, type RecognitionEngine, type RecognitionResult, type RecognitionStream } from '../../engines/port.ts';
import { type Behaviour, finalDelayMs } from '../behaviour.ts';
import type { FaultDice } from '../faults/fault-dice.ts';
import { FinalLine } from '../faults/final-line.ts';
import { openHearing, recognitionFailure } from './hearing.ts';
import type { InitFrame } from './init-frame.ts';
import { deltaOf, type FinalEvent, type RealtimeEvent } from './realtime-events.ts';
import { refineText } from './refine.ts';
import { activityFrameMs, SpeechActivity } from './speech-activity.ts';
import { speakerLabel } from './wire-voices.ts';

/** Finals that may wait to be sent; a client that commits faster than this is refused. */
const maxPendingFinals = 256;
/** Silence after speech in which an unchanged partial is still repeated; a new guess is sent whenever it comes. */
const partialTailMs = 400;
/** Speakers that are told apart when the client does not say how many there are. */
const usualSpeakers = 4;

export interface RealtimeSessionOptions {
  readonly init: InitFrame;
  readonly behaviour: Behaviour;
  /** Marks turns that the platform ended by itself, and follows each ended turn with `utterance_end`. */
  readonly compat: boolean;
  readonly faults: FaultDice;
  readonly clock: Clock;
  readonly engine: RecognitionEngine;
  readonly emit: (event: RealtimeEvent) => void;
  /**
   * The session cannot go on: to be told to the client as an error. Not called after `dispose`.
   * @param cause what the engine threw, for the log alone
   */
  readonly fail: (reason: string, cause?: unknown) => void;
}

/**
 * One recognition socket after `ready`, without the socket: audio, commits and the end go in, events come out through
 * `emit` (ASR doc, states and lifecycle). All its times but the delays of finals are audio times, so that a file sent at
 * once gives the same finals as the same audio sent in real time.
 */
export class RealtimeSession {
  readonly #options: RealtimeSessionOptions;
  readonly #frameBytes: number;
  readonly #stream: RecognitionStream;
  readonly #activity = new SpeechActivity();
  /** Only in a session that diarizes. */
  readonly #speakers: SpeakerEar | undefined;
  readonly #abort = new AbortController();
  readonly #line: FinalLine;
  readonly #readyMs: number;
  /** Received bytes that do not fill a frame. */
  #bytes: Uint8Array = new Uint8Array(0);
  /** Silence since the last speech or the last final that was asked for. */
  #silentMs = 0;
  /** Speech has been heard since the last final was asked for. */
  #spoken = false;
  /** Audio has come in since the last final was asked for. */
  #heard = false;
  /** Number of the segment being recognised: counts results. */
  #seg = 0;
  #guess = '';
  #sentGuess = '';
  #sincePartialMs = Number.POSITIVE_INFINITY;
  /** Results asked for that have not come. */
  #awaited = 0;
  /** Settles when every result asked for so far has come; results are taken in the order they were asked for. */
  #asked: Promise<void> = Promise.resolve();
  #pendingFinals = 0;
  #finals = 0;

  /** @throws the engine's error when no stream can be opened */
  constructor(options: RealtimeSessionOptions) {
    this.#options = options;
    this.#line = new FinalLine(options.clock, this.#abort.signal, maxPendingFinals);
    const { init } = options;
    this.#frameBytes = 2 * Math.round((init.sampleRateHz * activityFrameMs) / 1000);
    this.#readyMs = options.clock.nowMs();
    const { language, sampleRateHz: rateHz, boostPhrases, boostWeight } = init;
    if (init.diarize) this.#speakers = new SpeakerEar({ rateHz, most: init.numSpeakers ?? usualSpeakers });
    this.#stream = openHearing(options.engine, { language, rateHz, boostPhrases, boostWeight }, (event) => {
      switch (event.type) {
        case 'partial':
          // While a result is on its way it is not sure which segment a guess is of; the next one will tell.
          if (this.#awaited > 0) return;
          this.#guess = event.text;
          this.#sendPartial();
          return;
        case 'segment':
          if (this.#reserveFinal()) this.#result(event.result, false);
          return;
      }
    });
  }

  /** @param bytes 16-bit little-endian mono, any number of them, split anywhere */
  audio(bytes: Uint8Array): void {
    const cut = cutFrames(this.#bytes, bytes, this.#frameBytes);
    this.#bytes = cut.pending;
    for (const frame of cut.frames) this.#frame(decodeAudio('pcm16', frame));
    this.#sendPartial();
  }

  /** Ends the turn: one final or more follow, the last one marked. */
  commit(): void {
    if (this.#options.faults.failsTurn()) {
      this.#fail('Injected fault: this commit fails');
      return;
    }
    this.#flush();
    this.#ask(true);
  }

  /** Ends the last turn when there is one; resolves when every final was sent. */
  async end(): Promise<void> {
    this.#flush();
    if (this.#heard) this.#ask(true);
    await this.#asked;
    await this.#line.sent;
  }

  /** Drops everything; nothing is emitted from here on. */
  dispose(): void {
    if (this.#abort.signal.aborted) return;
    this.#abort.abort(new Error('the session is over'));
    this.#stream.close();
  }

  #frame(pcm: Int16Array): void {
    const { emptyFinalEveryMs } = this.#options.behaviour;
    const endpointSilenceMs = this.#options.init.endpointSilenceMs ?? this.#options.behaviour.endpointSilenceMs;
    this.#heard = true;
    this.#speakers?.push(pcm);
    this.#stream.push(pcm);
    this.#sincePartialMs += activityFrameMs;
    if (this.#activity.frame(pcm)) {
      this.#spoken = true;
      this.#silentMs = 0;
      return;
    }
    this.#silentMs += activityFrameMs;
    const endpoint = this.#spoken ? endpointSilenceMs : emptyFinalEveryMs;
    if (endpoint !== undefined && this.#silentMs >= endpoint) this.#ask(this.#options.compat && this.#spoken);
  }

  /** The samples that do not fill a frame belong to the turn too; half a sample waits for its other half. */
  #flush(): void {
    const rest = decodeAudio('pcm16', this.#bytes);
    this.#bytes = this.#bytes.slice(2 * rest.length);
    if (rest.length === 0) return;
    this.#heard = true;
    this.#speakers?.push(rest);
    this.#stream.push(rest);
  }

  #ask(endOfUtterance: boolean): void {
    if (!this.#reserveFinal()) return;
    this.#spoken = false;
    this.#heard = false;
    this.#silentMs = 0;
    this.#awaited += 1;
    this.#asked = Promise.all([this.#stream.commit(), this.#asked]).then(
      ([utterances]) => {
        this.#awaited -= 1;
        const answers = answersOf(utterances);
        for (const [index, answer] of answers.entries()) {
          // The commit reserved one.
          if (index > 0 && !this.#reserveFinal()) return;
          this.#result(answer, endOfUtterance && index === answers.length - 1);
        }
      },
      (error: unknown) => this.#fail(recognitionFailure(error), error),
    );
  }

  #reserveFinal(): boolean {
    this.#pendingFinals += 1;
    if (this.#pendingFinals <= maxPendingFinals) return true;
    this.#fail(`More than ${maxPendingFinals} finals are waiting to be sent`);
    return false;
  }

  #result(result: RecognitionResult, endOfUtterance: boolean): void {
    const seg = this.#seg++;
    this.#guess = '';
    this.#sentGuess = '';
    this.#sincePartialMs = Number.POSITIVE_INFINITY;
    const { behaviour, faults } = this.#options;
    const speaker = this.#speakerOf(result);
    const lateMs = result.text === '' ? 0 : faults.finalDelayMs();
    this.#line.add(finalDelayMs(behaviour, this.#finals++) + lateMs, () =>
      this.#sendFinal(seg, result, { ...speaker, ...this.#endMark(endOfUtterance) }),
    );
  }

  /** Told as soon as the result is there: the audio is kept for a while only. */
  #speakerOf({ text, startS, endS }: RecognitionResult): Pick<FinalEvent<'final'>, 'speaker'> {
    if (this.#speakers === undefined) return {};
    const speaker = text === '' ? undefined : this.#speakers.speakerOf(startS, endS);
    return { speaker: speaker === undefined ? null : speakerLabel(speaker) };
  }

  #endMark(endOfUtterance: boolean): Pick<FinalEvent<'final'>, 'end_of_utterance'> {
    return this.#options.behaviour.endOfUtterance ? { end_of_utterance: endOfUtterance } : {};
  }

  #sendFinal(seg: number, result: RecognitionResult, marks: Pick<FinalEvent<'final'>, 'speaker' | 'end_of_utterance'>): void {
    this.#pendingFinals -= 1;
    const { init, faults } = this.#options;
    const event: FinalEvent<'final'> = {
      type: 'final',
      seg,
      text: result.text,
      elapsed_ms: this.#elapsedMs(),
      ...(result.text === '' ? {} : { language: result.language }),
      start: result.startS,
      end: result.endS,
      ...marks,
    };
    const spoken = result.text !== '';
    const copies = spoken ? faults.finalCopies() : 1;
    if (copies === 0) return;
    for (let copy = 0; copy < copies; copy += 1) this.#emit(event);
    if (init.codeswitch && spoken) {
      this.#emit({ ...event, type: 'final_refined', text: refineText(result.text), elapsed_ms: this.#elapsedMs() });
    }
    if (this.#options.compat && event.end_of_utterance === true) this.#emit({ type: 'utterance_end', seg });
  }

  /** At most one a message or guess, so that a file sent at once does not raise a storm. */
  #sendPartial(): void {
    // A frame early: the next one would already be late.
    const dueMs = this.#options.behaviour.partialEveryMs - activityFrameMs;
    if (this.#guess === '' || this.#sincePartialMs < dueMs) return;
    if (this.#guess === this.#sentGuess && this.#silentMs > partialTailMs) return;
    const text = this.#guess;
    const delta = deltaOf(this.#sentGuess, text);
    this.#sentGuess = text;
    this.#sincePartialMs = 0;
    const { language } = this.#options.init;
    this.#emit({
      type: 'partial',
      seg: this.#seg,
      text,
      delta,
      elapsed_ms: this.#elapsedMs(),
      ...(language.type === 'auto' ? {} : { language: language.language.code }),
    });
  }

  #emit(event: RealtimeEvent): void {
    if (!this.#abort.signal.aborted) this.#options.emit(event);
  }

  #fail(reason: string, cause?: unknown): void {
    if (!this.#abort.signal.aborted) this.#options.fail(reason, cause);
  }

  #elapsedMs(): number {
    return Math.round(this.#options.clock.nowMs() - this.#readyMs);
  }
}
