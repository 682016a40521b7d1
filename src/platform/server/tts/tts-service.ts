import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../../../kernel/clock.ts';
import type { Logger } from '../../../observability/logger.ts';
import { LatexReader } from '../../engines/latex/latex-reader.ts';
import type { SynthesisEngine } from '../../engines/synth/port.ts';
import { admit, bearerOf, tokenGate } from '../auth/gate.ts';
import type { Tokens } from '../../keys/tokens.ts';
import { withDeadline, clientSignal, occupySlot, Slots } from '../listener/request-slots.ts';
import type { FaultDice } from '../faults/faults.ts';
import { joinSamples } from '../../../audio/samples.ts';
import type { PlatformLimits } from '../listener/limits.ts';
import { sendWarnings } from '../asr/language-recognition.ts';
import { Refusal } from '../listener/refusal.ts';
import { addSocketRoutes } from '../listener/socket-routes.ts';
import { encodeSpeech } from './encode-speech.ts';
import { speak } from './speak.ts';
import { readSpeechFields, speechFieldsOfQuery, speechRequestOf } from './speech-request.ts';
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
  const { tokens, engine, clock, limits, compat } = options;
  const { voices } = engine;
  const gate = tokenGate(tokens, 'tts');
  const latex = new LatexReader(clock);
  app.addHook('onClose', () => latex[Symbol.asyncDispose]());
  const slots = new Slots(limits.concurrentPerKey);

  app.get('/health', () => ({
    status: 'ok',
    voices: voices.map((voice) => voice.name),
    default_voice: engine.defaultVoice,
  }));

  // Replaces the framework's 415 for other content types, which does not say what to do; `curl -d` sends one.
  app.removeContentTypeParser('text/plain');
  app.addContentTypeParser('*', (_request, _body, done) =>
    done(new Refusal(400, 'The body must be JSON: Content-Type: application/json')),
  );
  const synthesise = async (request: FastifyRequest, reply: FastifyReply): Promise<Buffer> => {
    const asked = speechRequestOf(readSpeechFields(request.body), { kind: 'batch', compat, voices });
    const warnings: string[] = [];
    const bytes = await withDeadline(clock, limits.batchMs, clientSignal(reply), async (signal) => {
      const parts: Int16Array[] = [];
      const onWarning = (warning: string): unknown => warnings.push(warning);
      const asBatch = { engine, latex, clock, signal, chunkMs: limits.chunkMs, priority: 'batch', onWarning } as const;
      for await (const pcm of speak(asked, asBatch)) parts.push(pcm);
      return encodeSpeech(joinSamples(parts), asked.format, asked.quality);
    });
    reply.header('content-type', asked.format.mimeType).header('x-sample-rate', String(asked.format.rateHz));
    sendWarnings(reply, warnings);
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  };
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
