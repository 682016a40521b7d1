import multipart from '@fastify/multipart';
import type { FastifyInstance } from 'fastify';
import type { Clock } from '../../../kernel/clock.ts';
import type { Logger } from '../../../observability/logger.ts';
import type { RecognitionEngine } from '../../engines/recognise/port.ts';
import { languages } from '../../languages.ts';
import { admit, bearerOf, tokenGate } from '../auth/gate.ts';
import type { Tokens } from '../../keys/tokens.ts';
import type { Behaviour } from './behaviour.ts';
import type { FaultDice } from '../faults/faults.ts';
import { type PlatformLimits, clientSignal, occupySlot, Slots } from '../listener/limits.ts';
import { addSocketRoutes } from '../listener/socket-routes.ts';
import { addSpeakerRoutes, type SpeakerStore } from '../speakers/speaker-profiles.ts';
import type { AudioIntake } from '../uploads/open-audio.ts';
import { realtimeProtocol } from './realtime-protocol.ts';
import { serveRecognitionSocket } from './recognition-socket.ts';
import { serveTranscription, readTranscriptionForm } from './serve-transcription.ts';
import type { TranscriptionEngines } from './transcription-answer.ts';
import { recognitionOf, refuseWhileSilent, sendWarnings } from './language-recognition.ts';

export interface AsrServiceOptions {
  readonly tokens: Tokens;
  readonly engines: TranscriptionEngines;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits: PlatformLimits;
  readonly behaviour: Behaviour;
  readonly faults: FaultDice;
  readonly intake: AudioIntake;
  readonly speakers: SpeakerStore;
  readonly compat: boolean;
}

/** Names of our own: the documents give none. */
const features =
  `transcription streaming word_timestamps language_detection boost_phrases speaker_diarization speaker_identification
  emotion intent_detection sentiment_analysis summarization keyterm_normalization medical_correction profanity_masking
  keyword_redaction transliteration codeswitch`.split(/\s+/);

/**
 * The language list (shape: reference, fact 7c), with how each language is recognised: a request may name any listed code, also one that
 * is not recognised.
 */
export function languagesBody(engine: RecognitionEngine): unknown {
  const listed = languages.map((language) => ({ ...language, recognition: recognitionOf(engine, language.code) }));
  return {
    languages: listed,
    total: listed.length,
    recognised: listed.filter(({ recognition }) => recognition !== 'none').length,
    // Accepted for compatibility; recognition does not depend on it.
    models: ['zero-indic', 'whisper-1'],
    features,
  };
}

/** The learning of the bots' phrases, once there is one: a platform that still learns hears the rest already. */
function learningOf({ vocabulary }: RecognitionEngine): object {
  if (vocabulary === undefined) return {};
  const { of, learnt, failed, leftMs } = vocabulary;
  const left = leftMs === undefined ? {} : { seconds_left: Math.ceil(leftMs / 1000) };
  return { vocabulary: { phrases: of, learnt, failed, ...left } };
}

/** The primary recognition service (ASR doc): health, languages, batch transcription, realtime. */
export function addAsrRoutes(app: FastifyInstance, options: AsrServiceOptions): void {
  const { tokens, engines, clock, limits, intake } = options;
  const gate = tokenGate(tokens, 'asr');
  const slots = new Slots(limits.concurrentPerKey);
  void app.register(multipart);

  app.get('/health', () => ({ ok: engines.recognition.retryAfterS === undefined, ...learningOf(engines.recognition) }));
  app.get('/languages', () => languagesBody(engines.recognition));
  const onRequest = [gate.open, occupySlot(gate, slots, limits.concurrentPerKey)];
  app.post('/v1/audio/transcriptions', { onRequest }, async (request, reply) => {
    refuseWhileSilent(engines.recognition);
    const signal = clientSignal(reply);
    const form = await readTranscriptionForm(request, intake, signal);
    const served = { engines, intake, clock, requestId: request.id, signal, compat: options.compat };
    const { body, warnings } = await serveTranscription(form, served);
    sendWarnings(reply, warnings);
    return body;
  });
  addSpeakerRoutes(app, { speakers: options.speakers, engine: engines.speakers, intake, clock, onRequest });
  addSocketRoutes(app, {
    service: 'asr',
    clock,
    logger: options.logger,
    faults: options.faults,
    paths: ['/v1/realtime'],
    maxFrameBytes: limits.asrFrameBytes,
    maxSockets: limits.sockets,
    // The token comes in the header (platform doc, authentication rule 2) or in the init frame (ASR doc, authentication).
    admit: async ({ request }) => {
      const { authorization } = request.headers;
      const holder = authorization === undefined ? undefined : await admit(tokens, 'asr', bearerOf(request.headers));
      refuseWhileSilent(engines.recognition);
      return (socket) => {
        const protocol = realtimeProtocol({ ...options, holder });
        serveRecognitionSocket({ ...options, engine: engines.recognition, protocol, socket, slots });
      };
    },
  });
}
