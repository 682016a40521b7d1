import { setMaxListeners } from 'node:events';
import { sleep } from '../../../kernel/waiting.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { decodeAudio } from '../../../audio/codec.ts';
import { cutFrames } from '../../../audio/samples.ts';
import {
  answersOf,
  type RecognitionEngine,
  type RecognitionResult,
  type RecognitionStream,
} from '../../engines/recognise/port.ts';
import type { FaultDice } from '../faults/faults.ts';
import { type RecognitionStreamOptions, openRecognition, recognitionFailure } from './language-recognition.ts';
import { activityFrameMs, SpeechActivity } from '../../../audio/voice-activity/voice-activity.ts';

/** Turns that may wait for their final; a client that commits faster is refused. */
export const maxWaitingTurns = 256;

/** What ended a turn: the client, the end of the session, silence after speech, silence without speech, or the engine's endpoint. */
export type TurnEnd = 'commit' | 'end' | 'silence' | 'silence-alone' | 'engine';

/** Current times of a session. */
export interface SessionTimes {
  /** Audio received. */
  readonly audioMs: number;
  /** Audio since the last speech. */
  readonly silentMs: number;
  /** Since the session was opened. */
  readonly elapsedMs: number;
}

export interface Final<Event> {
  /** Empty when nothing was recognised. */
  readonly text: string;
  /** Delay before it is sent. */
  readonly delayMs: number;
  /** Called on sending. @returns the final, which injected faults may lose or repeat, and events that follow it */
  events(): readonly [Event, ...Event[]];
}

/** The turns and events of one of the two addresses. Has state: one for each session. */
export interface TurnRules<Event> {
  /** Silence after speech that ends a turn; undefined: only the client ends it. */
  readonly endpointSilenceMs: number | undefined;
  /** Silence without speech after which an empty final is sent, repeatedly; undefined: never. */
  readonly emptyFinalEveryMs: number | undefined;
  /** Least audio between two partials. */
  readonly partialEveryMs: number;
  /** Silence after speech during which an unchanged partial is repeated; undefined: never repeated. */
  readonly repeatPartialMs: number | undefined;
  /** The error when more than `maxWaitingTurns` wait; whether finals that wait to be sent count. */
  readonly crowded: { readonly text: string; readonly countsUnsent: boolean };
  /** Turns that injected faults fail. */
  readonly fault: { readonly text: string; readonly on: readonly TurnEnd[] };
  /** Receives all audio before it is recognised. */
  onAudio?(pcm: Int16Array): void;
  speechStarted?(times: SessionTimes): Event;
  /** @param atMs of the session's audio */
  speechEnded?(atMs: number): Event;
  /** @param before the last partial of this turn, empty without one */
  partial(text: string, before: string, times: SessionTimes): Event;
  /** Called at the end of a turn. @returns a function that makes finals of the utterances, once recognised */
  endTurn(by: TurnEnd, times: SessionTimes): (utterances: readonly RecognitionResult[]) => readonly Final<Event>[];
  /** The last events, when the client ends the session. */
  end?(times: SessionTimes): readonly Event[];
}

export interface RecognitionSessionOptions<Event> {
  readonly recognition: RecognitionStreamOptions;
  readonly rules: TurnRules<Event>;
  readonly faults: FaultDice;
  readonly clock: Clock;
  readonly engine: RecognitionEngine;
  readonly emit: (event: Event) => void;
  /**
   * Called when the session cannot go on; the reason is for the client. Not called after `dispose`.
   * @param cause the engine's error, for the log only
   */
  readonly fail: (reason: string, cause?: unknown) => void;
}

/**
 * One recognition socket after `ready`, without the socket: takes audio, commits and the end, and emits events (ASR doc, states and
 * lifecycle). Times are audio times, except for delays of finals: a file sent at once gives the same finals as in real time.
 */
export class RecognitionSession<Event> implements SessionTimes {
  readonly #options: RecognitionSessionOptions<Event>;
  readonly #rules: TurnRules<Event>;
  readonly #frameBytes: number;
  readonly #stream: RecognitionStream;
  readonly #activity = new SpeechActivity();
  readonly #abort = new AbortController();
  readonly #finals: FinalQueue;
  readonly #openedMs: number;
  /** Received bytes that do not fill a frame. */
  #bytes: Uint8Array = new Uint8Array(0);
  #samples = 0;
  #silentMs = 0;
  /** Silence since the last speech or the end of the last turn. */
  #pauseMs = 0;
  /** Whether this turn has speech. */
  #spoken = false;
  /** Whether audio was received since the end of the last turn. */
  #hasAudio = false;
  #partialText = '';
  #sentText = '';
  #sincePartialMs = Number.POSITIVE_INFINITY;
  /** Commits without a result so far. */
  #awaited = 0;
  /** Finals made but not sent. */
  #unsent = 0;
  /** Settles when the results of all commits have come; they are used in the order of the commits. */
  #asked: Promise<void> = Promise.resolve();

  /** @throws the engine's error when no stream can be opened */
  constructor(options: RecognitionSessionOptions<Event>) {
    this.#options = options;
    this.#rules = options.rules;
    this.#finals = new FinalQueue(options.clock, this.#abort.signal, maxWaitingTurns, (error) =>
      this.#fail(recognitionFailure(error), error),
    );
    this.#frameBytes = 2 * Math.round((options.recognition.rateHz * activityFrameMs) / 1000);
    this.#openedMs = options.clock.nowMs();
    this.#stream = openRecognition(options.engine, options.recognition, (event) => {
      switch (event.type) {
        case 'partial':
          // While a result is pending, a partial may belong to either turn: skip it.
          if (this.#awaited > 0) return;
          this.#partialText = event.text;
          this.#sendPartial();
          return;
        case 'segment':
          this.#addFinals(this.#rules.endTurn('engine', this)([event.result]));
          return;
      }
    });
  }

  get audioMs(): number {
    return Math.round((this.#samples * 1000) / this.#options.recognition.rateHz);
  }

  get silentMs(): number {
    return this.#silentMs;
  }

  get elapsedMs(): number {
    return this.#options.clock.nowMs() - this.#openedMs;
  }

  /** @param bytes 16-bit little-endian mono, any number of them, split anywhere */
  audio(bytes: Uint8Array): void {
    const cut = cutFrames(this.#bytes, bytes, this.#frameBytes);
    this.#bytes = cut.pending;
    for (const frame of cut.frames) this.#frame(decodeAudio('pcm16', frame));
    this.#sendPartial();
  }

  /** Ends the turn. */
  commit(): void {
    this.#flush();
    this.#endTurn('commit');
  }

  /** Ends the last turn, if any; resolves when everything was sent. */
  async end(): Promise<void> {
    this.#flush();
    if (this.#spoken) this.#emit(this.#rules.speechEnded?.(this.audioMs));
    if (this.#hasAudio) this.#endTurn('end');
    await this.#asked;
    await this.#finals.sent;
    for (const event of this.#rules.end?.(this) ?? []) this.#emit(event);
  }

  /** Drops everything; nothing is emitted from here on. */
  dispose(): void {
    if (this.#abort.signal.aborted) return;
    this.#abort.abort(new Error('the session is over'));
    this.#stream.close();
  }

  #frame(pcm: Int16Array): void {
    this.#push(pcm);
    this.#sincePartialMs += activityFrameMs;
    if (this.#activity.frame(pcm)) {
      this.#silentMs = 0;
      this.#pauseMs = 0;
      if (this.#spoken) return;
      this.#spoken = true;
      this.#emit(this.#rules.speechStarted?.(this));
      return;
    }
    this.#silentMs += activityFrameMs;
    this.#pauseMs += activityFrameMs;
    const endpointMs = this.#spoken ? this.#rules.endpointSilenceMs : this.#rules.emptyFinalEveryMs;
    if (endpointMs === undefined || this.#pauseMs < endpointMs) return;
    if (this.#spoken) this.#emit(this.#rules.speechEnded?.(this.audioMs - this.#silentMs));
    this.#endTurn(this.#spoken ? 'silence' : 'silence-alone');
  }

  #push(pcm: Int16Array): void {
    this.#hasAudio = true;
    this.#samples += pcm.length;
    this.#rules.onAudio?.(pcm);
    this.#stream.push(pcm);
  }

  /** Adds samples that do not fill a frame to the turn; half a sample waits for its other half. */
  #flush(): void {
    const rest = decodeAudio('pcm16', this.#bytes);
    this.#bytes = this.#bytes.slice(2 * rest.length);
    if (rest.length > 0) this.#push(rest);
  }

  #endTurn(by: TurnEnd): void {
    const { fault } = this.#rules;
    if (fault.on.includes(by) && this.#options.faults.failsTurn()) {
      this.#fail(fault.text);
      return;
    }
    if (this.#isCrowded()) return;
    const finalsOf = this.#rules.endTurn(by, this);
    this.#spoken = false;
    this.#hasAudio = false;
    this.#pauseMs = 0;
    this.#awaited += 1;
    // What throws here fails the session as well: a commit is answered, or the session ends with an error.
    this.#asked = Promise.all([this.#stream.commit(), this.#asked])
      .then(([utterances]) => {
        this.#awaited -= 1;
        this.#addFinals(finalsOf(answersOf(utterances)));
      })
      .catch((error: unknown) => this.#fail(recognitionFailure(error), error));
  }

  #isCrowded(): boolean {
    const { text, countsUnsent } = this.#rules.crowded;
    if (this.#awaited + (countsUnsent ? this.#unsent : 0) < maxWaitingTurns) return false;
    this.#fail(text);
    return true;
  }

  #addFinals(finals: readonly Final<Event>[]): void {
    this.#partialText = '';
    this.#sentText = '';
    this.#sincePartialMs = Number.POSITIVE_INFINITY;
    const { faults } = this.#options;
    for (const final of finals) {
      if (this.#rules.crowded.countsUnsent && this.#isCrowded()) return;
      this.#unsent += 1;
      this.#finals.add(final.delayMs + (final.text === '' ? 0 : faults.finalDelayMs()), () => this.#sendFinal(final));
    }
  }

  #sendFinal(final: Final<Event>): void {
    this.#unsent -= 1;
    const copies = final.text === '' ? 1 : this.#options.faults.finalCopies();
    if (copies === 0) return;
    const [event, ...rest] = final.events();
    for (let copy = 0; copy < copies; copy += 1) this.#emit(event);
    for (const follower of rest) this.#emit(follower);
  }

  /** Sends at most one partial for each message or engine partial, so that a file sent at once causes no flood. */
  #sendPartial(): void {
    const { partialEveryMs, repeatPartialMs } = this.#rules;
    // One frame early, since the next frame would be late.
    if (this.#partialText === '' || this.#sincePartialMs < partialEveryMs - activityFrameMs) return;
    const repeats = repeatPartialMs !== undefined && this.#pauseMs <= repeatPartialMs;
    if (this.#partialText === this.#sentText && !repeats) return;
    const before = this.#sentText;
    this.#sentText = this.#partialText;
    this.#sincePartialMs = 0;
    this.#emit(this.#rules.partial(this.#partialText, before, this));
  }

  #emit(event: Event | undefined): void {
    if (event !== undefined && !this.#abort.signal.aborted) this.#options.emit(event);
  }

  #fail(reason: string, cause?: unknown): void {
    if (!this.#abort.signal.aborted) this.#options.fail(reason, cause);
  }
}

/** Sends finals after their delays, in the order they were made. */
export class FinalQueue {
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  #sent: Promise<void> = Promise.resolve();

  readonly #fail: (error: unknown) => void;

  /**
   * @param signal ends all waiting; nothing more is sent
   * @param most   most finals waiting at once; each listens to the signal
   * @param fail   called with what a final threw on sending
   */
  constructor(clock: Clock, signal: AbortSignal, most: number, fail: (error: unknown) => void = () => undefined) {
    this.#clock = clock;
    this.#signal = signal;
    this.#fail = fail;
    setMaxListeners(most, signal);
  }

  /** Settles when every final added so far was sent or dropped. */
  get sent(): Promise<void> {
    return this.#sent;
  }

  add(delayMs: number, send: () => void): void {
    const due = delayMs === 0 ? Promise.resolve() : sleep(this.#clock, delayMs, this.#signal);
    this.#sent = Promise.all([due, this.#sent])
      .then(send)
      .catch((error: unknown) => {
        if (!this.#signal.aborted) this.#fail(error);
      });
  }
}
