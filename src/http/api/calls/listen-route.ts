import { z } from 'zod';
import { OrderRefusedError } from '../../../call/control/supervision.ts';
import { CarrierControlError } from '../../../carriers/errors.ts';
import { DEFAULT_TENANT, tenantOfAccount } from '../../../config/tenant-id.ts';
import { RequestRefused } from '../../problem.ts';
import type { ApiApp, ApiDeps } from '../api-app.ts';

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
    {
      // The token is not stored: a repeat under the same key makes another address.
      config: { scope: 'calls:control', stored: () => ({ streamUrl: null, expiresAt: '' }), servesAgain: true },
      schema: {
        summary: 'Get the address of a media stream by which a call between people is listened to',
        body: listenBody,
        response: { 201: listenAnswer },
      },
    },
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
