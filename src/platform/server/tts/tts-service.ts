import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Readable } from 'node:stream';
import type { Clock } from '../../../kernel/clock.ts';
import type { Logger } from '../../../observability/logger.ts';
import { LatexReader } from '../../engines/latex/latex-reader.ts';
import type { SynthesisEngine } from '../../engines/synth/port.ts';
import { admit, bearerOf, tokenGate } from '../auth/gate.ts';
import type { Tokens } from '../../keys/tokens.ts';
import { withDeadline, clientSignal, occupySlot, Slots, type PlatformLimits } from '../listener/limits.ts';
import type { FaultDice } from '../faults/faults.ts';
import { joinSamples } from '../../../audio/samples.ts';
import { sendWarnings } from '../asr/language-recognition.ts';
import { Refusal } from '../listener/refusal.ts';
import { addSocketRoutes } from '../listener/socket-routes.ts';
import { chunkEncoder, encodeSpeech } from './encode-speech.ts';
import { Chunker } from './speech-chunks.ts';
import { speak, type SpeakOptions } from './speak.ts';
import { readSpeechFields, speechFieldsOfQuery, type SpeechRequest, speechRequestOf } from './speech-request.ts';
import { serveSpeechSocket } from './speech-socket.ts';

export interface TtsServiceOptions {
  readonly tokens: Tokens;
  readonly engine: SynthesisEngine;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits: PlatformLimits;
  readonly faults: FaultDice;
  readonly compat: boolean;
}

/** The synthesis service (TTS doc): health, batch on three paths, streaming on two. */
export function addTtsRoutes(app: FastifyInstance, options: TtsServiceOptions): void {
  const { tokens, engine, clock, limits } = options;
  const gate = tokenGate(tokens, 'tts');
  const latex = new LatexReader(clock);
  app.addHook('onClose', () => latex[Symbol.asyncDispose]());
  const slots = new Slots(limits.concurrentPerKey);

  app.get('/health', () => ({
    status: 'ok',
    voices: engine.voices.map((voice) => voice.name),
    default_voice: engine.defaultVoice,
  }));

  // Replaces the framework's 415 for other content types, which does not say what to do; `curl -d` sends one.
  app.removeContentTypeParser('text/plain');
  app.addContentTypeParser('*', (_request, _body, done) =>
    done(new Refusal(400, 'The body must be JSON: Content-Type: application/json')),
  );
  const synthesise = batchSynthesis(options, latex);
  for (const path of ['/v1/audio/speech', '/tts', '/']) {
    app.post(path, { onRequest: [gate.open, occupySlot(gate, slots, limits.concurrentPerKey)] }, synthesise);
  }

  addSocketRoutes(app, {
    service: 'tts',
    clock,
    logger: options.logger,
    faults: options.faults,
    paths: ['/v1/realtime', '/ws'],
    maxFrameBytes: limits.ttsFrameBytes,
    maxSockets: limits.sockets,
    // Browsers cannot set the header: they send the token in the query (platform doc, authentication rule 3).
    admit: async ({ request, query }) => {
      const token = bearerOf(request.headers) ?? query.get('token') ?? undefined;
      const { keyId } = await admit(tokens, 'tts', token);
      const fields = speechFieldsOfQuery(query);
      return (socket) => serveSpeechSocket({ ...options, latex, socket, slots, keyId, initial: fields });
    },
  });
}

/** Answers a batch request with audio: whole, or in parts as they are made. */
function batchSynthesis({ engine, clock, limits, compat }: TtsServiceOptions, latex: LatexReader) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<Buffer | Readable> => {
    const asked = speechRequestOf(readSpeechFields(request.body), { kind: 'batch', compat, voices: engine.voices });
    const { format } = asked;
    const gone = clientSignal(reply);
    const warnings: string[] = [];
    const onWarning = (warning: string): unknown => warnings.push(warning);
    const speech = { engine, latex, clock, chunkMs: limits.chunkMs, priority: 'batch', onWarning } as const;
    const answer = await withDeadline(clock, limits.batchMs, gone, async (signal) => {
      if (isSentInParts(asked)) {
        // A text that cannot be spoken fails here, while the status can say so.
        const parts = encodedParts(asked, { ...speech, signal });
        return { parts, first: await parts.next() };
      }
      const whole: Int16Array[] = [];
      for await (const pcm of speak(asked, { ...speech, signal })) whole.push(pcm);
      return encodeSpeech(joinSamples(whole), format, asked.quality);
    });
    reply.header('content-type', format.mimeType).header('x-sample-rate', String(format.rateHz));
    sendWarnings(reply, warnings);
    if (answer instanceof Uint8Array) return Buffer.from(answer.buffer, answer.byteOffset, answer.byteLength);
    // Cut, so that what fails or takes too long now is not taken for a whole answer.
    const late = clock.after(limits.batchMs, () => reply.raw.destroy());
    reply.raw.once('close', () => late.cancel());
    return Readable.from(resumed(answer.first, answer.parts), { objectMode: false });
  };
}

/** Texts of the recommended length (TTS doc, input) are answered whole, with a length and a status for whatever fails. */
const wholeCharacters = 500;
/** WAV and FLAC tell their length in front, and Opus has one coder for all. */
const inPartsFormats: readonly string[] = ['pcm', 'mulaw', 'alaw', 'mp3'];

function isSentInParts({ text, format }: SpeechRequest): boolean {
  return text.length > wholeCharacters && inPartsFormats.includes(format.name);
}

const firstPartMs = 60;
const partMs = 1_000;

async function* encodedParts(asked: SpeechRequest, options: SpeakOptions): AsyncGenerator<Uint8Array, void, undefined> {
  const samplesIn = (durationMs: number): number => (asked.format.rateHz * durationMs) / 1_000;
  const chunker = new Chunker(samplesIn(firstPartMs), samplesIn(partMs));
  const encode = await chunkEncoder(asked.format, asked.quality);
  for await (const pcm of speak(asked, options)) {
    for (const chunk of chunker.push(pcm)) yield await encode(chunk, false);
  }
  yield await encode(chunker.flush() ?? new Int16Array(0), true);
}

async function* resumed<Item>(first: IteratorResult<Item, void>, rest: AsyncGenerator<Item, void>): AsyncGenerator<Item> {
  if (first.done !== true) yield first.value;
  yield* rest;
}
