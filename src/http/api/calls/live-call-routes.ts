import { z } from 'zod';
import type { LiveCall } from '../../../call/admission/live-calls.ts';
import { type CallOrder, MUTE_LIMIT_MS, OrderRefusedError } from '../../../call/control/supervision.ts';
import { CarrierControlError } from '../../../carriers/errors.ts';
import { TARGET_REFUSALS } from '../../../config/allowed-target.ts';
import type { AuditEvent } from '../../../records/retention/audit-log.ts';
import { CALL_ID } from '../../../kernel/ids.ts';
import { RequestRefused } from '../../problem.ts';
import type { ApiApp, ApiDeps, LiveCallOrders } from '../api-app.ts';
import type { Principal } from '../system/api-keys.ts';
import { liveCallView, liveView } from './call-views.ts';

const callId = z.strictObject({ callId: z.string().regex(CALL_ID) });
const ownedBy = z.looseObject({ tenantId: z.string() });

/** A number in E.164 form, or a `sip:` address. */
const destination = z.string().regex(/^(?:\+[1-9]\d{4,14}|sips?:[\w.!~*'()&=+$,;?/%-]+@[\w.:[\]-]+)$/u);

/** The gateway's live calls, and orders to them. Each order is written to the audit log. */
export function liveCallRoutes(app: ApiApp, { live, store }: ApiDeps): void {
  if (live === undefined) return;
  app.get(
    '/live-calls',
    {
      config: { scope: 'calls:read' },
      schema: {
        summary: 'The calls that this gateway is having now, oldest first',
        response: { 200: z.object({ calls: z.array(liveCallView) }) },
      },
    },
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
