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

  /** No more sentences follow. */
  close(): void {
    this.#closed = true;
  }

  abort(): void {
    this.#queue.length = 0;
    this.#abort.abort(new Error('the reply is no longer wanted'));
  }

  async #run(): Promise<void> {
    this.#running = true;
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      try {
        await this.#speak(next);
      } catch (error) {
        if (!this.signal.aborted) this.#options.onFailure(error);
        this.#queue.length = 0;
      }
    }
    this.#running = false;
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
        this.#line.push(unitId, audio, nowMs);
      }
    } finally {
      // Also after a failure: a unit that never ends would keep the line waiting.
      this.#line.end(unitId, this.#clock.nowMs());
    }
  }
}
