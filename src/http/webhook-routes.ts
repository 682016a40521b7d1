import { parse } from 'node:querystring';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type {
  AnswerDocuments,
  AnswerRequests,
  CarrierStatus,
  NextRequests,
  ReportDoor,
  SignedBody,
  StreamAnswer,
  WebhookDoor,
} from '../carriers/carrier.ts';
import type { InboundCall } from '../carriers/port.ts';
import type { StreamGrant } from '../carriers/stream-token.ts';
import { CALL_ID } from '../kernel/ids.ts';
import { answerCall, type AnswerDeps, type AnsweredCall } from './answer-call.ts';
import { RequestRefused } from './problem.ts';
import type { StreamAddresses } from './stream-addresses.ts';
import { proofOf, WebhookAccess, type WebhookAccessDeps } from './webhook-access.ts';

export interface ReportRoutesDeps extends WebhookAccessDeps {
  /** Prefix of its addresses: `/carriers/<name>`. */
  readonly route: string;
  readonly door: ReportDoor;
  readonly intake: AnswerDeps['intake'];
  readonly logger: AnswerDeps['logger'];
  /** Largest accepted body. */
  readonly bodyBytes: number;
  readonly streams: StreamAddresses;
}

export interface WebhookRoutesDeps extends ReportRoutesDeps, AnswerDeps {
  readonly door: WebhookDoor;
  readonly events: AnswerDeps['events'];
}

/** Requests to a carrier have deadlines of their own in `CarrierRest`. */
const ASKED_WITHIN_MS = 30_000;

const botParameter = z.object({ bot: z.string().min(1).max(100).optional() });
const documentParameters = z.object({ kind: z.string(), value: z.string(), callId: z.string().optional() });
const callParameter = z.object({ callId: z.string().regex(CALL_ID).optional() });

/**
 * A carrier's voice webhook (`/carriers/<name>/voice/<bot>`), answered by its document or by our request, and its status callback. Both signed. For a
 * separate scope.
 */
export function webhookRoutes(app: FastifyInstance, deps: WebhookRoutesDeps): void {
  const { carrier, route, door } = deps;
  const { answers } = door;
  const comingBack = new Set<string>();
  const { note, report } = reportRoutes(app, deps, (told, requestId) => {
    if (answers.by !== 'request') return;
    const ended = answers.next?.streamEnded(told);
    if (ended === undefined || answers.next === undefined) return void followUp(deps, answers, told);
    if (comingBack.has(ended.callId)) return;
    comingBack.add(ended.callId);
    void openAgain(deps, answers.next, ended, requestId).finally(() => comingBack.delete(ended.callId));
  });
  if (door.getsByDefault === true) app.get(`${route}/voice/:bot?`, (_request, reply) => reply.code(405).send());
  app.post(`${route}/voice/:bot?`, async (request, reply) => {
    const inbound = door.readCall(bodyOf(request).parsed, botNameOf(request));
    if (inbound === undefined && door.oneAddress === true) return report(request, reply);
    if (inbound === undefined) throw new RequestRefused(400, door.needs.call);
    if ('token' in inbound) {
      if (answers.by === 'request') throw new RequestRefused(400, door.needs.call);
      // The token is checked when the media arrives with it.
      const { streamUrl: url, statusUrl } = deps.streams.forToken(carrier, inbound.token);
      const document = answers.stream({ url, statusUrl, callId: '', carrierCallId: undefined });
      return reply.type(answers.contentType).send(document);
    }
    return answerVoice(request, reply, inbound);
  });
  if (answers.by === 'document' && answers.over !== undefined) {
    app.post(`${route}/next/:callId`, async (request, reply) => {
      const params = callParameter.safeParse(request.params);
      const inbound = door.readCall(bodyOf(request).parsed, undefined);
      if (inbound === undefined || 'token' in inbound) throw new RequestRefused(400, door.needs.call);
      if (params.data?.callId === undefined) throw new RequestRefused(404, 'The address names no call of this gateway.');
      return answerVoice(request, reply, { ...inbound, next: params.data.callId });
    });
  }
  const answerVoice = async (request: FastifyRequest, reply: FastifyReply, inbound: InboundCall): Promise<FastifyReply> => {
    const { raw } = bodyOf(request);
    const came = await deps.streams.asked(carrier, inbound.carrierCallId, [proofOf(request, door) ?? '', raw]);
    const goesOnOnly = inbound.next === undefined ? await onlyGoesOn(deps.streams, { ...inbound, carrier }, came) : undefined;
    const asked = {
      ...inbound,
      carrier,
      ...(came === 'first' ? {} : { isRepeat: true }),
      ...(goesOnOnly === undefined ? {} : { goesOnOnly }),
    };
    const answer = await answerCall(deps, asked, request.id, (grant) => streamOf(deps, grant));
    if (answer.kind === 'attached') {
      deps.events.webhookRefused({ carrier, reason: 'repeated', status: 409, address: request.ip });
      throw new RequestRefused(409, 'This webhook was answered before, and the media of its call goes on.');
    }
    if (answers.by === 'document') {
      return reply.type(answers.contentType).send(documentOf(answers, answer));
    }
    if (answer.kind !== 'over') void askCarrier(deps, answers, answer, inbound.carrierCallId);
    return reply.code(200).send();
  };
  if (answers.by === 'document' && answers.fetched !== undefined)
    app.post(`${route}/document/:kind/:value/:callId?`, (request, reply) => {
      const { kind, value, callId } = documentParameters.parse(request.params);
      const document = answers.fetched?.({ kind, value: Buffer.from(value, 'base64url').toString('utf8'), callId });
      if (document === undefined) throw new RequestRefused(404, 'There is no such document.');
      // Some carriers also report ringing and the end at the document's address.
      return note(request).progress?.state === 'answered'
        ? reply.type(answers.contentType).send(document)
        : reply.code(204).send();
    });
}

async function onlyGoesOn(
  streams: StreamAddresses,
  { carrier, carrierCallId, direction }: InboundCall,
  came: Awaited<ReturnType<StreamAddresses['asked']>>,
): Promise<InboundCall['goesOnOnly']> {
  if (direction === 'outbound' && (await streams.isDialled(carrier, carrierCallId))) return 'dialled';
  return came === 'replayed' ? came : undefined;
}

interface GrantedStream {
  readonly grant: StreamGrant;
  readonly to: StreamAnswer;
}

async function streamOf({ streams, door }: WebhookRoutesDeps, grant: StreamGrant): Promise<GrantedStream> {
  const { streamUrl: url, statusUrl } = await streams.forAnswer(grant, door.streamTokenMs);
  return { grant, to: { url, statusUrl, callId: grant.callId, carrierCallId: grant.carrierCallId } };
}

type AskedCall = Exclude<AnsweredCall<GrantedStream>, { kind: 'attached' }>;

function documentOf(answers: AnswerDocuments, answer: AskedCall): string {
  switch (answer.kind) {
    case 'taken':
      return answers.stream(answer.made.to);
    case 'refused':
      return answers.say(answer.say, answer.language);
    case 'over':
      // Only carriers with this document ask.
      return answers.over?.() ?? '';
  }
}

/**
 * Sends the carrier a request in place of an answer document. Never rejects: a call without opened media is given up, and the carrier hangs up by
 * itself.
 */
async function askCarrier(
  { logger, expected, carrier }: WebhookRoutesDeps,
  answers: AnswerRequests,
  answer: Exclude<AskedCall, { kind: 'over' }>,
  carrierCallId: string,
): Promise<void> {
  const signal = AbortSignal.timeout(ASKED_WITHIN_MS);
  try {
    if (answer.kind === 'taken') await answers.stream(answer.made.to, signal);
    else await answers.say(carrierCallId, answer.say, answer.language, signal);
  } catch (error) {
    logger.error({ error, carrier, carrierCallId }, 'carrier refused the answer to a call');
    if (answer.kind === 'taken') expected.abandon(answer.made.grant.attachmentId, 'carrier refused the answer to a call');
  }
}

/**
 * Opens another stream for a call whose own ended at a carrier that keeps the call; ends the call there if it is over here. Never rejects: a call
 * without opened media is given up.
 */
async function openAgain(
  deps: WebhookRoutesDeps,
  next: NextRequests,
  { carrierCallId, callId }: { readonly carrierCallId: string; readonly callId: string },
  requestId: string,
): Promise<void> {
  const { carrier, expected, intake, logger } = deps;
  // The process with the call knows its numbers. A call with an open stream needs no other.
  const asked = { carrier, carrierCallId, from: '', to: '', direction: 'inbound', botName: undefined } as const;
  const answer = await answerCall(deps, { ...asked, next: callId, isRepeat: true }, requestId, (grant) => streamOf(deps, grant));
  const signal = AbortSignal.timeout(ASKED_WITHIN_MS);
  try {
    switch (answer.kind) {
      case 'attached':
        return;
      case 'over':
        return await next.hangUp(carrierCallId, signal);
      case 'refused':
        return await next.say(carrierCallId, answer.say, answer.language, signal);
      case 'taken':
        // The caller has hung up.
        if (!(await next.stream(answer.made.to, signal))) intake.carrierStatus({ carrier, carrierCallId }, 'over', true);
    }
  } catch (error) {
    logger.error({ error, carrier, carrierCallId, callId }, 'carrier refused another stream for a call');
    if (answer.kind === 'taken') expected.abandon(answer.made.grant.attachmentId, 'carrier refused the answer to a call');
  }
}

/** Never rejects: after a failed step, the call is left to end by itself. */
async function followUp({ logger, carrier }: WebhookRoutesDeps, answers: AnswerRequests, report: unknown): Promise<void> {
  try {
    await answers.followUp?.(report, AbortSignal.timeout(ASKED_WITHIN_MS));
  } catch (error) {
    logger.error({ error, carrier }, 'carrier refused the next step of ending a call');
  }
}

/**
 * A carrier's status callback, whose path names our id of a dialled call (`/carriers/<name>/status/<call>`). Signed. For a separate scope.
 * @param onReport called with the body of each readable report
 * @returns reads and answers a report at another address
 */
export function reportRoutes(
  app: FastifyInstance,
  deps: ReportRoutesDeps,
  onReport?: (body: unknown, requestId: string) => void,
): {
  readonly note: (request: FastifyRequest) => CarrierStatus;
  readonly report: (request: FastifyRequest, reply: FastifyReply) => FastifyReply;
} {
  const { carrier, route, door } = deps;
  const access = new WebhookAccess(deps);
  takeBodies(app, {
    type: door.body,
    bodyLimit: deps.bodyBytes,
    onRefused: (request) => void access.noteRefusal(request, 400, 'fields'),
  });
  app.addHook('onRequest', async (request, reply) => access.admit(request, reply));
  app.addHook('preHandler', (request, reply) => {
    if (request.method !== 'POST') throw new RequestRefused(405, "Set this webhook's method to POST at the carrier.");
    return access.check(request, reply, bodyOf(request));
  });
  const note = (request: FastifyRequest): CarrierStatus => {
    const params = callParameter.safeParse(request.params);
    if (!params.success) throw new RequestRefused(404, 'The address names no call of this gateway.');
    const { callId } = params.data;
    const status = door.readStatus(bodyOf(request).parsed);
    if (status === undefined) throw new RequestRefused(400, door.needs.status);
    const { carrierCallId, terminal, streamError, progress, witness } = status;
    const facts = { carrierCallId, status: status.status, terminal };
    if (streamError !== undefined) deps.logger.warn({ carrier, ...facts, streamError }, 'carrier reports a stream error');
    // A transfer's leg, or a report replayed under another address: not every carrier signs the address.
    if (callId !== undefined && !deps.streams.placed(carrier, callId, carrierCallId))
      deps.logger.info({ carrier, callId, ...facts }, 'status report names another call than the one that was dialled');
    else if (callId !== undefined) deps.intake.dialReported(callId, { carrier, carrierCallId, progress, witness });
    const call = { carrier, carrierCallId };
    deps.intake.carrierStatus(call, status.status, terminal);
    if (status.digit !== undefined) deps.intake.keyReported(call, status.digit);
    return status;
  };
  const report = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const { document } = note(request);
    onReport?.(bodyOf(request).parsed, request.id);
    return document === undefined ? reply.code(204).send() : reply.type(document.contentType).send(document.text);
  };
  app.post(`${route}/status/:callId?`, report);
  return { note, report };
}

/** Carriers send some thirty fields. */
const MOST_FIELDS = 200;

interface BodyReading {
  readonly type: WebhookDoor['body'];
  readonly bodyLimit: number;
  /** Called for a form refused for its number of fields. */
  readonly onRefused: (request: FastifyRequest) => void;
}

/**
 * Parses a carrier's bodies, in this scope only; a repeated form field is a list. A form with too many fields is refused with 400 before parsing:
 * processing fields costs much more than counting them.
 */
function takeBodies(app: FastifyInstance, { type, bodyLimit, onRefused }: BodyReading): void {
  const take = (contentType: string, parsed: (raw: string, request: FastifyRequest) => unknown): void => {
    app.addContentTypeParser(contentType, { parseAs: 'string', bodyLimit }, (request, body, done) => {
      const raw = String(body);
      try {
        done(null, { raw, parsed: parsed(raw, request) } satisfies SignedBody);
      } catch (error) {
        done(error instanceof RequestRefused ? error : new RequestRefused(400, 'The body is not JSON.'));
      }
    });
  };
  switch (type) {
    case 'json':
      return take('application/json', (raw): unknown => JSON.parse(raw));
    case 'form':
      return take('application/x-www-form-urlencoded', (raw, request) => {
        if (!hasMoreFields(raw, MOST_FIELDS)) return parse(raw, '&', '=', { maxKeys: MOST_FIELDS });
        onRefused(request);
        throw new RequestRefused(400, `The form has more than ${MOST_FIELDS} fields.`);
      });
  }
}

function hasMoreFields(text: string, most: number): boolean {
  let count = 1;
  for (let at = text.indexOf('&'); at !== -1; at = text.indexOf('&', at + 1)) {
    count += 1;
    if (count > most) return true;
  }
  return false;
}

const signedBody = z.object({ raw: z.string(), parsed: z.unknown() });

/** A request without a body counts as one with an empty body. */
function bodyOf(request: FastifyRequest): SignedBody {
  const found = signedBody.safeParse(request.body);
  return found.success ? found.data : { raw: '', parsed: undefined };
}

/** An address's query without repeated parameters. */
export function singleParameters({ query }: Pick<FastifyRequest, 'query'>): Record<string, string> {
  const entries = Object.entries((query ?? {}) as Record<string, unknown>);
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}

/** The bot named by the path, else by the query parameter `bot` of the webhook's address, which is signed too. */
export function botNameOf(request: FastifyRequest): string | undefined {
  const inPath = botParameter.safeParse(request.params);
  const inQuery = botParameter.safeParse(request.query);
  return (inPath.success ? inPath.data.bot : undefined) ?? (inQuery.success ? inQuery.data.bot : undefined);
}
