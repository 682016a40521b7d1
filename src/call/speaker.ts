import { sleep } from '../kernel/abort.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Interruptible } from '../dialog/port.ts';
import type { Synthesizer } from '../speech/port.ts';
import type { Line } from './line.ts';
import type { Timeline } from './timeline.ts';

export interface Utterance {
  readonly text: string;
  readonly voice: string;
  readonly language: string;
  readonly speed: number;
  readonly interruptible: Interruptible;
}

export interface ReplyOptions {
  readonly turnIndex: number;
  /** Ids of its sentences start with this; it must be unique in the call. */
  readonly unitPrefix: string;
  /** Told once when the platform could not speak a sentence; the reply ends there. */
  readonly onFailure: (error: unknown) => void;
}

/** Sentences that may wait to be made; a dialog that says more waits, too. */
const MOST_WAITING = 50;
/** Speech that is made ahead of what is heard: nobody pays for the rest of a reply that is interrupted. */
const MOST_AHEAD_MS = 20_000;
const LOOK_EVERY_MS = 250;
const BYTES_PER_MS = 8;

interface Queued {
  readonly utterance: Utterance;
  readonly unitId: string;
}

/**
 * One reply on its way to the caller: its sentences are synthesized in order, ahead of playout, and streamed into the
 * line as they are made. Ends when it was closed and its last sentence is made, or when it was aborted.
 */
export class Reply {
  readonly turnIndex: number;
  readonly #line: Line;
  readonly #synthesizer: Synthesizer;
  readonly #clock: Clock;
  readonly #timeline: Timeline;
  readonly #options: ReplyOptions;
  readonly #abort = new AbortController();
  readonly #queue: Queued[] = [];
  readonly #policies = new Map<string, Interruptible>();
  #made = 0;
  #closed = false;
  #running = false;
  #madeRoom: () => void = () => undefined;
  #firstAudioMs: number | undefined;
  #madeMs = 0;

  constructor(line: Line, synthesizer: Synthesizer, clock: Clock, timeline: Timeline, options: ReplyOptions) {
    this.#line = line;
    this.#synthesizer = synthesizer;
    this.#clock = clock;
    this.#timeline = timeline;
    this.#options = options;
    this.turnIndex = options.turnIndex;
  }

  /** Aborted when nobody wants this reply any more; the dialog's answer is bound to it. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Nothing more will be queued at the line. */
  get done(): boolean {
    return this.signal.aborted || (this.#closed && !this.#running && this.#queue.length === 0);
  }

  /** A sentence is being made. */
  get synthesizing(): boolean {
    return this.#running;
  }

  /** The policy of a sentence of this reply; undefined for anything else that is played. */
  policyOf(unitId: string): Interruptible | undefined {
    return this.#policies.get(unitId);
  }

  say(utterance: Utterance): void {
    if (this.signal.aborted) return;
    const unitId = `${this.#options.unitPrefix}${this.#made}`;
    this.#made += 1;
    this.#policies.set(unitId, utterance.interruptible);
    this.#queue.push({ utterance, unitId });
    if (!this.#running) void this.#run();
  }

  /** Resolves when more can be said, or nobody wants it: a dialog that never ends must not fill the memory. */
  async room(): Promise<void> {
    while (this.#queue.length >= MOST_WAITING && !this.signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#madeRoom = resolve;
      });
    }
  }

  /** No more sentences follow. */
  close(): void {
    this.#closed = true;
  }

  abort(): void {
    this.#queue.length = 0;
    this.#abort.abort(new Error('the reply is no longer wanted'));
    this.#madeRoom();
  }

  async #run(): Promise<void> {
    this.#running = true;
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      this.#madeRoom();
      try {
        await this.#notFarAhead();
        await this.#speak(next);
      } catch (error) {
        if (!this.signal.aborted) this.#options.onFailure(error);
        this.#queue.length = 0;
        this.#madeRoom();
      }
    }
    this.#running = false;
  }

  /** Waits while more has been made than is heard soon. */
  async #notFarAhead(): Promise<void> {
    const aheadMs = (): number => this.#madeMs - (this.#clock.nowMs() - (this.#firstAudioMs ?? 0));
    while (this.#firstAudioMs !== undefined && aheadMs() > MOST_AHEAD_MS) await sleep(this.#clock, LOOK_EVERY_MS, this.signal);
  }

  async #speak({ utterance, unitId }: Queued): Promise<void> {
    const turn = this.turnIndex;
    const { text, voice, language, speed } = utterance;
    this.#line.begin({ unitId, turnIndex: turn, text });
    this.#timeline.add({ type: 'tts-asked', atMs: this.#clock.nowMs(), turn, unitId });
    let first = true;
    try {
      for await (const audio of this.#synthesizer.speak({ text, voice, language, speed }, this.signal)) {
        if (this.signal.aborted) return;
        const nowMs = this.#clock.nowMs();
        if (first) this.#timeline.add({ type: 'tts-first-byte', atMs: nowMs, turn, unitId });
        first = false;
        this.#firstAudioMs ??= nowMs;
        this.#madeMs += audio.length / BYTES_PER_MS;
        this.#line.push(unitId, audio, nowMs);
      }
    } finally {
      // Also after a failure: a unit that never ends would keep the line waiting.
      this.#line.end(unitId, this.#clock.nowMs());
    }
  }
}
