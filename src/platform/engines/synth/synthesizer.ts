import type { Clock } from '../../../kernel/clock.ts';
import type { Logger } from '../../../observability/logger.ts';
import { languageName } from '../../languages.ts';
import { defaultVoice, findVoice, OWN_RATE_HZ, voices, voiceSound, type VoiceSound } from './voices.ts';
import {
  SynthesisRefusedError,
  SynthesisUnavailableError,
  type EngineVoice,
  type SynthesisChunk,
  type SynthesisEngine,
  type SynthesisRequest,
} from './port.ts';
import type { RenderRequest } from './child-protocol.ts';
import { EngineProcess } from './engine-process.ts';
import { equalised, type LikeSound, soundLike } from './likeness.ts';
import { inReadableScript, readable, soundsRead } from './readable.ts';
import { engineSpeed, speakSentences } from './speak-sentences.ts';
import { espeakLanguage, spokenLanguage } from './spoken-language.ts';

/**
 * Starts the built-in synthesizer: espeak-ng if its optional package is installed, else flite, which speaks English only.
 * @throws SynthesisUnavailableError when neither starts
 */
export async function startSynthesizer(options: {
  readonly clock: Clock;
  readonly logger: Logger;
  /** For tests of machines without espeak. */
  readonly without?: 'espeak';
}): Promise<SynthesisEngine & { readonly engine: 'espeak' | 'flite'; readonly pid: number | undefined }> {
  const { clock, logger } = options;
  const espeak = options.without === 'espeak' ? undefined : await EngineProcess.start({ engine: 'espeak', clock, logger });
  const engine = espeak ?? (await EngineProcess.start({ engine: 'flite', clock, logger }));
  if (engine === undefined) throw new SynthesisUnavailableError('no synthesizer is installed');
  const name = espeak === undefined ? 'flite' : 'espeak';
  logger.info({ engine: name }, 'synthesizer ready');
  return new Synthesizer(name, engine);
}

class Synthesizer implements SynthesisEngine {
  readonly voices = voices;
  readonly defaultVoice = defaultVoice;
  readonly engine: 'espeak' | 'flite';
  readonly #process: EngineProcess;

  constructor(engine: 'espeak' | 'flite', process: EngineProcess) {
    this.engine = engine;
    this.#process = process;
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  async *synthesize(request: SynthesisRequest, signal: AbortSignal): AsyncGenerator<SynthesisChunk, void, undefined> {
    const voice = findVoice(request.voice);
    if (voice === undefined) throw new SynthesisRefusedError('unknown voice', { facts: { voice: request.voice.slice(0, 40) } });
    yield* speakSentences(request.text, (sentence) => this.#sentence(sentence, voice, request), {
      together: request.levelWhole === true,
      signal,
    });
  }

  /** One sentence as the engine renders it, at no particular level. */
  async #sentence(text: string, voice: EngineVoice, request: SynthesisRequest): Promise<SynthesisChunk> {
    const speed = engineSpeed(request.speed);
    const written = inReadableScript(text);
    const language = espeakLanguage(written, request.language, voice.language);
    const words = this.engine === 'espeak' ? readable(written, language) : written;
    const like = request.likeness && soundLike(request.likeness);
    const sound = like ?? voiceSound(voice.name);
    // Played at another rate, the speech would be that much faster.
    const played = sound.rateHz / OWN_RATE_HZ;
    const pace = (speed * sound.pace) / played;
    const setting = this.#setting(voice, language, sound, like);
    const { pcm, rateHz } = await this.#process.render({ text: words, speed: pace, ...setting }).catch((error: unknown) => {
      if (!(error instanceof SynthesisRefusedError) || error.facts['noVoice'] !== true) throw error;
      const wanted = spokenLanguage(written, request.language, voice.language);
      throw new SynthesisRefusedError(`there is no voice for ${languageName(wanted)} on this platform`, {
        cause: error,
        facts: { language: wanted },
      });
    });
    if (!soundsRead(words, (pcm.length / rateHz) * pace)) {
      throw new SynthesisRefusedError('the engine would spell this text out or skip it; write it in another script', {
        facts: { language },
      });
    }
    const playedHz = Math.round(rateHz * played);
    return { pcm: like === undefined ? pcm : equalised(pcm, playedHz, like.gainsDb), rateHz: playedHz };
  }

  /** The engine's setting of a sound. */
  #setting(
    voice: EngineVoice,
    language: string,
    sound: VoiceSound,
    like: LikeSound | undefined,
  ): Omit<RenderRequest, 'id' | 'text' | 'speed'> {
    if (this.engine === 'espeak') {
      return { voice: `${language}+${sound.variant}`, pitch: sound.pitch, range: like?.range ?? 50 };
    }
    if (language !== 'en-us') {
      throw new SynthesisRefusedError(
        'this platform speaks English only: espeak-ng, which speaks the other languages, is not installed',
        { facts: { language } },
      );
    }
    // flite has a scale of its own for pitch, and no setting for the range.
    const gender = like?.gender ?? voice.gender;
    const middleHz = gender === 'female' ? 170 : 105;
    const pitch = like === undefined ? 50 : 50 + ((like.pitchHz * OWN_RATE_HZ) / like.rateHz - middleHz) / 0.7;
    return { voice: gender === 'female' ? 'slt' : 'rms', pitch };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process[Symbol.asyncDispose]();
  }
}
