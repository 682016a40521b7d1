import { basename } from 'node:path';
import { z } from 'zod';
import { startWorker } from '../../../kernel/entry-file.ts';
import { builtInSpeakers } from '../speakers/diarise.ts';
import { cosine } from '../speakers/embedding.ts';
import { RecognitionUnavailableError } from '../recognise/port.ts';
import { SAME_VOICE, type RecordedSpeech, type SpeakerEngine, type Diarization, type SpokenTurn } from '../speakers/port.ts';
import { ModelThread } from './model-thread.ts';
import type { OpenedModels } from './open-models.ts';

/** Enough for twenty minutes of speech on a slow machine, and for loading the models. */
const DEADLINE_MS = 300_000;
/** 38 MB. Recordings with more speech are diarized without the model. */
const TAPE_S = 20 * 60;
/** Speech of one speaker that is embedded. */
const VOICE_S = 30;
/** The cosine at which the library's examples take two recordings for one voice, and the steepness of the similarity there. */
const CROSSING = 0.5;
const STEEPNESS = 8;

const embeddingSchema = z.instanceof(Float32Array);
// SpeakerDiarizationSegment of the package's types.js.
const segmentsSchema = z.array(z.object({ start: z.number(), end: z.number(), speaker: z.int().min(0) }));

/**
 * A speaker engine over an embedding model, which also diarizes when there is a segmentation model. Undefined without an
 * embedding model.
 * @throws RecognitionUnavailableError when the thread does not start
 */
export async function modelSpeakers({ modelsFolder, models, clock, logger }: OpenedModels): Promise<SpeakerEngine | undefined> {
  const { embedding, segmentation } = models;
  if (embedding === undefined) return undefined;
  const thread = new ModelThread({
    name: 'the thread of speaker models',
    startThread: () => startWorker(import.meta.url, 'speaker-worker', { modelsFolder, models }),
    deadlineMs: DEADLINE_MS,
    unavailable: (reason) => new RecognitionUnavailableError(reason),
    clock,
    logger,
  });
  await thread.start();
  logger.info({ diarization: segmentation !== undefined }, 'speaker models ready');
  return new ModelSpeakers(thread, basename(embedding), segmentation !== undefined);
}

class ModelSpeakers implements SpeakerEngine {
  readonly kind: string;
  readonly tapeSeconds = TAPE_S;
  readonly identifiesFrom = SAME_VOICE;
  readonly #thread: ModelThread;
  readonly #diarises: boolean;

  constructor(thread: ModelThread, model: string, diarises: boolean) {
    this.#thread = thread;
    this.kind = `own:${model}`;
    this.#diarises = diarises;
  }

  async embed(pcm16k: Int16Array): Promise<Float32Array> {
    // The built-in engine decides whether there is a voice: the model finds one in anything.
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

  async diarise(speech: RecordedSpeech, most: number): Promise<Diarization> {
    const builtIn = await builtInSpeakers.diarise(speech, most);
    const { tape } = speech;
    const told = this.#diarises && tape.whole ? await this.#turns(speech, most) : [];
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

  async #turns({ tape }: RecordedSpeech, most: number): Promise<SpokenTurn[]> {
    const answer = segmentsSchema.parse(await this.#thread.ask({ type: 'diarise', pcm: tape.joined(), most }));
    const spans = answer.flatMap(({ start, end, speaker }) =>
      tape.inRecording({ startS: start, endS: end }).map((span) => ({ ...span, speaker })),
    );
    return withoutOverlap(spans);
  }
}

/** Sorts turns and removes overlaps in favour of the earlier turn. Speakers are numbered by first appearance. */
export function withoutOverlap(spans: readonly SpokenTurn[]): SpokenTurn[] {
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
