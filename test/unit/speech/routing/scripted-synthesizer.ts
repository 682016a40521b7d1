import type { Clock } from '../../../../src/kernel/clock.ts';
import { sleep } from '../../../../src/kernel/waiting.ts';
import { PLATFORM_SYNTHESIS } from '../../../../src/speech/platform-capabilities.ts';
import type { SynthesisRequest, Synthesizer, SynthesizerCapabilities } from '../../../../src/speech/port.ts';

/** A step of what a synthesizer does with a sentence: wait so long, give so many bytes of its own value, fail, or never go on. */
export type SpeechStep = { readonly waitMs: number } | { readonly bytes: number } | Error | 'fail' | 'hang';

/** Speaks every sentence as its script says, in bytes of its own value. */
export class ScriptedSynthesizer implements Synthesizer {
  readonly capabilities: SynthesizerCapabilities;
  readonly asked: SynthesisRequest[] = [];
  aborted = 0;
  readonly #value: number;
  readonly #clock: Clock;
  script: readonly SpeechStep[];

  constructor(clock: Clock, value: number, script: readonly SpeechStep[], capabilities: Partial<SynthesizerCapabilities> = {}) {
    this.#clock = clock;
    this.#value = value;
    this.script = script;
    this.capabilities = { ...PLATFORM_SYNTHESIS, ...capabilities };
  }

  async *speak(request: SynthesisRequest, signal: AbortSignal): AsyncIterable<Uint8Array> {
    this.asked.push(request);
    const onAbort = (): void => void (this.aborted += 1);
    signal.addEventListener('abort', onAbort);
    try {
      for (const step of this.script) {
        if (step instanceof Error) throw step;
        if (step === 'fail') throw new Error(`synthesizer ${this.#value} failed`);
        if (step === 'hang') await sleep(this.#clock, 3_600_000, signal);
        else if ('waitMs' in step) await sleep(this.#clock, step.waitMs, signal);
        else yield new Uint8Array(step.bytes).fill(this.#value);
      }
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }
}
