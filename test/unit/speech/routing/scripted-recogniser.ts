import type { Clock } from '../../../../src/kernel/clock.ts';
import { PLATFORM_RECOGNITION } from '../../../../src/speech/platform-capabilities.ts';
import type {
  Recogniser,
  RecogniserCapabilities,
  RecognitionEvent,
  RecognitionOptions,
  RecognitionSession,
} from '../../../../src/speech/port.ts';

/** 100 ms at 8 kHz in which somebody speaks; `word` can be read out of its samples. */
export function spoken(word: number): Int16Array {
  return new Int16Array(800).fill(4_000 + word);
}

export const silence = new Int16Array(800);

/** How one session behaves: times in ms, undefined for never. */
export interface SessionScript {
  readonly readyMs?: number | undefined;
  /** From a commit to its final. */
  readonly finalMs?: number | undefined;
}

/** A session that "recognises" the words in the samples it was sent since its last commit. */
export class ScriptedSession implements RecognitionSession {
  readonly options: RecognitionOptions;
  readonly heard: number[] = [];
  commits = 0;
  state: 'open' | 'closed' | 'aborted' = 'open';
  readonly #emit: (event: RecognitionEvent) => void;
  readonly #clock: Clock;
  script: SessionScript;
  deaf = false;
  #pending: number[] = [];
  #seg = 0;
  #finalAtMs = 0;

  constructor(options: RecognitionOptions, emit: (event: RecognitionEvent) => void, clock: Clock, script: SessionScript) {
    this.options = options;
    this.#emit = emit;
    this.#clock = clock;
    this.script = script;
    if (script.readyMs !== undefined) clock.after(script.readyMs, () => this.emit({ type: 'ready' }));
  }

  emit(event: RecognitionEvent): void {
    if (this.state !== 'open') return;
    if (event.type === 'closed') this.state = 'closed';
    this.#emit(event);
  }

  partial(text: string): void {
    this.emit({ type: 'partial', seg: this.#seg, text });
  }

  send(pcm: Int16Array): void {
    for (let at = 0; at < pcm.length; at += 800) {
      const word = Math.abs(pcm[at] ?? 0) - 4_000;
      if (!this.deaf && word >= 0 && this.#pending.at(-1) !== word) {
        this.heard.push(word);
        this.#pending.push(word);
      }
    }
  }

  commit(): void {
    this.commits += 1;
    const words = this.#pending.splice(0);
    const { finalMs } = this.script;
    if (finalMs === undefined) return;
    // Finals keep their order.
    this.#finalAtMs = Math.max(this.#finalAtMs, this.#clock.nowMs() + finalMs);
    this.#clock.after(this.#finalAtMs - this.#clock.nowMs(), () => {
      const text = words.join(' ');
      this.emit({ type: 'final', seg: this.#seg++, text, endOfUtterance: true, language: undefined });
    });
  }

  async end(): Promise<void> {
    this.emit({ type: 'closed', error: undefined });
  }

  abort(): void {
    this.state = 'aborted';
  }
}

export class ScriptedRecogniser implements Recogniser {
  readonly capabilities: RecogniserCapabilities;
  readonly sessions: ScriptedSession[] = [];
  readonly #clock: Clock;
  script: SessionScript;
  /** Its sessions hear no words. */
  deaf = false;

  constructor(
    clock: Clock,
    script: SessionScript = { readyMs: 50, finalMs: 200 },
    capabilities: Partial<RecogniserCapabilities> = {},
  ) {
    this.#clock = clock;
    this.script = script;
    this.capabilities = { ...PLATFORM_RECOGNITION, ...capabilities };
  }

  get last(): ScriptedSession {
    const session = this.sessions.at(-1);
    if (session === undefined) throw new Error('no session was opened');
    return session;
  }

  open(options: RecognitionOptions, listener: (event: RecognitionEvent) => void): ScriptedSession {
    const session = new ScriptedSession(options, listener, this.#clock, this.script);
    session.deaf = this.deaf;
    this.sessions.push(session);
    return session;
  }
}
