import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { InboundCall } from '../carriers/port.ts';
import type { StreamTokens } from '../carriers/stream-token.ts';
import { sayAnswer, streamAnswer } from '../carriers/twilio/answer.ts';
import { readStatusWebhook, readVoiceWebhook } from '../carriers/twilio/webhook.ts';
import { defaultPhrases } from '../config/bot-phrases.ts';
import type { BusinessEvents } from '../observability/events.ts';
import type { Logger } from '../observability/logger.ts';
import type { RefusalCause } from '../observability/metrics.ts';
import { sleep } from '../kernel/abort.ts';
import { within } from '../kernel/within.ts';
import type { MediaExpectations } from './media-elsewhere.ts';
import type { CallAnswer } from '../call/admission/call-registry.ts';
import type { CallIntake } from './intake.ts';
import { RequestRefused } from './problem.ts';
import { socketAddress } from './public-addresses.ts';
import { takeForms } from './form-body.ts';
import { TwilioAccess, type TwilioAccessDeps } from './twilio-access.ts';

export interface TwilioRoutesDeps extends TwilioAccessDeps {
  /** Largest form that is read. */
  readonly formBytes: number;
  readonly intake: CallIntake;
  readonly tokens: StreamTokens;
  readonly expected: MediaExpectations;
  /** Time from the answer to a started stream; longer than the token's life and the start's together. */
  readonly mediaWithinMs: number;
  readonly events: BusinessEvents;
  readonly logger: Logger;
}

/** A stop of the stream may come later than the webhook of the redirect that made it. */
const STOPPED_WITHIN_MS = 2000;
const ASKED_EVERY_MS = 20;
/** Signatures of answered webhooks that are remembered: as many as there may be live calls. */
const MOST_ANSWERED = 10_000;

const botParameter = z.object({ bot: z.string().min(1).max(100).optional() });

/** The voice webhook, answered with TwiML, and the status callback. Both signed, both form-encoded. For a scope of its own. */
export function twilioRoutes(app: FastifyInstance, deps: TwilioRoutesDeps): void {
  const access = new TwilioAccess(deps);
  const answered = new Set<string>();
  takeForms(app, { bodyLimit: deps.formBytes, onRefused: (request) => void access.noteRefusal(request, 400, 'fields') });
  app.addHook('onRequest', async (request, reply) => access.admit(request, reply));
  app.addHook('preHandler', async (request, reply) => access.check(request, reply));
  app.post('/carriers/twilio/voice/:bot?', async (request, reply) => {
    const inbound = readVoiceWebhook(request.body, botNameOf(request));
    if (inbound === undefined) throw new RequestRefused(400, 'The form has no usable CallSid.');
    const signature = String(request.headers['x-twilio-signature']);
    const isRepeat = answered.delete(signature);
    answered.add(signature);
    const [oldest] = answered;
    if (answered.size > MOST_ANSWERED && oldest !== undefined) answered.delete(oldest);
    const document = await answerTo(deps, isRepeat ? { ...inbound, isRepeat } : inbound, request.id);
    if (document === undefined) {
      access.noteRefusal(request, 409, 'repeated');
      throw new RequestRefused(409, 'This webhook was answered before, and the media of its call goes on.');
    }
    return reply.type('text/xml; charset=utf-8').send(document);
  });
  app.post('/carriers/twilio/status', (request, reply) => {
    const status = readStatusWebhook(request.body);
    if (status === undefined) throw new RequestRefused(400, 'The form has no CallSid, or neither CallStatus nor StreamEvent.');
    const { streamError, ...facts } = status;
    if (streamError !== undefined)
      deps.logger.warn({ carrier: 'twilio', ...facts, streamError }, 'carrier reports a stream error');
    deps.intake.carrierStatus(status.carrierCallId, status.status, status.terminal);
    return reply.code(204).send();
  });
}

/** The bot named by the path, else by the query parameter `bot` of the webhook's address (which is signed too). */
function botNameOf(request: FastifyRequest): string | undefined {
  const inPath = botParameter.safeParse(request.params);
  const inQuery = botParameter.safeParse(request.query);
  return (inPath.success ? inPath.data.bot : undefined) ?? (inQuery.success ? inQuery.data.bot : undefined);
}

/** Longest that a caller waits for an answer; the carrier gives up on a webhook after 15 s. */
const answerWithinMs = 8000;

/** Asks the calls; a repeated webhook whose call has its socket is asked about again, until that had time to be stopped. */
async function answerOf({ clock, intake }: TwilioRoutesDeps, inbound: InboundCall): Promise<CallAnswer> {
  const untilMs = clock.nowMs() + STOPPED_WITHIN_MS;
  for (;;) {
    const answer = await intake.answer(inbound);
    if (answer.kind !== 'attached' || clock.nowMs() >= untilMs) return answer;
    await sleep(clock, ASKED_EVERY_MS);
  }
}

/**
 * The answer document; whatever fails inside, the caller hears a sentence instead of the carrier's error message.
 * @returns undefined for a repeated webhook that gets no stream
 */
async function answerTo(deps: TwilioRoutesDeps, inbound: InboundCall, requestId: string): Promise<string | undefined> {
  const { carrier, carrierCallId, from, to } = inbound;
  const facts = { carrier, carrierCallId, from, to };
  const refuse = (say: string, language: string, cause: RefusalCause, reason: string): string => {
    deps.events.callRefused({ ...facts, cause, reason });
    return sayAnswer(say, language);
  };
  const { apology } = defaultPhrases('en');
  let promised: string | undefined;
  try {
    const answering = answerOf(deps, inbound);
    const answer = await within(deps.clock, answerWithinMs, answering, undefined);
    if (answer === undefined) {
      answering
        .then((late) => abandonLate(deps, late))
        .catch((error: unknown) => deps.logger.error({ error, requestId }, 'call admission failed after its webhook timed out'));
      return refuse(apology, 'en', 'late', 'admission timed out');
    }
    if (answer.kind === 'attached') return undefined;
    if (answer.kind === 'refuse') return refuse(answer.say, answer.language, answer.cause, answer.reason);
    const { callId, attachmentId } = answer;
    promised = attachmentId;
    deps.expected.expect(callId, attachmentId, deps.mediaWithinMs);
    const token = await deps.tokens.mint({ carrier, carrierCallId, callId, attachmentId });
    deps.events.callAnswered({ ...facts, callId, ...(inbound.botName === undefined ? {} : { bot: inbound.botName }) });
    const url = `${socketAddress(deps.addresses()[0]!)}/carriers/twilio/stream/${token}`;
    return streamAnswer({ url, parameters: { callId } });
  } catch (error) {
    deps.logger.error({ error, requestId, carrierCallId }, 'answering a call failed');
    if (promised !== undefined) deps.expected.abandon(promised, 'answering failed');
    return refuse(apology, 'en', 'failed', 'answering failed');
  }
}

/** The caller has already heard the apology: what was admitted too late is given back. */
function abandonLate(deps: TwilioRoutesDeps, late: CallAnswer): void {
  if (late.kind === 'accept') deps.intake.abandon(late.callId, late.attachmentId, 'answered too late');
}
