import { z } from 'zod';
import type { LiveCall } from '../../call/log/live-call.ts';
import { type CallOrder, MUTE_LIMIT_MS, OrderRefusedError } from '../../call/control/supervision.ts';
import { CarrierControlError } from '../../carriers/errors.ts';
import type { AuditEvent } from '../../jobs/retention/audit-log.ts';
import { CALL_ID } from '../../kernel/ids.ts';
import { RequestRefused } from '../problem.ts';
import type { ApiDeps } from './api-deps.ts';
import type { ApiKey } from './api-keys.ts';
import { type ApiRoute, apiRoute } from './api-route.ts';
import { liveCallView, liveView } from './live-call-views.ts';
import type { LiveCallOrders } from './live-call-orders.ts';

const nothing = z.strictObject({});
const callId = z.strictObject({ callId: z.string().regex(CALL_ID) });
const ownedBy = z.looseObject({ tenantId: z.string() });

/** A number in E.164 form, or a `sip:` address. */
const destination = z.string().regex(/^(?:\+[1-9]\d{4,14}|sips?:[\w.!~*'()&=+$,;?/%-]+@[\w.:[\]-]+)$/u);

type Asker = Pick<ApiKey, 'tenantId'>;

/** The calls of this gateway that are not over, and what can be done to them. Each act is written to the audit log. */
export function liveCallRoutes({ live, store }: ApiDeps): ApiRoute[] {
  if (live === undefined) return [];
  const control = <Body extends z.ZodType>(
    act: string,
    summary: string,
    body: Body,
    orderOf: (said: z.output<Body>) => CallOrder,
  ) =>
    apiRoute({
      method: 'POST',
      path: `/live-calls/:callId/${act}`,
      scope: 'calls:control',
      summary,
      params: callId,
      query: nothing,
      body,
      response: liveCallView,
      kept: (answer) => ({ ...liveCallView.parse(answer), from: '', to: '', words: null }),
      async serve(request) {
        const { key, params } = request;
        const { id } = await found(live, store, key, params.callId);
        const said: z.output<Body> = request.body;
        const order = orderOf(said);
        const event = { by: key.id, tenantId: key.tenantId, action: `live-call.${nameOf(order)}`, subject: id };
        return liveView(await audited(live, event, () => live.calls.order(id, order, key.id)), key);
      },
    });
  return [
    apiRoute({
      path: '/live-calls',
      scope: 'calls:read',
      summary: 'The calls that this gateway is having now, oldest first',
      params: nothing,
      query: nothing,
      response: z.object({ calls: z.array(liveCallView) }),
      async serve({ key }) {
        const calls = await live.calls.list();
        return { calls: calls.filter(({ tenantId }) => tenantId === key.tenantId).map((call) => liveView(call, key)) };
      },
    }),
    control('hang-up', 'End the call at once', nothing, () => ({ type: 'hang-up' })),
    control(
      'transfer',
      'Connect the caller to somebody else; where the carrier refuses, the call goes on',
      z.strictObject({ to: destination }),
      ({ to }) => ({ type: 'transfer', to }),
    ),
    control(
      'say',
      'Say a text with the bot’s voice, once the caller is not speaking',
      z.strictObject({
        text: z.string().trim().min(1).max(2_000),
        /** What may interrupt it; the bot's own setting when absent. */
        interruptible: z.enum(['always', 'keypad', 'never']).optional(),
      }),
      ({ text, interruptible }) => ({ type: 'say', text, interruptible }),
    ),
    control(
      'mute',
      'Silence the bot for a time, or give it its voice back: the caller is heard and recorded, and the dialog is not asked',
      z.strictObject({
        on: z.boolean().default(true),
        /** Silence after which the bot speaks again by itself. */
        forMs: z.int().min(1_000).max(3_600_000).default(MUTE_LIMIT_MS),
      }),
      ({ on, forMs }) => ({ type: 'mute', on, forMs }),
    ),
  ];
}

/** @throws RequestRefused saying where the call is, if it is anywhere */
async function found(live: LiveCallOrders, { calls }: ApiDeps['store'], key: Asker, id: string): Promise<LiveCall> {
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

/** Nobody is kept from ending a call by an audit log that cannot be written; the call's own timeline has it, too. */
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
    if (refused) throw new RequestRefused(409, error.message);
    if (error instanceof CarrierControlError) throw new RequestRefused(503, 'The carrier did not do it; the call goes on.');
    throw error;
  }
  await add('done');
  return done;
}
