import { nearest } from '../../config/nearest.ts';
import type { Logger } from '../../observability/logger.ts';
import type { SynthesisRequest, Synthesizer } from '../../speech/port.ts';

/** The voices of the speech platform, as its last health answer had them. */
export interface VoiceList {
  readonly voices: readonly string[];
  readonly defaultVoice: string | undefined;
}

/** Names of voices that are told once; bots may name others without end. */
const MOST_TOLD = 200;

/**
 * Puts the platform's default voice in the place of one that it does not have, so that a misspelt name is a wrong voice and no
 * dead call. The log tells of each name once. While no list is known every name is taken as it is.
 */
export class VoiceNames {
  readonly #known: () => VoiceList | undefined;
  readonly #logger: Logger;
  readonly #told = new Set<string>();

  constructor(known: () => VoiceList | undefined, logger: Logger) {
    this.#known = known;
    this.#logger = logger;
  }

  /** The request with a voice that the platform has, spelt as it spells it. */
  request(asked: SynthesisRequest): SynthesisRequest {
    const { voices, defaultVoice } = this.#known() ?? { voices: [], defaultVoice: undefined };
    if (voices.length === 0 || voices.includes(asked.voice)) return asked;
    const wanted = asked.voice.trim().toLowerCase();
    const sameName = voices.find((name) => name.toLowerCase() === wanted);
    if (sameName !== undefined) return { ...asked, voice: sameName };
    const used = defaultVoice ?? voices[0] ?? asked.voice;
    this.#tell(asked.voice, used, nearest(asked.voice, voices));
    return { ...asked, voice: used };
  }

  /** A synthesizer that is asked for voices which the platform has. */
  applyTo(synthesizer: Synthesizer): Synthesizer {
    return {
      get capabilities() {
        return synthesizer.capabilities;
      },
      speak: (asked, signal) => synthesizer.speak(this.request(asked), signal),
      isInMemory: (asked) => synthesizer.isInMemory?.(this.request(asked)) ?? false,
    };
  }

  #tell(voice: string, used: string, meant: string | undefined): void {
    if (this.#told.has(voice) || this.#told.size >= MOST_TOLD) return;
    this.#told.add(voice);
    this.#logger.warn({ voice, used, nearest: meant }, 'no voice of this name: using the default voice');
  }
}
