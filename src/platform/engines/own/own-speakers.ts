import { basename } from 'node:path';
import { z } from 'zod';
import { startWorker } from '../../../kernel/entry-file.ts';
import { cosine, builtInSpeakers } from '../speakers/diarise.ts';
import { RecognitionUnavailableError } from '../recognise/port.ts';
import { SAME_VOICE, type HeardSpeech, type SpeakerEngine, type SpokenTurn, type Diarization } from '../speakers/port.ts';
import { ModelThread } from './model-thread.ts';
import type { OpenedModels } from './open-models.ts';

/** Twenty minutes of speech on a slow machine, and loading the models. */
const DEADLINE_MS = 300_000;
/** 38 MB; the speech of longer recordings is told apart as without a model. */
const TAPE_S = 20 * 60;
/** Enough of one speaker to know the voice by. */
const VOICE_S = 30;
/** The cosine from which the library's own examples take two recordings for one voice, and how quickly that changes. */
const CROSSING = 0.5;
const STEEPNESS = 8;

const embeddingSchema = z.instanceof(Float32Array);
// SpeakerDiarizationSegment of the package's types.js.
const segmentsSchema = z.array(z.object({ start: z.number(), end: z.number(), speaker: z.int().min(0) }));

/**
 * Voices described by the user's own model in place of the built-in way, and told apart by it where there is a
 * segmentation model too. Undefined without such models.
 * @throws RecognitionUnavailableError when the thread does not start
 */
export async function ownSpeakers({ modelsFolder, models, clock, logger }: OpenedModels): Promise<SpeakerEngine | undefined> {
  const { embedding, segmentation } = models;
  if (embedding === undefined) return undefined;
  const thread = new ModelThread({
    name: 'the thread of own speaker models',
    startThread: () => startWorker(import.meta.url, 'speaker-worker', { modelsFolder, models }),
    deadlineMs: DEADLINE_MS,
    unavailable: (reason) => new RecognitionUnavailableError(reason),
    clock,
    logger,
  });
  await thread.start();
  logger.info({ diarization: segmentation !== undefined }, 'own speaker models ready');
  return new OwnSpeakers(thread, basename(embedding), segmentation !== undefined);
}

class OwnSpeakers implements SpeakerEngine {
  readonly kind: string;
  readonly tapeSeconds = TAPE_S;
  readonly #thread: ModelThread;
  readonly #diarises: boolean;

  constructor(thread: ModelThread, model: string, diarises: boolean) {
    this.#thread = thread;
    this.kind = `own:${model}`;
    this.#diarises = diarises;
  }

  async embed(pcm16k: Int16Array): Promise<Float32Array> {
    // What is silent for the built-in way is left to no model: it would find a voice in anything.
    const heard = await builtInSpeakers.embed(pcm16k);
    if (heard.every((value) => value === 0)) return new Float32Array(1);
    return embeddingSchema.parse(await this.#thread.ask({ type: 'embed', pcm: pcm16k }));
  }

  similarity(a: Float32Array, b: Float32Array): number {
    const lengths = Math.hypot(...a) * Math.hypot(...b);
    if (lengths === 0) return 0;
    const logit = Math.log(SAME_VOICE / (1 - SAME_VOICE)) + STEEPNESS * (cosine(a, b) / lengths - CROSSING);
    return 1 / (1 + Math.exp(-logit));
  }

  async diarise(heard: HeardSpeech, most: number): Promise<Diarization> {
    const builtIn = await builtInSpeakers.diarise(heard, most);
    const { tape } = heard;
    const told = this.#diarises && tape.whole ? await this.#turns(heard, most) : [];
    const turns = told.length === 0 ? builtIn.turns : told;
    const speakers = Math.max(0, ...turns.map(({ speaker }) => speaker + 1));
    const embeddings: Float32Array[] = [];
    for (let speaker = 0; speaker < speakers; speaker += 1) {
      const spans = turns.filter((turn) => turn.speaker === speaker);
      embeddings.push(await this.embed(tape.cut(spans, VOICE_S)));
    }
    return { turns, embeddings };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#thread[Symbol.asyncDispose]();
  }

  async #turns({ tape }: HeardSpeech, most: number): Promise<SpokenTurn[]> {
    const answer = segmentsSchema.parse(await this.#thread.ask({ type: 'diarise', pcm: tape.joined(), most }));
    const spans = answer.flatMap(({ start, end, speaker }) =>
      tape.inRecording({ startS: start, endS: end }).map((span) => ({ ...span, speaker })),
    );
    return inOrder(spans);
  }
}

/** By time, none over another: who began first keeps the word. Speakers are counted as they appear. */
export function inOrder(spans: readonly SpokenTurn[]): SpokenTurn[] {
  const turns: SpokenTurn[] = [];
  const order: number[] = [];
  for (const { startS, endS, speaker } of spans.toSorted((a, b) => a.startS - b.startS)) {
    const from = Math.max(startS, turns.at(-1)?.endS ?? 0);
    if (from >= endS) continue;
    if (!order.includes(speaker)) order.push(speaker);
    turns.push({ startS: from, endS, speaker: order.indexOf(speaker) });
  }
  return turns;
}
