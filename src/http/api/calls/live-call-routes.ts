import { z } from 'zod';
import type { LiveCall } from '../../../call/admission/live-calls.ts';
import { type CallOrder, MUTE_LIMIT_MS, OrderRefusedError } from '../../../call/control/supervision.ts';
import { CarrierControlError } from '../../../carriers/errors.ts';
import { TARGET_REFUSALS } from '../../../config/allowed-target.ts';
import type { AuditEvent } from '../../../records/retention/audit-log.ts';
import { CALL_ID } from '../../../kernel/ids.ts';
import { RequestRefused } from '../../problem.ts';
import { about, type ApiApp, type ApiDeps, type LiveCallOrders } from '../api-app.ts';
import type { Principal } from '../system/api-keys.ts';
import { liveCallsView, liveCallView, liveView } from './call-views.ts';
import { DRAFT_BODY_BYTES, draftText, keptDraft } from '../bots/bot-drafts.ts';
import { DEFAULT_TENANT, tenantOfAccount } from '../../../config/tenant-id.ts';
import { randomUUID } from 'node:crypto';

const callId = z.strictObject({ callId: z.string().regex(CALL_ID) });
const ownedBy = z.looseObject({ tenantId: z.string() });

/** A number in E.164 form, or a `sip:` address. */
const destination = z.string().regex(/^(?:\+[1-9]\d{4,14}|sips?:[\w.!~*'()&=+$,;?/%-]+@[\w.:[\]-]+)$/u);

/** The gateway's live calls, and orders to them. Each order is written to the audit log. */
export function liveCallRoutes(app: ApiApp, { live, store }: ApiDeps): void {
  if (live === undefined) return;
  app.get(
    '/live-calls',
    about('calls:read', 'The calls that this gateway is having now, oldest first', {
      response: { 200: liveCallsView },
    }),
    async ({ principal }) => {
      const calls = await live.calls.list();
      const own = calls.filter(({ tenantId }) => tenantId === principal.tenantId);
      return { calls: own.map((call) => liveView(call, principal)) };
    },
  );
  const control = <Body extends z.ZodType>(
    act: string,
    summary: string,
    body: Body,
    orderOf: (said: z.output<Body>) => CallOrder,
  ) => {
    const schema = { summary, params: callId, body, response: { 200: liveCallView } };
    const config = { scope: 'calls:control', stored: storedView } as const;
    app.post(`/live-calls/:callId/${act}`, { config, schema }, async (request) => {
      const { principal, params } = request;
      const { id } = await liveCallFor(live, store.calls, principal, params.callId);
      // Already parsed: the body's type is unknown here, because its schema is a parameter.
      const order = orderOf(request.body as z.output<Body>);
      const event = { by: principal.id, tenantId: principal.tenantId, action: `live-call.${nameOf(order)}`, subject: id };
      return liveView(await audited(live, event, () => live.calls.order(id, order, principal.id)), principal);
    });
  };
  control('hang-up', 'End the call at once', z.strictObject({}), () => ({ type: 'hang-up' }));
  control(
    'transfer',
    'Transfer the caller; where the carrier refuses, the call goes on',
    z.strictObject({ to: destination }),
    ({ to }) => ({ type: 'transfer', to }),
  );
  control(
    'say',
    'Say a text with the bot’s voice, once the caller is not speaking',
    z.strictObject({
      text: z.string().trim().min(1).max(2_000),
      /** What may interrupt it; the bot's own setting when absent. */
      interruptible: z.enum(['always', 'keypad', 'never']).optional(),
    }),
    ({ text, interruptible }) => ({ type: 'say', text, interruptible }),
  );
  control(
    'whisper',
    'Tell the bot something with the caller’s next turn; the caller hears nothing of it',
    z.strictObject({ text: z.string().trim().min(1).max(1_000) }),
    ({ text }) => ({ type: 'whisper', text }),
  );
  control(
    'mute',
    'Silence the bot for a time, or give it its voice back: the caller is heard and recorded, and the dialog is not asked',
    z.strictObject({
      on: z.boolean().default(true),
      /** Silence of the operator after which the bot is unmuted. */
      forMs: z.int().min(1_000).max(3_600_000).default(MUTE_LIMIT_MS),
    }),
    ({ on, forMs }) => ({ type: 'mute', on, forMs }),
  );
}

/** Personal values are not stored for a repeat. */
function storedView(answer: unknown): unknown {
  return { ...liveCallView.parse(answer), from: '', to: '', words: null };
}

/** @throws RequestRefused that says where the call is, if it exists */
export async function liveCallFor(
  live: LiveCallOrders,
  calls: Pick<ApiDeps['store']['calls'], 'get'>,
  key: Principal,
  id: string,
): Promise<LiveCall> {
  const call = await live.calls.find(id);
  if (call?.tenantId === key.tenantId) return call;
  const journal = ownedBy.safeParse(await live.elsewhere(id));
  if (journal.data?.tenantId === key.tenantId)
    throw new RequestRefused(409, 'The call is in another process, which is not of this gateway; ask that one.');
  const stored = await calls.get(key.tenantId, id);
  throw stored === undefined ? new RequestRefused(404, 'There is no such call.') : new RequestRefused(409, 'The call is over.');
}

function nameOf(order: CallOrder): string {
  return order.type === 'mute' && !order.on ? 'unmute' : order.type;
}

/** For a forbidden transfer target, the answer names the refusal. */
function refusalOf({ message }: OrderRefusedError): RequestRefused {
  const refusal = TARGET_REFUSALS.find((name) => message.startsWith(`${name}: `));
  return new RequestRefused(refusal === undefined ? 409 : 422, message, refusal === undefined ? {} : { members: { refusal } });
}

/** A failed audit write does not stop the order; the call's timeline has it too. */
async function audited<Done>(live: LiveCallOrders, event: Omit<AuditEvent, 'outcome'>, act: () => Promise<Done>): Promise<Done> {
  const add = (outcome: AuditEvent['outcome']): Promise<void> =>
    live.audit
      .add({ ...event, outcome })
      .catch((error: unknown) => live.logger.error({ ...event, error }, 'audit log write failed'));
  let done: Done;
  try {
    done = await act();
  } catch (error) {
    const refused = error instanceof OrderRefusedError;
    await add(refused ? 'refused' : 'failed');
    if (refused) throw refusalOf(error);
    if (error instanceof CarrierControlError) throw new RequestRefused(503, 'The carrier did not do it; the call goes on.');
    throw error;
  }
  await add('done');
  return done;
}

const listenBody = z.strictObject({
  carrier: z.string().min(1).max(100),
  /** Bot whose language, recording rule and analysis apply to the call. */
  bot: z.string().min(1).max(100),
  /** Numbers of the call, for a carrier whose stream has none. */
  from: z.string().max(100).default(''),
  to: z.string().max(100).default(''),
  /**
   * A live call in the carrier's account, by the carrier's id: the carrier is asked to begin at once. Without it, set up the address at the carrier
   * yourself.
   */
  call: z.string().min(1).max(256).optional(),
  /** Time in which the address can be used, once. */
  validForS: z.int().min(10).max(86_400).default(300),
});
/** Without an address where the carrier already has it. */
const listenAnswer = z.object({ streamUrl: z.string().nullable(), expiresAt: z.iso.datetime() });

/** A call between people: the address for its carrier's copy of both sides. Nothing is sent into that call. */
export function listenRoute(app: ApiApp, { live, clock }: ApiDeps): void {
  if (live === undefined) return;
  const { listening, audit } = live;
  app.post(
    '/live-calls/listen',
    // The token is not stored: a repeat under the same key makes another address.
    about(
      { scope: 'calls:control', stored: () => ({ streamUrl: null, expiresAt: '' }), servesAgain: true },
      'Get the address of a media stream by which a call between people is listened to',
      { body: listenBody, response: { 201: listenAnswer } },
    ),
    async ({ principal, body }) => {
      const { carrier, bot: botName, from, to, call, validForS } = body;
      const { tenantId } = principal;
      const able = listening.carriers(tenantId);
      if (!able.includes(carrier)) throw new RequestRefused(422, `carrier: both sides of a call come from ${able.join(', ')}.`);
      // In a shared account the carrier cannot tell tenants' calls apart.
      if (call !== undefined && tenantId !== (tenantOfAccount(carrier) ?? DEFAULT_TENANT))
        throw new RequestRefused(403, `call: only the operator's keys name a call of ${carrier}, an account that tenants share.`);
      const known = listening.bots(tenantId);
      if (!known.includes(botName)) throw new RequestRefused(422, `bot: the bots here are ${known.join(', ')}.`);
      const expiresAt = new Date(clock.wallMs() + validForS * 1000).toISOString();
      const streamUrl = await listening.addressFor({ carrier, botName, from, to }, validForS * 1000);
      const event = { by: principal.id, tenantId, action: 'live-call.listen', subject: call ?? carrier };
      try {
        if (call !== undefined) await listening.begin(carrier, call, streamUrl);
      } catch (error) {
        await audit.add({ ...event, outcome: error instanceof OrderRefusedError ? 'refused' : 'failed' });
        if (error instanceof OrderRefusedError) throw new RequestRefused(409, error.message);
        if (error instanceof CarrierControlError) throw new RequestRefused(503, 'The carrier did not do it; the call goes on.');
        throw error;
      }
      await audit.add({ ...event, outcome: 'done' });
      return { streamUrl: call === undefined ? streamUrl : null, expiresAt };
    },
  );
}

const browserCallBody = z.strictObject({
  bot: z.string().min(1).max(100),
  /** A bot file that answers in place of the bot's; needs `bots:write` too. The call is a rehearsal, which is not counted. */
  draft: draftText.optional(),
});

/** A browser call that may begin now; `streamUrl` is null in a repeated answer. */
export const browserCallView = z.object({
  callId: z.string(),
  streamUrl: z.string().nullable(),
  expiresAt: z.iso.datetime(),
});
export type BrowserCallView = z.output<typeof browserCallView>;

/** Begins a call from the client's browser: returns the address of its media socket (docs/carriers/browser.md). */
export function browserCallRoute(app: ApiApp, { browserCalls, live, bots, audit }: ApiDeps): void {
  if (browserCalls === undefined || live === undefined) return;
  app.post(
    '/browser-calls',
    // The token is not stored, and a call begins once: a repeat only gets the call's id.
    {
      config: { scope: 'calls:talk', stored: (answer) => ({ ...browserCallView.parse(answer), streamUrl: null }) },
      bodyLimit: DRAFT_BODY_BYTES,
      schema: {
        summary: 'Begin a call from a browser: get the address of its media socket, which can be opened once',
        body: browserCallBody,
        response: { 201: browserCallView },
      },
    },
    async ({ principal, body: { bot: botName, draft }, id }) => {
      const known = live.listening.bots(principal.tenantId);
      if (!known.includes(botName)) throw new RequestRefused(422, `bot: the bots here are ${known.join(', ')}.`);
      const rehearses = draft === undefined || bots === undefined ? undefined : await keptDraft(bots, principal, botName, draft);
      const from = principal.name ?? 'browser';
      const call = await browserCalls.begin({ carrierCallId: randomUUID(), botName, from, rehearses }, id);
      const { id: by, tenantId } = principal;
      await audit?.add({ by, tenantId, action: 'browser-call.begin', subject: call.callId, outcome: 'done' });
      return call;
    },
  );
}
