import { createHash } from 'node:crypto';
import { z } from 'zod';
import { DialRequestError, type DialRequest } from '../../../outbound/dialling.ts';
import type { RefusedDial } from '../../../outbound/gate/facts.ts';
import { readNumber } from '../../../outbound/number.ts';
import { didYouMean } from '../../../config/nearest.ts';
import { CALL_ID } from '../../../kernel/ids.ts';
import { type Attempt, DISPOSITIONS, PURPOSES } from '../../../records/dialling.ts';
import { StoreRecordError } from '../../../records/errors.ts';
import { wantedAccount } from '../../../config/tenants.ts';
import { RequestRefused } from '../../problem.ts';
import { about, type ApiApp, type ApiDeps, type DialOrders } from '../api-app.ts';
import type { Principal } from '../system/api-keys.ts';
import { attemptPageView, attemptView, viewOfAttempt, refuseNumberSearch } from './call-views.ts';
import { optionalTime } from '../views.ts';
import { mayChooseRules, rulesOf } from '../dial-rules.ts';
import { KEY_LIFE_MS } from '../idempotency.ts';
import { SharedRateLimit } from '../../rate-limit.ts';

const texts = z.record(z.string().min(1).max(100), z.string().max(2_000)).refine((given) => Object.keys(given).length <= 50, {
  message: 'at most 50 of them',
});
const dialBody = z.strictObject({
  to: z.string().min(1).max(100),
  /** The caller id; the first number of `dialling.callerIds` when absent. */
  from: z.string().min(1).max(100).optional(),
  bot: z.string().min(1).max(100),
  carrier: z.string().min(1).max(100).optional(),
  /** Variables the bot's dialog starts with. */
  variables: texts.default({}),
  /** Stored with the call; the bot does not see it. */
  metadata: texts.default({}),
  ringTimeoutMs: z.int().min(5_000).max(120_000).optional(),
  /** A profile other than `dialling.profile` requires the scope `dialling:rules`. */
  profile: z.string().min(1).max(63).optional(),
  purpose: z.enum(PURPOSES).optional(),
  /** Registration ids by the profile's names. */
  registrations: texts.default({}),
  /**
   * The person's time zone; derived from the number when absent. Without the scope `dialling:rules` both apply, unless `dialling.zoneSource` is
   * `given`.
   */
  zone: z.string().min(1).max(100).optional(),
});
type DialBody = z.output<typeof dialBody>;

const attemptId = z.strictObject({ attemptId: z.string().regex(CALL_ID) });
const listQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(200).default(50),
  cursor: z.string().max(500).optional(),
  number: z.string().min(1).max(100).optional(),
  campaign: z.string().min(1).max(100).optional(),
  contact: z.string().min(1).max(100).optional(),
  disposition: z.enum(DISPOSITIONS).optional(),
  /** Creation time, from (included) and to (excluded). */
  from: z.iso.datetime({ offset: true }).optional(),
  to: z.iso.datetime({ offset: true }).optional(),
});

/** Suggested retry time without a free place. */
const ROOM_RETRY_S = 5;
/** Single calls of one tenant. */
const DIAL_PACE = { burst: 60, perSecond: 10 };

/** Single outbound calls, and the attempts of all outbound calls. */
export function dialRoutes(app: ApiApp, { dialling, store, clock, rates }: ApiDeps): void {
  if (dialling === undefined) return;
  const { dialler } = dialling;
  const { attempts } = store;
  const pace = new SharedRateLimit({ clock, rates }, 'dials', DIAL_PACE);
  const found = async (tenantId: string, id: string): Promise<Attempt> => {
    const attempt = await attempts.get(tenantId, id);
    if (attempt === undefined) throw new RequestRefused(404, 'There is no such attempt.');
    return attempt;
  };
  const stored = (answer: unknown): unknown => ({ ...attemptView.parse(answer), from: '', to: '', variables: {}, metadata: {} });

  app.post(
    '/calls',
    // The same key finds the same attempt, even after its process died.
    about({ scope: 'calls:dial', stored, servesAgain: true }, 'Place an outbound call', {
      body: dialBody,
      response: { 201: attemptView },
    }),
    async ({ principal, body, headers }, reply) => {
      const { tenantId } = principal;
      const { 'idempotency-key': key } = headers;
      const known = typeof key === 'string' ? await earlierDial({ store, clock }, principal, key) : undefined;
      const answer = async (attempt: Attempt) => {
        reply.header('location', `/api/attempts/${attempt.id}`);
        return viewOfAttempt((await attempts.get(tenantId, attempt.id)) ?? attempt, principal);
      };
      if (known?.attempt !== undefined) {
        if (known.attempt.state === 'queued') await dialler.place(tenantId, known.attempt.id);
        return answer(known.attempt);
      }
      const waitS = await pace.take(tenantId);
      if (waitS > 0) throw new RequestRefused(429, 'Too many calls at once.', { retryAfterS: waitS });
      const request = { ...wishOf(dialling, principal, body), callId: known?.id };
      checkWish(dialling, request);
      if (!dialler.hasRoom) throw noRoom();
      const attempt = await askedOf(dialling, request, () =>
        known === undefined ? undefined : attempts.get(tenantId, known.id),
      );
      if ((await dialler.place(tenantId, attempt.id)) === 'no-room') {
        await dialler.cancel(tenantId, attempt.id, NO_ROOM);
        throw noRoom();
      }
      return answer(attempt);
    },
  );
  app.get(
    '/attempts',
    about('calls:read', 'Attempts at outbound calls, refused ones too, newest first', {
      querystring: listQuery,
      response: { 200: attemptPageView },
    }),
    async ({ principal, query: { limit, cursor, number, campaign, contact, disposition, from, to } }) => {
      refuseNumberSearch(principal, { number });
      const page = await attempts.page(principal.tenantId, {
        limit,
        before: cursor,
        number,
        campaignId: campaign,
        contactId: contact,
        disposition,
        fromMs: from === undefined ? undefined : Date.parse(from),
        toMs: to === undefined ? undefined : Date.parse(to),
      });
      return { attempts: page.attempts.map((attempt) => viewOfAttempt(attempt, principal)), next: page.next ?? null };
    },
  );
  app.get(
    '/attempts/:attemptId',
    about('calls:read', 'How far an outbound call is, and what came of it', {
      params: attemptId,
      response: { 200: attemptView },
    }),
    async ({ principal, params }) => viewOfAttempt(await found(principal.tenantId, params.attemptId), principal),
  );
  app.post(
    '/attempts/:attemptId/cancel',
    about({ scope: 'calls:dial', stored }, 'Give up an outbound call that nobody has answered yet', {
      params: attemptId,
      body: z.strictObject({}),
      response: { 200: attemptView },
    }),
    async ({ principal, params }) => {
      const { tenantId } = principal;
      const { id } = await found(tenantId, params.attemptId);
      const cancelled = await dialler.cancel(tenantId, id);
      const attempt = await found(tenantId, id);
      if (cancelled) return viewOfAttempt(attempt, principal);
      const isOver = attempt.state === 'ended';
      throw new RequestRefused(409, isOver ? 'The attempt is over.' : 'The call was answered: hang it up as a live call.');
    },
  );
}

/** The attempt made by an earlier request under the same key, and the id for a new one. */
async function earlierDial(
  { store: { attempts }, clock }: Pick<ApiDeps, 'store' | 'clock'>,
  { id, tenantId }: Principal,
  key: string,
): Promise<{ readonly id: string; readonly attempt?: Attempt }> {
  for (let turn = 0; ; turn += 1) {
    const name = JSON.stringify([tenantId, id, key, turn]);
    const callId = `call_${createHash('sha256').update(name).digest('hex').slice(0, 32)}`;
    const attempt = await attempts.get(tenantId, callId);
    if (attempt === undefined) return { id: callId };
    const isOfLife = attempt.createdAtMs > clock.wallMs() - KEY_LIFE_MS;
    // A refused attempt may be retried under its key.
    const wasRefused = attempt.disposition === 'refused' || attempt.cause === NO_ROOM;
    if (isOfLife && !wasRefused) return { id: callId, attempt };
  }
}

/** Cause of an attempt given up for lack of a place. */
const NO_ROOM = 'no-room';

function noRoom(): RequestRefused {
  return new RequestRefused(503, 'There is no room for another call now.', { retryAfterS: ROOM_RETRY_S });
}

/** @throws RequestRefused 422 for an unknown bot, 403 for rules the key may not choose */
function wishOf({ bots, settings, means }: DialOrders, principal: Principal, body: DialBody): DialRequest {
  const { tenantId, id: askedBy } = principal;
  const rules = rulesOf(settings, principal, { profile: body.profile });
  const { to, from, bot, carrier, variables, metadata, purpose, registrations, zone } = body;
  const names = bots(tenantId);
  if (!names.includes(bot))
    throw new RequestRefused(422, `There is no bot of this name; the bots are ${names.join(', ')}.${didYouMean(bot, names)}`);
  const { callerIds } = means(tenantId);
  const account = wantedAccount(means(tenantId), { tenantId, carrier, from: '' });
  const own = callerIds.find((each) => !each.isSeries && (carrier === undefined || (each.carrier ?? account) === account));
  return {
    tenantId,
    to: numberOf(to, settings.defaultRegion),
    from: from === undefined ? (own?.number ?? '') : numberOf(from, settings.defaultRegion),
    botName: bot,
    carrier,
    variables,
    metadata,
    ringTimeoutMs: body.ringTimeoutMs ?? settings.ringTimeoutMs,
    profile: rules.profile,
    purpose,
    registrations,
    zone,
    zoneAlone: mayChooseRules(principal) || rules.zoneSource === 'given',
    askedBy,
    narrowing: [],
  };
}

/** In E.164 where it is a number; else unchanged, so that the gate's refusal names it. */
function numberOf(written: string, region: string | undefined): string {
  const number = readNumber(written, region);
  return 'e164' in number ? number.e164 : written.trim();
}

/** @throws RequestRefused 422 for an unknown profile, or a carrier without an account */
function checkWish({ dialler }: DialOrders, request: DialRequest): void {
  try {
    dialler.check(request);
  } catch (error) {
    if (error instanceof DialRequestError) throw new RequestRefused(422, sentenceOf(error.message), { cause: error });
    throw error;
  }
}

/**
 * @param made the attempt that another process just made for the same request
 * @throws RequestRefused with the refusal's name, its retry time, and every reason
 */
async function askedOf(
  { dialler }: DialOrders,
  request: DialRequest,
  made: () => Promise<Attempt | undefined> | undefined,
): Promise<Attempt> {
  try {
    const [gated] = await dialler.ask([request]);
    if (gated === undefined) throw new TypeError('one wish has one answer');
    if (gated.allowed) return gated.attempt;
    throw refusalOf(gated.refusal, gated.attempt.id);
  } catch (error) {
    const attempt = error instanceof StoreRecordError ? await made() : undefined;
    if (attempt === undefined) throw error;
    return attempt;
  }
}

/** A refusal that time will lift is a 409; any other is an error of the request or a fact about the number. */
function refusalOf({ refusal, detail, refusals, retryAtMs }: RefusedDial, attempt: string): RequestRefused {
  const retryAt = optionalTime(retryAtMs);
  const members = { refusal, refusals, retryAt, attempt };
  return new RequestRefused(retryAtMs === undefined ? 422 : 409, sentenceOf(detail), { members });
}

function sentenceOf(text: string): string {
  const sentence = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.?!]$/u.test(sentence) ? sentence : `${sentence}.`;
}
