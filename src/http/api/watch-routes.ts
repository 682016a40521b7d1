import { z } from 'zod';
import { sendProblem } from '../problem.ts';
import type { ApiApp, ApiDeps } from './api-app.ts';
import type { ApiGate } from './api-gate.ts';
import type { Looks } from './looks.ts';
import { LiveWatch } from './live-watch.ts';

/** A WebSocket beside the list of live calls: `watch-messages.ts` has its messages. */
export function watchRoutes(app: ApiApp, { live, clock }: ApiDeps, gate: ApiGate, looks?: Looks): void {
  if (live === undefined) return;
  const { calls, logger } = live;
  let watch: LiveWatch | undefined;
  app.addHook('preClose', async () => watch?.[Symbol.dispose]());
  const scope = 'calls:read';
  const summary = 'A WebSocket that tells what changes in live calls, and what is said in those that are followed';
  app.get(
    '/watch',
    {
      websocket: true,
      config: { scope },
      schema: { summary, response: { 101: z.null() } },
      async preHandler(request, reply) {
        return request.ws ? undefined : sendProblem(request, reply.header('upgrade', 'websocket'), 426, 'This is a WebSocket.');
      },
    },
    (socket, request) => {
      watch ??= new LiveWatch({ calls, clock, logger });
      const { principal } = request;
      const onFollow = (callId: string): void => looks?.note(principal, `/live-calls/${callId}`);
      watch.watch(socket, principal, () => gate.holds(request, scope), onFollow);
    },
  );
}
