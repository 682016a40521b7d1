import { setMaxListeners } from 'node:events';
import { sleep } from '../../../kernel/waiting.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { decodeAudio } from '../../../audio/codec.ts';
import { cutFrames } from '../../../audio/framing.ts';
import {
  answersOf,
  type RecognitionEngine,
  type RecognitionResult,
  type RecognitionStream,
} from '../../engines/recognise/port.ts';
import type { FaultDice } from '../faults/faults.ts';
import { type HearingOptions, openHearing, recognitionFailure } from './language-recognition.ts';
import { activityFrameMs, SpeechActivity } from './speech-activity.ts';

/** Turns that may wait for their final; a client that asks for them faster is refused. */
export const maxWaitingTurns = 256;

/** What ended a turn: the client, the end of the session, silence after speech, silence alone, or the engine's own endpoint. */
export type TurnEnd = 'commit' | 'end' | 'silence' | 'silence-alone' | 'engine';

/** Times of a running session; they move on with it. */
export interface SessionTimes {
  /** Audio that came in. */
  readonly audioMs: number;
  /** Audio since the last speech. */
  readonly silentMs: number;
  /** Since the session was opened. */
  readonly elapsedMs: number;
}

export interface Final<Event> {
  /** Empty when nothing was understood. */
  readonly text: string;
  /** Between its making and its sending. */
  readonly delayMs: number;
  /** Called when it is sent. @returns the final, which injected faults lose or repeat, and what follows it */
  events(): readonly [Event, ...Event[]];
}

/** What differs between the addresses: which turns there are, and the events that tell of them. State of one session. */
export interface TurnRules<Event> {
  /** Silence after speech that ends a turn; undefined: the client alone ends it. */
  readonly endpointSilenceMs: number | undefined;
  /** A final for each such stretch of silence in which nothing was said; undefined: never. */
  readonly emptyFinalEveryMs: number | undefined;
  /** Audio between two partials. */
  readonly partialEveryMs: number;
  /** Silence after speech in which an unchanged partial is still repeated; undefined: partials are not repeated. */
  readonly repeatPartialMs: number | undefined;
  /** More than `maxWaitingTurns` wait; whether those that only wait to be sent count. */
  readonly crowded: { readonly text: string; readonly countsUnsent: boolean };
  /** Turns that an injected fault fails. */
  readonly fault: { readonly text: string; readonly on: readonly TurnEnd[] };
  /** All audio, before it is recognised. */
  hear?(pcm: Int16Array): void;
  speechStarted?(times: SessionTimes): Event;
  /** @param atMs of the session's audio */
  speechEnded?(atMs: number): Event;
  /** @param before the last partial of this turn, empty when there was none */
  partial(text: string, before: string, times: SessionTimes): Event;
  /** A turn is over. @returns what makes finals of its utterances, once they are known */
  endTurn(by: TurnEnd, times: SessionTimes): (utterances: readonly RecognitionResult[]) => readonly Final<Event>[];
  /** The last events of a session that the client ended. */
  end?(times: SessionTimes): readonly Event[];
}

export interface RecognitionSessionOptions<Event> {
  readonly hearing: HearingOptions;
  readonly rules: TurnRules<Event>;
  readonly faults: FaultDice;
  readonly clock: Clock;
  readonly engine: RecognitionEngine;
  readonly emit: (event: Event) => void;
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
export class RecognitionSession<Event> implements SessionTimes {
  readonly #options: RecognitionSessionOptions<Event>;
  readonly #rules: TurnRules<Event>;
  readonly #frameBytes: number;
  readonly #stream: RecognitionStream;
  readonly #activity = new SpeechActivity();
  readonly #abort = new AbortController();
  readonly #line: FinalLine;
  readonly #openedMs: number;
  /** Received bytes that do not fill a frame. */
  #bytes: Uint8Array = new Uint8Array(0);
  #samples = 0;
  #silentMs = 0;
  /** Silence since the last speech or the last turn that was ended. */
  #pauseMs = 0;
  /** Speech has been heard in this turn. */
  #spoken = false;
  /** Audio has come in since the last turn was ended. */
  #heard = false;
  #guess = '';
  #sentGuess = '';
  #sincePartialMs = Number.POSITIVE_INFINITY;
  /** Results asked for that have not come. */
  #awaited = 0;
  /** Finals made that were not sent. */
  #unsent = 0;
  /** Settles when every result asked for so far has come; results are taken in the order they were asked for. */
  #asked: Promise<void> = Promise.resolve();

  /** @throws the engine's error when no stream can be opened */
  constructor(options: RecognitionSessionOptions<Event>) {
    this.#options = options;
    this.#rules = options.rules;
    this.#line = new FinalLine(options.clock, this.#abort.signal, maxWaitingTurns);
    this.#frameBytes = 2 * Math.round((options.hearing.rateHz * activityFrameMs) / 1000);
    this.#openedMs = options.clock.nowMs();
    this.#stream = openHearing(options.engine, options.hearing, (event) => {
      switch (event.type) {
        case 'partial':
          // While a result is on its way it is not sure which turn a guess is of; the next one will tell.
          if (this.#awaited > 0) return;
          this.#guess = event.text;
          this.#sendPartial();
          return;
        case 'segment':
          this.#addFinals(this.#rules.endTurn('engine', this)([event.result]));
          return;
      }
    });
  }

  get audioMs(): number {
    return Math.round((this.#samples * 1000) / this.#options.hearing.rateHz);
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

  /** Ends the last turn when there is one; resolves when everything was sent. */
  async end(): Promise<void> {
    this.#flush();
    if (this.#spoken) this.#emit(this.#rules.speechEnded?.(this.audioMs));
    if (this.#heard) this.#endTurn('end');
    await this.#asked;
    await this.#line.sent;
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
    this.#heard = true;
    this.#samples += pcm.length;
    this.#rules.hear?.(pcm);
    this.#stream.push(pcm);
  }

  /** The samples that do not fill a frame belong to the turn too; half a sample waits for its other half. */
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
    this.#heard = false;
    this.#pauseMs = 0;
    this.#awaited += 1;
    this.#asked = Promise.all([this.#stream.commit(), this.#asked]).then(
      ([utterances]) => {
        this.#awaited -= 1;
        this.#addFinals(finalsOf(answersOf(utterances)));
      },
      (error: unknown) => this.#fail(recognitionFailure(error), error),
    );
  }

  #isCrowded(): boolean {
    const { text, countsUnsent } = this.#rules.crowded;
    if (this.#awaited + (countsUnsent ? this.#unsent : 0) < maxWaitingTurns) return false;
    this.#fail(text);
    return true;
  }

  #addFinals(finals: readonly Final<Event>[]): void {
    this.#guess = '';
    this.#sentGuess = '';
    this.#sincePartialMs = Number.POSITIVE_INFINITY;
    const { faults } = this.#options;
    for (const final of finals) {
      if (this.#rules.crowded.countsUnsent && this.#isCrowded()) return;
      this.#unsent += 1;
      this.#line.add(final.delayMs + (final.text === '' ? 0 : faults.finalDelayMs()), () => this.#sendFinal(final));
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

  /** At most one a message or guess, so that a file sent at once does not raise a storm. */
  #sendPartial(): void {
    const { partialEveryMs, repeatPartialMs } = this.#rules;
    // A frame early: the next one would already be late.
    if (this.#guess === '' || this.#sincePartialMs < partialEveryMs - activityFrameMs) return;
    const repeats = repeatPartialMs !== undefined && this.#pauseMs <= repeatPartialMs;
    if (this.#guess === this.#sentGuess && !repeats) return;
    const before = this.#sentGuess;
    this.#sentGuess = this.#guess;
    this.#sincePartialMs = 0;
    this.#emit(this.#rules.partial(this.#guess, before, this));
  }

  #emit(event: Event | undefined): void {
    if (event !== undefined && !this.#abort.signal.aborted) this.#options.emit(event);
  }

  #fail(reason: string, cause?: unknown): void {
    if (!this.#abort.signal.aborted) this.#options.fail(reason, cause);
  }
}

/** Finals on their way out: each at its time or later, in the order they were made. */
export class FinalLine {
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  #sent: Promise<void> = Promise.resolve();

  /**
   * @param signal ends all waiting, and nothing more is sent
   * @param most   finals that may wait at once; each listens to the signal
   */
  constructor(clock: Clock, signal: AbortSignal, most: number) {
    this.#clock = clock;
    this.#signal = signal;
    setMaxListeners(most, signal);
  }

  /** Settles when every final added so far was sent, or will not be. */
  get sent(): Promise<void> {
    return this.#sent;
  }

  add(delayMs: number, send: () => void): void {
    const due = delayMs === 0 ? Promise.resolve() : sleep(this.#clock, delayMs, this.#signal);
    // Only the signal stops the wait.
    this.#sent = Promise.all([due, this.#sent]).then(send, () => undefined);
  }
}
