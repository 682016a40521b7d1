import { nearest } from '../../config/nearest.ts';
import type { Logger } from '../../observability/logger.ts';
import type { SynthesisRequest, Synthesizer } from '../../speech/port.ts';

/** The speech platform's voices, from its last health response. */
export interface VoiceList {
  readonly voices: readonly string[];
  readonly defaultVoice: string | undefined;
}

/** Most unknown voice names logged; bots may invent any number. */
const MOST_TOLD = 200;

/**
 * Replaces a voice that the platform does not have by its default, so that a misspelt name means a wrong voice instead of a dead call. Each name is
 * logged once. Without a list, every name passes.
 */
export class VoiceNames {
  readonly #known: () => VoiceList | undefined;
  readonly #logger: Logger;
  readonly #told = new Set<string>();

  constructor(known: () => VoiceList | undefined, logger: Logger) {
    this.#known = known;
    this.#logger = logger;
  }

  /** The request with a voice the platform has, in the platform's spelling. */
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

  /** A synthesizer that only receives known voices. */
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
