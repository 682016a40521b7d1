import { z } from 'zod';
import { startWorker } from '../../../kernel/entry-file.ts';
import {
  SynthesisUnavailableError,
  type EngineVoice,
  type SynthesisChunk,
  type SynthesisEngine,
  type SynthesisRequest,
} from '../synth/port.ts';
import { engineSpeed, speakSentences } from '../synth/speak-sentences.ts';
import { spokenLanguage } from '../synth/spoken-language.ts';
import { ModelThread } from './model-thread.ts';
import type { OpenedModels } from '../models/open-models.ts';

/** Enough for the longest sentence on a slow machine, and for loading the models. */
const DEADLINE_MS = 120_000;
const madeSchema = z.object({ pcm: z.instanceof(Int16Array), rateHz: z.number() });

/**
 * Routes texts in a language with a model of the user's to that model, under the built-in voice names. Everything else, and cloning,
 * goes to the built-in synthesizer. Disposes of both.
 * @throws ModelOpenError when the thread does not start
 */
export async function withOwnVoices(builtIn: SynthesisEngine, opened: OpenedModels): Promise<SynthesisEngine> {
  const { modelsFolder, models, clock, logger } = opened;
  if (models.voices.length === 0) return builtIn;
  const thread = new ModelThread({
    name: 'the thread of own voices',
    startThread: () => startWorker(import.meta.url, 'voice-worker', { modelsFolder, models }),
    deadlineMs: DEADLINE_MS,
    unavailable: (reason) => new SynthesisUnavailableError(reason),
    clock,
    logger,
  });
  await thread.start();
  const languages = models.voices.flatMap((used) => used.languages);
  logger.info({ languages }, 'user voices ready');
  return new OwnVoices(builtIn, thread, new Set(languages));
}

class OwnVoices implements SynthesisEngine {
  readonly voices: readonly EngineVoice[];
  readonly defaultVoice: string;
  readonly #builtIn: SynthesisEngine;
  readonly #thread: ModelThread;
  readonly #languages: ReadonlySet<string>;

  constructor(builtIn: SynthesisEngine, thread: ModelThread, languages: ReadonlySet<string>) {
    this.voices = builtIn.voices;
    this.defaultVoice = builtIn.defaultVoice;
    this.#builtIn = builtIn;
    this.#thread = thread;
    this.#languages = languages;
  }

  synthesize(request: SynthesisRequest, signal: AbortSignal): AsyncIterable<SynthesisChunk> {
    const wanted = request.voice.trim().toLowerCase();
    const voice = this.voices.find(({ name }) => name.toLowerCase() === wanted);
    const language = voice && spokenLanguage(request.text, request.language, voice.language);
    if (voice === undefined || language === undefined || !this.#languages.has(language) || request.likeness !== undefined) {
      return this.#builtIn.synthesize(request, signal);
    }
    const render = async (text: string): Promise<SynthesisChunk> => {
      // Models do not state the gender of their speakers: the first one serves for men, the second one for women.
      const question = { language, text, speed: engineSpeed(request.speed), voice: voice.gender === 'male' ? 0 : 1 };
      return madeSchema.parse(await this.#thread.ask(question));
    };
    return speakSentences(request.text, render, { together: request.levelWhole === true, signal });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#thread[Symbol.asyncDispose]();
    await this.#builtIn[Symbol.asyncDispose]();
  }
}
