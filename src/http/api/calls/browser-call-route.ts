import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { RequestRefused } from '../../problem.ts';
import type { ApiApp, ApiDeps } from '../api-app.ts';

const browserCallBody = z.strictObject({ bot: z.string().min(1).max(100) });

/** A browser call that may begin now; `streamUrl` is null in a repeated answer. */
export const browserCallView = z.object({
  callId: z.string(),
  streamUrl: z.string().nullable(),
  expiresAt: z.iso.datetime(),
});
export type BrowserCallView = z.output<typeof browserCallView>;

/** Begins a call from the client's browser: returns the address of its media socket (docs/carriers/browser.md). */
export function browserCallRoute(app: ApiApp, { browserCalls, live, audit }: ApiDeps): void {
  if (browserCalls === undefined || live === undefined) return;
  app.post(
    '/browser-calls',
    {
      // The token is not stored, and a call begins once: a repeat only gets the call's id.
      config: { scope: 'calls:talk', stored: (answer) => ({ ...browserCallView.parse(answer), streamUrl: null }) },
      schema: {
        summary: 'Begin a call from a browser: get the address of its media socket, which can be opened once',
        body: browserCallBody,
        response: { 201: browserCallView },
      },
    },
    async ({ principal, body: { bot: botName }, id }) => {
      const known = live.listening.bots(principal.tenantId);
      if (!known.includes(botName)) throw new RequestRefused(422, `bot: the bots here are ${known.join(', ')}.`);
      const call = await browserCalls.begin({ carrierCallId: randomUUID(), botName, from: principal.name ?? 'browser' }, id);
      const { id: by, tenantId } = principal;
      await audit?.add({ by, tenantId, action: 'browser-call.begin', subject: call.callId, outcome: 'done' });
      return call;
    },
  );
}
