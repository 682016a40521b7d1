import multipart from '@fastify/multipart';
import type { FastifyInstance } from 'fastify';
import type { Clock } from '../../../kernel/clock.ts';
import type { Logger } from '../../../observability/logger.ts';
import { languagesBody } from '../asr/asr-service.ts';
import type { AudioIntake } from '../uploads/open-audio.ts';
import { serveRecognitionSocket } from '../asr/recognition-socket.ts';
import { serveTranscription, readTranscriptionForm, readTranscriptionJson } from '../asr/serve-transcription.ts';
import type { TranscriptionEngines } from '../asr/transcription-answer.ts';
import { refuseWhileSilent, sendWarnings } from '../asr/language-recognition.ts';
import type { ApiKeys } from '../../keys/api-keys.ts';
import { bearerOf, keyGate } from '../auth/gate.ts';
import type { FaultDice } from '../faults/faults.ts';
import { clientSignal, occupySlot, Slots } from '../listener/limits.ts';
import { detailText, type Refusal } from '../listener/refusal.ts';
import { addSocketRoutes } from '../listener/socket-routes.ts';
import { addSpeakerQueries, addSpeakerRoutes, type SpeakerStore } from '../speakers/speaker-profiles.ts';
import { altProtocol } from './alt-protocol.ts';

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
 * The recognition service's alternate address (ASR doc, Variant B). It accepts an API key, never a token (platform doc, authentication
 * rule 9); every successful answer has `success: true`.
 */
export function addAltRoutes(app: FastifyInstance, options: AltServiceOptions): void {
  const { keys, engines, intake, clock, speakers, logger, faults } = options;
  const { limits } = intake;
  const gate = keyGate(keys, 'Authorization: Bearer <API_KEY>', bearerOf);
  const slots = new Slots(limits.concurrentPerKey);
  const onRequest = [gate.open, occupySlot(gate, slots, limits.concurrentPerKey)];
  app.addContentTypeParser('*', (_request, _body, done) => done(null));
  void app.register(multipart);

  app.get('/health', () => ({ ok: engines.recognition.retryAfterS === undefined }));
  app.get('/languages', { onRequest: gate.open }, () => languagesBody(engines.recognition));
  app.post('/v1/audio/transcriptions', { onRequest }, async (request, reply) => {
    refuseWhileSilent(engines.recognition);
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
    // The key may also come in the handshake.
    admit: async ({ request }) => {
      const headerKey = bearerOf(request.headers);
      refuseWhileSilent(engines.recognition);
      return (socket) => {
        const protocol = altProtocol({ keys, headerKey });
        serveRecognitionSocket({ socket, protocol, slots, limits, faults, clock, logger, engine: engines.recognition });
      };
    },
  });
}

const errorCodes: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  404: 'not_found',
  405: 'not_found',
  429: 'rate_limited',
};

/** Variant B's error body (ASR doc, errors: success false and an error object with code and message). */
export function altErrorBody(refusal: Refusal): unknown {
  const code = errorCodes[refusal.status] ?? (refusal.status >= 500 ? 'internal_error' : 'invalid_request');
  return { success: false, error: { code, message: detailText(refusal.detail) } };
}
