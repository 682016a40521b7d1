import type { Clock } from '../../kernel/clock.ts';
import { type Logger, silentLogger } from '../../observability/logger.ts';
import { openModels } from './models/open-models.ts';
import { withModelRecognition } from './models/model-recognition.ts';
import { modelSpeakers } from './models/model-speakers.ts';
import { withModelVoices } from './models/model-voices.ts';
import type { RecognitionEngine } from './recognise/port.ts';
import type { SynthesisEngine } from './synth/port.ts';
import { startRecogniser } from './recognise/recogniser.ts';
import { builtInSpeakers } from './speakers/diarise.ts';
import type { SpeakerEngine } from './speakers/port.ts';
import { startSynthesizer } from './synth/synthesizer.ts';

/**
 * Starts the embedded platform's engines. The first start may learn vocabularies (some CPU seconds), which are cached in `cacheFolder`.
 * @param options.vocabularyFolder holds `vocabulary.<lang>.yaml`, one a language
 * @throws SynthesisUnavailableError, VocabularyError, RecognitionUnavailableError, ModelOpenError
 */
export async function createEngines(options: {
  readonly cacheFolder: string;
  readonly vocabularyFolder: string;
  /** Speech models; none when absent. */
  readonly modelsFolder?: string | undefined;
  /** That recognise and speak with them; 0, as when absent: by the cores and the memory. */
  readonly threads?: number;
  readonly clock: Clock;
  readonly logger?: Logger;
}): Promise<{ synthesis: SynthesisEngine; recognition: RecognitionEngine; speakers: SpeakerEngine }> {
  const { cacheFolder, vocabularyFolder, modelsFolder, threads = 0, clock, logger = silentLogger } = options;
  // First, so that missing models are reported before anything starts.
  const own = modelsFolder === undefined ? undefined : await openModels(modelsFolder, clock, logger);
  let synthesis: SynthesisEngine = await startSynthesizer({ clock, logger });
  let recognition: RecognitionEngine | undefined;
  try {
    recognition = await startRecogniser({ cacheFolder, vocabularyFolder, clock, logger });
    if (own !== undefined) {
      synthesis = await withModelVoices(synthesis, own, threads);
      recognition = await withModelRecognition(recognition, own, threads);
    }
    const speakers = (own && (await modelSpeakers(own))) ?? builtInSpeakers;
    return { synthesis, recognition, speakers };
  } catch (error) {
    await recognition?.[Symbol.asyncDispose]();
    await synthesis[Symbol.asyncDispose]();
    throw error;
  }
}
