import type { Clock } from '../../kernel/clock.ts';
import { type Logger, silentLogger } from '../../observability/logger.ts';
import { withOwnModels } from './own/own-recogniser.ts';
import type { RecognitionEngine, SynthesisEngine } from './port.ts';
import { startRecogniser } from './recognise/recogniser.ts';
import { startSynthesizer } from './synth/synthesizer.ts';

/**
 * The embedded platform's engines, ready to use. The first start learns the vocabularies (some CPU seconds) and keeps
 * what it learnt in `cacheFolder`.
 * @param options.vocabularyFolder holds `vocabulary.<lang>.yaml`, one a language
 * @throws SynthesisUnavailableError, VocabularyError, RecognitionUnavailableError, OwnModelError
 */
export async function createEngines(options: {
  readonly cacheFolder: string;
  readonly vocabularyFolder: string;
  /** The user's own models; none when absent. */
  readonly modelsFolder?: string | undefined;
  readonly clock: Clock;
  readonly logger?: Logger;
}): Promise<{ synthesis: SynthesisEngine; recognition: RecognitionEngine }> {
  const { cacheFolder, vocabularyFolder, modelsFolder, clock, logger = silentLogger } = options;
  const synthesis = await startSynthesizer({ clock, logger });
  try {
    const builtIn = await startRecogniser({ cacheFolder, vocabularyFolder, clock, logger });
    if (modelsFolder === undefined) return { synthesis, recognition: builtIn };
    try {
      return { synthesis, recognition: await withOwnModels(builtIn, { modelsFolder, clock, logger }) };
    } catch (error) {
      await builtIn[Symbol.asyncDispose]();
      throw error;
    }
  } catch (error) {
    await synthesis[Symbol.asyncDispose]();
    throw error;
  }
}
