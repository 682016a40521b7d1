import { z } from 'zod';
import { readNumber } from '../../../outbound/number.ts';
import { CALL_ID } from '../../../kernel/ids.ts';
import { RequestRefused } from '../../problem.ts';
import { about, type ApiApp, type ApiDeps } from '../api-app.ts';

const erasureBody = z.union(
  [z.strictObject({ number: z.string().min(1).max(100) }), z.strictObject({ call: z.string().regex(CALL_ID) })],
  'either {"number": "+91…"} or {"call": "<id>"}',
);
const ids = z.array(z.string()).readonly();
const erasureView = z.object({
  /** Calls and attempts whose personal values were removed. */
  erased: ids,
  /** Under legal hold, not erased. */
  held: ids,
  /** Still live: repeat the erasure when they have ended. */
  live: ids,
  /** Do-not-call entries that stay in force without the number. */
  suppressions: z.int(),
  /** Consents that were withdrawn and erased. */
  consents: z.int(),
  /** Campaign contacts that are not called any longer. */
  contacts: z.int(),
});

/** Erases a person or a call like `offhook erase`, and protects a call like `offhook hold`. */
export function erasureRoutes(app: ApiApp, { erasures: orders }: ApiDeps): void {
  if (orders === undefined) return;
  const { eraser, holds, audit, defaultRegion } = orders;
  app.post(
    '/calls/:callId/hold',
    about('privacy:write', 'Hold a call for the law, or lift the hold: nothing erases a call that is held', {
      params: z.strictObject({ callId: z.string().regex(CALL_ID) }),
      body: z.strictObject({ on: z.boolean() }),
      response: { 200: z.object({ legalHold: z.boolean() }) },
    }),
    async ({ principal: { id: by, tenantId }, params: { callId }, body: { on } }) => {
      const { missing } = await holds.change({ tenantId, of: { callId }, on, by });
      if (missing.length > 0) throw new RequestRefused(404, 'There is no such call.');
      return { legalHold: on };
    },
  );
  app.post(
    '/erasures',
    about('privacy:write', 'Erase the personal data of a call, or everything about a number', {
      body: erasureBody,
      response: { 200: erasureView },
    }),
    async ({ principal: { id: by, tenantId }, body }) => {
      const subject = 'call' in body ? body.call : `…${body.number.slice(-2)}`;
      const event = { by, tenantId, action: 'erase', subject };
      try {
        // An invalid number is used as written: calls may have come from it.
        const { missing, ...erasure } =
          'call' in body
            ? await eraser.eraseCall(tenantId, body.call)
            : await eraser.eraseNumber(tenantId, writtenInFull(body.number, defaultRegion));
        await audit.add({
          ...event,
          outcome: missing.length + erasure.held.length + erasure.live.length === 0 ? 'done' : 'refused',
        });
        if (missing.length > 0) throw new RequestRefused(404, 'There is no such call.');
        return erasure;
      } catch (error) {
        if (!(error instanceof RequestRefused)) await audit.add({ ...event, outcome: 'failed' });
        throw error;
      }
    },
  );
}

function writtenInFull(number: string, region: string | undefined): string {
  const read = readNumber(number, region);
  return 'reason' in read ? number : read.e164;
}
