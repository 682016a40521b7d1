import type { Clock, Timer } from '../../kernel/clock.ts';
import { Reconnection } from '../asr/reconnection.ts';
import { ReplayBuffer } from '../asr/replay-buffer.ts';
import { SpeechUnavailableError } from '../client/errors.ts';
import type { Recogniser, RecogniserCapabilities, RecognitionEvent, RecognitionOptions, RecognitionSession } from '../port.ts';

/** A stream that hears one turn: ending it finalises what it heard. */
export interface TurnStream {
  /** Little-endian 16-bit mono samples; what comes before the vendor listens is held by the stream. */
  send(pcm: Uint8Array): void;
  /** No more audio: its last final comes, then `finished`. */
  end(): void;
  /** Drops the utterance without a result. */
  abort(): void;
}

export interface TurnStreamListener {
  /** The vendor listens. */
  ready(): void;
  partial(text: string): void;
  final(text: string, language: string | undefined): void;
  /** All finals of a stream that was ended have come. Nothing follows. */
  finished(): void;
  /** The stream was lost with everything not finalised. Nothing follows. @param error undefined where it only became too old */
  lost(error: Error | undefined): void;
}

export interface TurnStreamsOptions {
  readonly clock: Clock;
  readonly random?: () => number;
  /** Opens a stream. Nothing comes of it before this has returned; failures come as `lost`. */
  readonly open: (hints: readonly string[], listener: TurnStreamListener) => TurnStream;
  readonly mostHints: number;
  /** The session is over, however it ended. */
  readonly onOver?: () => void;
}

/** Audio that can be sent again. */
const KEPT_S = 10;
/** An ended stream that has said nothing for this long is taken for dead. */
const ANSWER_TIMEOUT_MS = 5_000;
const END_TIMEOUT_MS = 5_000;
/** A stream that the vendor ends sooner by itself has failed; others became too old. */
const LEAST_LIFE_MS = 5_000;
/** RFC 6455, 7.4.1: the connection went without a close. */
const ABNORMAL_CLOSE = 1006;
/** Speaking time of a character, with which the end of a final is found in the audio. */
const CHARACTER_MS = 65;

interface Turn {
  stream: TurnStream | undefined;
  /** Position of the commit that ended it; undefined for the turn that is going on. */
  until: number | undefined;
  /** Its stream got the end message. */
  ended: boolean;
  openedMs: number;
  /** A final has come since its commit. */
  answered: boolean;
  /** Its audio was given a second time after it had no answer. */
  repeated: boolean;
  /** Its results, held while an earlier turn is open. */
  waiting: (() => void)[];
}

/**
 * A recognition session of a vendor whose streams have no commit: each commit ends a stream, which finalises what it heard, and the next one goes on.
 * Streams that die are opened again, with the audio since the last final. Finals come in the order of the turns.
 */
export class TurnStreams implements RecognitionSession {
  readonly #options: TurnStreamsOptions;
  readonly #listener: (event: RecognitionEvent) => void;
  readonly #rateHz: number;
  readonly #audio: ReplayBuffer;
  readonly #reconnection: Reconnection;
  #hints: readonly string[];
  /** Oldest first; the last one is going on. */
  #turns: Turn[] = [newTurn()];
  #seg = 0;
  #openedMs: number | undefined;
  #isReady = false;
  /** Waits to open streams again. */
  #retry: Timer | undefined;
  #answerTimer: Timer | undefined;
  #ending: { readonly limit: Timer } | undefined;
  #resolveOver: () => void = () => undefined;
  readonly #whenOver = new Promise<void>((resolve) => (this.#resolveOver = resolve));
  #isOver = false;

  /** Opens the first stream. */
  constructor(options: TurnStreamsOptions, asked: RecognitionOptions, listener: (event: RecognitionEvent) => void) {
    this.#options = options;
    this.#listener = listener;
    this.#rateHz = asked.sampleRateHz;
    this.#audio = new ReplayBuffer(KEPT_S * asked.sampleRateHz, asked.sampleRateHz);
    this.#hints = (asked.boostPhrases ?? []).slice(0, options.mostHints);
    this.#reconnection = new Reconnection(options.random ?? Math.random, false, options.clock.nowMs());
    this.#pump();
  }

  send(pcm: Int16Array): void {
    if (this.#isOver || this.#ending !== undefined) return;
    this.#audio.push(pcm);
    this.#pump();
  }

  commit(): void {
    const turn = this.#turns.at(-1);
    if (this.#isOver || this.#ending !== undefined || turn === undefined) return;
    turn.until = this.#audio.end;
    this.#turns.push(newTurn());
    this.#pump();
    this.#awaitAnswer();
  }

  /** Streams that are opened from now on are biased toward these phrases. */
  listenFor(phrases: readonly string[]): void {
    this.#hints = phrases.slice(0, this.#options.mostHints);
  }

  end(): Promise<void> {
    const going = this.#turns.at(-1);
    if (going !== undefined && this.#ending === undefined) {
      going.until = this.#audio.end;
      this.#ending = { limit: this.#options.clock.after(END_TIMEOUT_MS, () => this.#close(undefined)) };
      this.#pump();
    }
    return this.#whenOver;
  }

  abort(): void {
    this.#close(undefined, true);
  }

  /** Opens the streams that are missing, and sends each the audio of its turn. */
  #pump(): void {
    if (this.#isOver || this.#retry !== undefined) return;
    for (const turn of this.#turns) {
      turn.stream ??= this.#open(turn);
      const until = turn.until ?? this.#audio.end;
      if (until > this.#audio.next) turn.stream.send(this.#audio.take(until));
      if (turn.until === undefined || turn.ended) continue;
      turn.ended = true;
      turn.stream.end();
    }
    this.#tellLosses('the recogniser could not be reached');
  }

  #open(turn: Turn): TurnStream {
    this.#reconnection.connecting();
    const nowMs = this.#options.clock.nowMs();
    this.#openedMs ??= nowMs;
    turn.openedMs = nowMs;
    const isMine = (): boolean => turn.stream === stream;
    /** In the order of the turns. */
    const inTurn = (run: () => void): void => {
      if (!isMine()) return;
      if (turn === this.#turns[0]) run();
      else turn.waiting.push(run);
    };
    const stream = this.#options.open(this.#hints, {
      ready: () => {
        if (isMine()) this.#ready();
      },
      partial: (text) => inTurn(() => this.#listener({ type: 'partial', seg: this.#seg, text })),
      final: (text, language) => inTurn(() => this.#final(turn, text, language)),
      finished: () => inTurn(() => this.#finished(turn)),
      lost: (error) => {
        if (isMine()) this.#lost(error ?? this.#agedOr(turn));
      },
    });
    return stream;
  }

  #ready(): void {
    this.#reconnection.ready();
    if (this.#isReady) return;
    this.#isReady = true;
    this.#listener({ type: 'ready' });
  }

  #final(turn: Turn, text: string, language: string | undefined): void {
    if (text === '') return;
    if (turn.until !== undefined) turn.answered = true;
    const end = this.#audio.segmentEnd(text.length * CHARACTER_MS) ?? turn.until;
    if (end !== undefined) this.#audio.settle(Math.min(end, turn.until ?? end));
    this.#tell(text, language);
    this.#awaitAnswer();
  }

  #tell(text: string, language: string | undefined): void {
    const seg = this.#seg;
    this.#seg += 1;
    this.#listener({ type: 'final', seg, text, endOfUtterance: undefined, language });
  }

  /** The first turn's stream has finished. */
  #finished(turn: Turn): void {
    if (turn.until === undefined) {
      this.#lost(this.#agedOr(turn));
      return;
    }
    if (!turn.answered) this.#tell('', undefined);
    this.#audio.settle(turn.until);
    this.#next();
  }

  /** The first turn is over. */
  #next(): void {
    this.#turns.shift();
    this.#awaitAnswer();
    const next = this.#turns[0];
    if (next === undefined) this.#close(undefined);
    else for (const run of next.waiting.splice(0)) run();
  }

  /** Undefined for a stream that became too old, which is no failure. */
  #agedOr({ openedMs }: Turn): Error | undefined {
    const isAged = this.#options.clock.nowMs() - openedMs >= LEAST_LIFE_MS;
    return isAged ? undefined : new SpeechUnavailableError('recognition: the vendor ended a stream at once');
  }

  /** The first turn was ended and has had no answer: it is said again once, and then given up. */
  #unanswered(): void {
    const [turn] = this.#turns;
    if (turn?.until === undefined) return;
    if (!turn.repeated) {
      turn.repeated = true;
      this.#lost(new SpeechUnavailableError('recognition: a turn that was ended has had no answer'));
      return;
    }
    const { settled } = this.#audio;
    if (this.#audio.hasVoice(settled, turn.until)) this.#tellLost(settled, turn.until - settled, 'it had no answer twice');
    this.#tell('', undefined);
    this.#audio.settle(turn.until);
    const { stream } = turn;
    turn.stream = undefined;
    stream?.abort();
    this.#next();
  }

  /** Every turn is said again. */
  #lost(error: Error | undefined): void {
    if (this.#isOver) return;
    for (const turn of this.#turns) {
      const { stream } = turn;
      Object.assign(turn, newTurn(), { until: turn.until, answered: turn.answered, repeated: turn.repeated });
      stream?.abort();
    }
    if (error === undefined) {
      this.#audio.rewind();
      this.#pump();
    } else this.#reconnect(error);
  }

  #reconnect(error: Error): void {
    const { clock } = this.#options;
    const was = this.#isReady
      ? { name: 'ready' as const, openedMs: this.#openedMs ?? 0 }
      : { name: 'connecting' as const, untilMs: clock.nowMs() };
    const next = this.#reconnection.died(clock.nowMs(), was, { error, code: this.#isReady ? ABNORMAL_CLOSE : undefined });
    this.#openedMs = undefined;
    this.#isReady = false;
    if (next === 'give-up') {
      this.#close(error);
      return;
    }
    this.#listener({ type: 'reconnecting', reason: error.message });
    this.#audio.rewind();
    const delayMs = 'untilMs' in next ? Math.max(0, next.untilMs - clock.nowMs()) : 0;
    this.#retry = clock.after(delayMs, () => {
      this.#retry = undefined;
      this.#pump();
      this.#awaitAnswer();
    });
  }

  /** Waits for what ended streams have to say. */
  #awaitAnswer(): void {
    this.#answerTimer?.cancel();
    this.#answerTimer = undefined;
    if (this.#isOver || this.#retry !== undefined || this.#turns[0]?.until === undefined) return;
    this.#answerTimer = this.#options.clock.after(ANSWER_TIMEOUT_MS, () => this.#unanswered());
  }

  #tellLosses(reason: string): void {
    const lost = this.#audio.takeLost();
    if (lost !== undefined) this.#tellLost(lost.fromSample, lost.samples, reason);
  }

  #tellLost(fromSample: number, samples: number, reason: string): void {
    const ms = (count: number): number => Math.round((count * 1000) / this.#rateHz);
    this.#listener({ type: 'audio-lost', fromMs: ms(fromSample), lostMs: ms(samples), reason });
  }

  #close(error: Error | undefined, silently = false): void {
    if (this.#isOver) return;
    for (const timer of [this.#retry, this.#answerTimer, this.#ending?.limit]) timer?.cancel();
    const turns = this.#turns;
    this.#turns = [];
    for (const turn of turns) {
      const { stream } = turn;
      turn.stream = undefined;
      stream?.abort();
    }
    if (!silently && error !== undefined) {
      this.#audio.abandon();
      this.#tellLosses(error.message);
    }
    this.#isOver = true;
    this.#audio.close();
    if (!silently) this.#listener({ type: 'closed', error });
    this.#resolveOver();
    this.#options.onOver?.();
  }
}

/** Recognition by a service whose streams have no commit: each turn is a stream of its own. */
export abstract class TurnStreamRecogniser implements Recogniser {
  abstract readonly capabilities: RecogniserCapabilities;
  readonly #clock: Clock;
  readonly #sessions = new Set<TurnStreams>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  protected abstract openStream(options: RecognitionOptions, hints: readonly string[], listener: TurnStreamListener): TurnStream;

  open(options: RecognitionOptions, listener: (event: RecognitionEvent) => void): RecognitionSession {
    const session: TurnStreams = new TurnStreams(
      {
        clock: this.#clock,
        mostHints: this.capabilities.mostHints,
        open: (hints, streamListener) => this.openStream(options, hints, streamListener),
        onOver: () => this.#sessions.delete(session),
      },
      options,
      listener,
    );
    this.#sessions.add(session);
    return session;
  }

  /** How many sessions are open. */
  get size(): number {
    return this.#sessions.size;
  }

  /** Aborts every session. */
  abort(): void {
    for (const session of this.#sessions) session.abort();
  }
}

function newTurn(): Turn {
  return { stream: undefined, until: undefined, openedMs: 0, ended: false, answered: false, repeated: false, waiting: [] };
}
