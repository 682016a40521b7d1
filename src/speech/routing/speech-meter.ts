import type { Recogniser, RecognitionSession, SpeechUsage, Synthesizer } from '../port.ts';

/** Counts what each vendor is asked for in one call: seconds of audio to recognise, and characters to speak. */
export class SpeechMeter {
  readonly #used = new Map<string, { vendor: string; unit: SpeechUsage['unit']; amount: number }>();

  get used(): readonly SpeechUsage[] {
    return [...this.#used.values()].map((used) => ({ ...used }));
  }

  /** The recogniser, with the audio given to its sessions counted; audio sent again after a reconnect counts once. */
  recogniser(vendor: string, recogniser: Recogniser): Recogniser {
    const heard = this.#counter(vendor, 'recogniser-seconds');
    return {
      get capabilities() {
        return recogniser.capabilities;
      },
      open(options, listener): RecognitionSession {
        const session = recogniser.open(options, listener);
        return {
          send(pcm) {
            heard.amount += pcm.length / options.sampleRateHz;
            session.send(pcm);
          },
          commit: () => session.commit(),
          ...(session.listenFor === undefined ? {} : { listenFor: (phrases: readonly string[]) => session.listenFor?.(phrases) }),
          end: () => session.end(),
          abort: () => session.abort(),
        };
      },
    };
  }

  /** The synthesizer, with the characters of its requests counted: those that come from the cache by themselves. */
  synthesizer(vendor: string, synthesizer: Synthesizer): Synthesizer {
    return {
      get capabilities() {
        return synthesizer.capabilities;
      },
      ...(synthesizer.isInMemory === undefined ? {} : { isInMemory: (request) => synthesizer.isInMemory?.(request) === true }),
      speak: (request, signal) => {
        const isCached = synthesizer.isInMemory?.(request) === true;
        this.#counter(vendor, isCached ? 'cached-characters' : 'synthesized-characters').amount += Array.from(
          request.text,
        ).length;
        return synthesizer.speak(request, signal);
      },
    };
  }

  #counter(vendor: string, unit: SpeechUsage['unit']): { amount: number } {
    const key = `${vendor} ${unit}`;
    const counter = this.#used.get(key) ?? { vendor, unit, amount: 0 };
    this.#used.set(key, counter);
    return counter;
  }
}
