import { availableParallelism } from 'node:os';
import { resample } from '../../../audio/resample.ts';
import { joinSamples } from '../../../audio/samples.ts';
import { entryFile } from '../../../kernel/entry-file.ts';
import type { Used, VoiceModel } from '../../../speech/models/model.ts';
import { languageName } from '../../languages.ts';
import { EngineProcess } from '../synth/engine-process.ts';
import {
  type EngineVoice,
  type SynthesisChunk,
  type SynthesisEngine,
  SynthesisRefusedError,
  type SynthesisRequest,
} from '../synth/port.ts';
import { soundsRead } from '../synth/readable.ts';
import { engineSpeed, sentences, speakSentences, withShortStart } from '../synth/speak-sentences.ts';
import { espeakIdentifier, spokenLanguage } from '../synth/spoken-language.ts';
import { type ModelSpeaker, namedSpeakers, speakerFor } from './model-speaker-names.ts';
import type { OpenedModels } from './open-models.ts';
import type { VoiceRequest } from './voice-child.ts';

interface Task {
  readonly priority: 'live' | 'batch';
  readonly signal: AbortSignal;
  start(): void;
  drop(): void;
}

/**
 * Limits how many texts are synthesized at once. Live calls go first, and one of several places is reserved for them: a call never waits for a batch.
 * A piece whose request was aborted does not start.
 */
export class RenderQueue {
  readonly #most: number;
  readonly #waiting: Task[] = [];
  readonly #running = { live: 0, batch: 0 };

  /** @param most pieces at once */
  constructor(most: number) {
    this.#most = most;
  }

  /** @throws what the work throws, or the signal's reason before it started */
  run<Value>(work: () => Promise<Value>, priority: 'live' | 'batch', signal: AbortSignal): Promise<Value> {
    return new Promise((resolve, reject) => {
      const aborted = (): void => {
        const place = this.#waiting.indexOf(task);
        if (place >= 0) this.#waiting.splice(place, 1);
        task.drop();
      };
      const task: Task = {
        priority,
        signal,
        start: () => {
          signal.removeEventListener('abort', aborted);
          this.#running[priority] += 1;
          work()
            .finally(() => {
              this.#running[priority] -= 1;
              this.#next();
            })
            .then(resolve, reject);
        },
        drop: () => reject(signal.reason as Error),
      };
      if (signal.aborted) {
        task.drop();
        return;
      }
      signal.addEventListener('abort', aborted, { once: true });
      this.#waiting.push(task);
      this.#next();
    });
  }

  #next(): void {
    for (;;) {
      const { live, batch } = this.#running;
      if (live + batch >= this.#most) return;
      const liveFirst = this.#waiting.findIndex(({ priority }) => priority === 'live');
      const forBatch = live + batch < Math.max(1, this.#most - 1);
      const place = liveFirst >= 0 || !forBatch ? liveFirst : 0;
      const [task] = place < 0 ? [] : this.#waiting.splice(place, 1);
      if (task === undefined) return;
      task.start();
    }
  }
}

/** Enough for the longest piece on a slow machine, and for opening the models. */
const DEADLINE_MS = 120_000;
/** Some eight seconds of speech. A barge-in cannot stop the piece that is being made, and the library's memory grows with its length. */
const MAX_CHARS = 120;
const MOST_THREADS = 8;

/**
 * Speaks with models where a sentence's language has one: under their speakers' names, and under the built-in names by language and
 * gender. Other languages, and cloning, are the built-in synthesizer's. Disposes of both.
 * @param threads pieces that are spoken at once, with one copy of each model; 0: a core less than there are
 * @throws SynthesisUnavailableError when the process of the models does not start
 */
export async function withModelVoices(
  builtIn: SynthesisEngine,
  { modelsFolder, models, clock, logger }: OpenedModels,
  threads = 0,
): Promise<SynthesisEngine> {
  const { voices } = models;
  if (voices.length === 0) return builtIn;
  const speakers = await namedSpeakers(voices, new Set(builtIn.voices.map(({ name }) => name.toLowerCase())));
  const atOnce = threads > 0 ? threads : Math.max(1, Math.min(availableParallelism() - 1, MOST_THREADS));
  const process = await EngineProcess.start<VoiceRequest>({
    engine: 'voice models',
    child: {
      entry: entryFile(import.meta.url, 'voice-child'),
      argument: JSON.stringify({ modelsFolder, models: { recognition: [], voices } }),
      environment: { UV_THREADPOOL_SIZE: String(atOnce + 1) },
      deadlineMs: DEADLINE_MS,
    },
    clock,
    logger,
  });
  if (process === undefined) return builtIn;
  const used = voices.map(({ model, languages }) => ({ model: model.name, languages }));
  logger.info({ models: used, speakers: speakers.length, threads: atOnce }, 'voice models ready');
  return new ModelVoices(builtIn, process, voices, speakers, new RenderQueue(atOnce));
}

/** What a model is given at once: sentences or parts of them, the first one short, and nothing without a letter or a digit. */
export function piecesToSpeak(text: string): string[] {
  return withShortStart(sentences(text, MAX_CHARS)).filter((piece) => /[\p{L}\p{N}]/u.test(piece));
}

class ModelVoices implements SynthesisEngine {
  readonly voices: readonly EngineVoice[];
  readonly defaultVoice: string;
  readonly #builtIn: SynthesisEngine;
  readonly #process: EngineProcess<VoiceRequest>;
  readonly #speakers: readonly ModelSpeaker[];
  readonly #queue: RenderQueue;
  /** Models by the languages they are used for. */
  readonly #models = new Map<string, { readonly place: number; readonly name: string }>();

  constructor(
    builtIn: SynthesisEngine,
    process: EngineProcess<VoiceRequest>,
    used: readonly Used<VoiceModel>[],
    speakers: readonly ModelSpeaker[],
    queue: RenderQueue,
  ) {
    this.#builtIn = builtIn;
    this.#process = process;
    this.#speakers = speakers;
    this.#queue = queue;
    for (const [place, { model, languages }] of used.entries()) {
      for (const language of languages) this.#models.set(language, { place, name: model.name });
    }
    const named = speakers.map(({ name, languages, gender, speaker }) => ({
      name,
      language: languages[0] ?? 'en',
      gender: gender ?? (speaker % 2 === 0 ? ('male' as const) : ('female' as const)),
    }));
    this.voices = [...builtIn.voices, ...named];
    this.defaultVoice = builtIn.defaultVoice;
  }

  synthesize(request: SynthesisRequest, signal: AbortSignal): AsyncIterable<SynthesisChunk> {
    const wanted = request.voice.trim().toLowerCase();
    const voice = this.voices.find(({ name }) => name.toLowerCase() === wanted);
    if (voice === undefined) return this.#builtIn.synthesize(request, signal);
    if (request.likeness !== undefined) return this.#builtIn.synthesize(this.#asBuiltIn(request, voice, voice.language), signal);
    return this.#speak(request, voice, signal);
  }

  async *#speak(request: SynthesisRequest, voice: EngineVoice, signal: AbortSignal): AsyncGenerator<SynthesisChunk> {
    const pieces = piecesToSpeak(request.text);
    if (pieces.length === 0) throw new SynthesisRefusedError('the text holds nothing to speak');
    const over = new AbortController();
    const asked = AbortSignal.any([signal, over.signal]);
    let rateHz: number | undefined;
    const render = async (piece: string): Promise<SynthesisChunk> => {
      const made = await this.#piece(piece, request, voice, asked);
      // A sentence in another language may be another engine's; a stream has one rate.
      rateHz ??= made.rateHz;
      return made.rateHz === rateHz ? made : { pcm: resample(made.pcm, made.rateHz, rateHz), rateHz };
    };
    try {
      yield* speakSentences(pieces, render, { together: request.levelWhole === true, signal: asked });
    } finally {
      // The next piece may still be waiting or running, and is not needed.
      over.abort(new Error('the synthesis is over'));
    }
  }

  async #piece(text: string, request: SynthesisRequest, voice: EngineVoice, signal: AbortSignal): Promise<SynthesisChunk> {
    const language = spokenLanguage(text, request.language, voice.language);
    const model = this.#models.get(language);
    const own = this.#speakers.find(({ name }) => name === voice.name);
    const speaker =
      model === undefined || own?.model === model.place ? own : speakerFor(this.#speakers, model.place, language, voice.gender);
    if (model === undefined || speaker === undefined) {
      const chunks: Int16Array[] = [];
      let rateHz = 0;
      const asked = { ...this.#asBuiltIn(request, voice, language), text };
      for await (const chunk of this.#builtIn.synthesize(asked, signal)) {
        chunks.push(chunk.pcm);
        ({ rateHz } = chunk);
      }
      return { pcm: joinSamples(chunks), rateHz };
    }
    const { speaker: number } = speaker;
    const speed = engineSpeed(request.speed);
    const asked = { text, model: model.place, speaker: number, language: espeakIdentifier(language), speed };
    const unknown = (cause?: unknown): SynthesisRefusedError =>
      new SynthesisRefusedError(
        `the voice model ${model.name} cannot say this text: it has no sound for its letters or words in ${languageName(language)}`,
        { cause, facts: { model: model.name, language } },
      );
    const work = (): Promise<SynthesisChunk> => this.#process.render(asked);
    const made = await this.#queue.run(work, request.priority ?? 'live', signal).catch((error: unknown) => {
      throw error instanceof SynthesisRefusedError ? unknown(error) : error;
    });
    // A model skips what it does not know, without a word.
    if (!soundsRead(text, (made.pcm.length / made.rateHz) * speed)) throw unknown();
    return made;
  }

  /** The same request for a built-in voice, of the same gender where the voice is a model's. */
  #asBuiltIn(request: SynthesisRequest, { name, gender }: EngineVoice, language: string): SynthesisRequest {
    const { voices, defaultVoice } = this.#builtIn;
    if (voices.some((each) => each.name === name)) return request;
    const same = voices.filter((each) => each.gender === gender);
    const voice = same.find((each) => each.language === language) ?? same[0];
    return { ...request, voice: voice?.name ?? defaultVoice };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process[Symbol.asyncDispose]();
    await this.#builtIn[Symbol.asyncDispose]();
  }
}
