import { type Clock, type Timer } from '../../kernel/clock.ts';
import type { Recogniser, RecognitionEvent, RecognitionOptions, RecognitionSession, SwitchReason } from '../port.ts';
import type { FallbackEffect } from './fallback-effects.ts';
import { FallbackProtocol } from './fallback-protocol.ts';

/** One recogniser that may hear a session. */
export interface RecognitionCandidate {
  readonly name: string;
  readonly recogniser: Recogniser;
  /** A slot for one session; undefined when none is free. */
  takeSlot(): { release(): void } | undefined;
  /** Whether enough slots are free for a session that only stands by. */
  mayIdle(): boolean;
}

export interface RecognitionWatch {
  switched(from: RecognitionCandidate, to: RecognitionCandidate, reason: SwitchReason): void;
  failed(candidate: RecognitionCandidate, error: Error | undefined): void;
  /** A commit's final came this long after it. */
  answered(candidate: RecognitionCandidate, afterMs: number): void;
  /** Time after a commit at which its final is late. */
  finalLateMs(candidate: RecognitionCandidate): number;
}

interface Lane {
  readonly recogniser: Recogniser;
  readonly session: RecognitionSession;
  readonly slot: { release(): void };
}

/** A session that another recogniser carries on when the first one fails: `FallbackProtocol` with sessions and timers. */
export class FallbackRecognition implements RecognitionSession {
  readonly #candidates: readonly RecognitionCandidate[];
  readonly #options: RecognitionOptions;
  readonly #listener: (event: RecognitionEvent) => void;
  readonly #clock: Clock;
  readonly #watch: RecognitionWatch;
  readonly #protocol: FallbackProtocol;
  readonly #lanes = new Map<number, Lane>();
  readonly #todo: FallbackEffect[] = [];
  #doing = false;
  #phrases: readonly string[];
  #ended: Promise<void> | undefined;
  #timer: Timer | undefined;
  #timerDueMs: number | undefined;

  /** @param candidates one or more, first choice first */
  constructor(
    candidates: readonly RecognitionCandidate[],
    options: RecognitionOptions,
    listener: (event: RecognitionEvent) => void,
    { clock, watch }: { readonly clock: Clock; readonly watch: RecognitionWatch },
  ) {
    this.#candidates = candidates;
    this.#options = options;
    this.#listener = listener;
    this.#clock = clock;
    this.#watch = watch;
    this.#phrases = options.boostPhrases ?? [];
    const mayIdle = (index: number): boolean => {
      const candidate = this.#candidateAt(index);
      return candidate.recogniser.capabilities.mayIdle === true && candidate.mayIdle();
    };
    const finalLateMs = (candidate: number): number => watch.finalLateMs(this.#candidateAt(candidate));
    const nothingMs = (candidate: number): number | undefined => this.#candidateAt(candidate).recogniser.capabilities.nothingMs;
    const limits = { candidates: candidates.length, mayIdle, finalLateMs, nothingMs };
    this.#protocol = new FallbackProtocol({ rateHz: options.sampleRateHz, ...limits }, clock.nowMs());
  }

  /** Opens it. */
  start(): void {
    this.#do(this.#protocol.start(this.#clock.nowMs()));
  }

  /** Passes phrases to the current session, and to one standing by. */
  get listenFor(): RecognitionSession['listenFor'] {
    if (this.#lanes.get(this.#protocol.lane)?.session.listenFor === undefined) return undefined;
    return (phrases) => {
      this.#phrases = phrases;
      for (const { recogniser, session } of this.#lanes.values())
        session.listenFor?.(phrases.slice(0, recogniser.capabilities.mostHints));
    };
  }

  send(pcm: Int16Array): void {
    this.#do(this.#protocol.send(pcm));
  }

  commit(): void {
    this.#do(this.#protocol.commit(this.#clock.nowMs()));
  }

  async end(): Promise<void> {
    this.#do(this.#protocol.end());
    await this.#ended;
  }

  abort(): void {
    this.#do(this.#protocol.abort());
  }

  #candidateAt(index: number): RecognitionCandidate {
    const candidate = this.#candidates[index];
    if (candidate === undefined) throw new RangeError(`there is no recogniser ${index}`);
    return candidate;
  }

  /** Carries out effects in order; what a session or a listener causes meanwhile comes after them. */
  #do(effects: readonly FallbackEffect[]): void {
    for (const effect of effects) this.#todo.push(effect);
    if (this.#doing) return;
    this.#doing = true;
    try {
      for (let effect = this.#todo.shift(); effect !== undefined; effect = this.#todo.shift()) this.#one(effect);
    } finally {
      this.#doing = false;
    }
    this.#wakeAt(this.#protocol.dueMs);
  }

  #one(effect: FallbackEffect): void {
    switch (effect.type) {
      case 'open':
        this.#open(effect.lane, this.#candidateAt(effect.candidate));
        return;
      case 'send':
        this.#lanes.get(effect.lane)?.session.send(effect.pcm);
        return;
      case 'commit':
        this.#lanes.get(effect.lane)?.session.commit();
        return;
      case 'end':
        this.#ended = this.#lanes.get(effect.lane)?.session.end();
        return;
      case 'abort':
        this.#lanes.get(effect.lane)?.session.abort();
        this.#drop(effect.lane);
        return;
      case 'gone':
        this.#drop(effect.lane);
        return;
      case 'emit':
        this.#listener(effect.event);
        return;
      case 'answered':
        this.#watch.answered(this.#candidateAt(effect.candidate), effect.afterMs);
        return;
      case 'failed':
        this.#watch.failed(this.#candidateAt(effect.candidate), effect.error);
        return;
      case 'switched':
        this.#watch.switched(this.#candidateAt(effect.from), this.#candidateAt(effect.to), effect.reason);
        return;
    }
  }

  #open(lane: number, candidate: RecognitionCandidate): void {
    const slot = candidate.takeSlot();
    if (slot === undefined) {
      this.#do(this.#protocol.refused(lane, this.#clock.nowMs()));
      return;
    }
    const { recogniser } = candidate;
    const boostPhrases = this.#phrases.slice(0, recogniser.capabilities.mostHints);
    const { language, sampleRateHz } = this.#options;
    const options = { language, sampleRateHz, ...(boostPhrases.length > 0 && { boostPhrases }) };
    // An event may come before `open` has returned: it is carried out after that.
    const session = recogniser.open(options, (event) => this.#do(this.#protocol.event(lane, event, this.#clock.nowMs())));
    this.#lanes.set(lane, { recogniser, session, slot });
  }

  #drop(lane: number): void {
    this.#lanes.get(lane)?.slot.release();
    this.#lanes.delete(lane);
  }

  #wakeAt(dueMs: number | undefined): void {
    if (dueMs === this.#timerDueMs) return;
    this.#timer?.cancel();
    this.#timerDueMs = dueMs;
    if (dueMs === undefined) return;
    this.#timer = this.#clock.after(dueMs - this.#clock.nowMs(), () => {
      this.#timerDueMs = undefined;
      this.#do(this.#protocol.tick(this.#clock.nowMs()));
    });
  }
}
