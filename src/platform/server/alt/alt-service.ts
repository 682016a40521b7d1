import multipart from '@fastify/multipart';
import type { FastifyInstance } from 'fastify';
import type { Clock } from '../../../kernel/clock.ts';
import type { Logger } from '../../../observability/logger.ts';
import { languagesBody } from '../asr/asr-service.ts';
import { readTranscriptionJson } from '../asr/json-body.ts';
import type { AudioIntake } from '../asr/open-audio.ts';
import { serveTranscription } from '../asr/serve-transcription.ts';
import type { TranscriptionEngines } from '../asr/transcription-answer.ts';
import { readTranscriptionForm } from '../asr/transcription-form.ts';
import { sendWarnings } from '../asr/warnings.ts';
import type { ApiKeys } from '../auth/api-keys.ts';
import { bearerOf } from '../auth/bearer.ts';
import type { FaultDice } from '../faults/fault-dice.ts';
import { clientSignal, occupySlot } from '../occupancy.ts';
import { Slots } from '../slots.ts';
import { addSocketRoutes } from '../socket-routes.ts';
import { addSpeakerQueries, addSpeakerRoutes } from '../speakers/speaker-routes.ts';
import type { SpeakerStore } from '../speakers/speaker-store.ts';
import { serveAltSocket } from './alt-socket.ts';
import { KeyGate } from './key-gate.ts';

export interface AltServiceOptions {
  readonly keys: ApiKeys;
  readonly engines: TranscriptionEngines;
  readonly speakers: SpeakerStore;
  readonly intake: AudioIntake;
  readonly faults: FaultDice;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * The recognition service's alternate address (ASR doc, Variant B). It takes an API key, never a token (platform doc,
 * authentication rule 9); every answer that succeeds says `success: true`.
 */
export function addAltRoutes(app: FastifyInstance, options: AltServiceOptions): void {
  const { keys, engines, intake, clock, speakers, logger, faults } = options;
  const { limits } = intake;
  const gate = new KeyGate(keys, 'Authorization: Bearer <API_KEY>', bearerOf);
  const slots = new Slots(limits.concurrentPerKey);
  const onRequest = [gate.open, occupySlot(gate, slots, limits.concurrentPerKey)];
  app.addContentTypeParser('*', (_request, _body, done) => done(null));
  void app.register(multipart);

  app.get('/health', () => ({ ok: true }));
  app.get('/languages', { onRequest: gate.open }, () => languagesBody(engines.recognition));
  app.post('/v1/audio/transcriptions', { onRequest }, async (request, reply) => {
    const signal = clientSignal(reply);
    const read = request.isMultipart() ? readTranscriptionForm : readTranscriptionJson;
    const form = await read(request, intake, signal);
    const { body, warnings } = await serveTranscription(form, { engines, intake, clock, requestId: request.id, signal });
    sendWarnings(reply, warnings);
    return { success: true, ...body };
  });
  const speakerRoutes = { speakers, engine: engines.speakers, intake, clock, onRequest };
  addSpeakerRoutes(app, speakerRoutes);
  addSpeakerQueries(app, speakerRoutes);
  addSocketRoutes(app, {
    service: 'asrAlt',
    clock,
    logger,
    faults,
    paths: ['/ws'],
    maxFrameBytes: limits.asrFrameBytes,
    maxSockets: limits.sockets,
    // The key may come in the handshake frame as well.
    admit: async ({ request }) => {
      const headerKey = bearerOf(request.headers);
      const engine = engines.recognition;
      return (socket) => serveAltSocket({ socket, headerKey, keys, slots, limits, faults, clock, logger, engine });
    },
  });
}
