import { z } from 'zod';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Timer } from '../../../kernel/clock.ts';
import { CALL_ID, newId } from '../../../kernel/ids.ts';
import { sendProblem } from '../../problem.ts';
import { singleHeaders } from '../../webhook-access.ts';
import type { ApiApp, ApiDeps } from '../api-app.ts';
import type { ApiGate } from '../api-gate.ts';
import { liveCallFor } from './live-call-routes.ts';
import { LiveWatch } from './live-watch.ts';
import type { Looks } from '../looks.ts';

/** Interval at which a listener's access is checked. */
const RIGHTS_MS = 10_000;
/** Headers forwarded to the process with the call; secrets are left out. */
const UPGRADE_HEADERS = ['host', 'connection', 'upgrade', 'sec-websocket-key', 'sec-websocket-version'];

/** WebSockets beside the routes of live calls; messages are in `watch-messages.ts`. */
export function watchRoutes(app: ApiApp, { live, clock, store }: ApiDeps, gate: ApiGate, looks?: Looks): void {
  if (live === undefined) return;
  const { calls, logger, audio, audit } = live;
  let watch: LiveWatch | undefined;
  app.addHook('preClose', async () => watch?.[Symbol.dispose]());
  app.get(
    '/watch',
    {
      websocket: true,
      config: { scope: 'calls:read' },
      schema: {
        summary: 'A WebSocket that tells what changes in live calls, and what is said in those that are followed',
        response: { 101: z.null() },
      },
      preHandler: async (request, reply) => (request.ws ? undefined : upgradeRequired(request, reply)),
    },
    (socket, request) => {
      watch ??= new LiveWatch({ calls, clock, logger });
      const { principal } = request;
      const onFollow = (callId: string): void => looks?.note(principal, `/live-calls/${callId}`);
      watch.watch(socket, principal, () => gate.holds(request, 'calls:read'), onFollow);
    },
  );

  /** Checks a listener's access regularly. @returns stops checking */
  const checkRights = (request: FastifyRequest, listenerId: string): (() => void) => {
    let timer: Timer | undefined;
    const later = (): void => {
      timer = clock.after(RIGHTS_MS, () => {
        later();
        const dismiss = (): void => audio.dismiss(listenerId);
        gate.holds(request, 'calls:listen').then((holds) => (holds ? undefined : dismiss()), dismiss);
      });
    };
    later();
    return () => timer?.cancel();
  };

  app.get(
    '/live-calls/:callId/audio',
    {
      websocket: true,
      config: { scope: 'calls:listen' },
      schema: {
        summary: 'A WebSocket that brings the sound of a live call, and takes the voice of who takes it over',
        params: z.strictObject({ callId: z.string().regex(CALL_ID) }),
        response: { 101: z.null() },
      },
      async preHandler(request, reply) {
        if (!request.ws) return upgradeRequired(request, reply);
        const { principal, params } = request;
        const { id: callId } = await liveCallFor(live, store.calls, principal, params.callId);
        const event = { by: principal.id, tenantId: principal.tenantId, subject: callId };
        const note = (action: string, outcome: 'done' | 'refused' = 'done'): Promise<void> =>
          audit
            .add({ ...event, action, outcome })
            .catch((error: unknown) => logger.error({ ...event, action, error }, 'audit log write failed'));
        await note('live-call.audio');
        const listenerId = newId('lis');
        const mayControl = principal.scopes.includes('calls:control');
        const { socket } = request.raw;
        reply.hijack();
        reply.raw.detachSocket(socket);
        const headers = Object.fromEntries(
          Object.entries(singleHeaders(request)).filter(([name]) => UPGRADE_HEADERS.includes(name)),
        );
        const stopChecking = checkRights(request, listenerId);
        const upgrade = { socket, headers, early: Buffer.alloc(0) };
        audio
          .listen({ listenerId, callId, by: principal.id, mayControl }, upgrade)
          .then(
            async ({ tookOverMs }) => {
              if (tookOverMs > 0) await note('live-call.take-over');
              await note('live-call.audio-end');
            },
            (error: unknown) => {
              logger.warn({ callId, error }, 'listening to a call failed');
              return note('live-call.audio-end', 'refused');
            },
          )
          .finally(stopChecking);
        return reply;
      },
    },
    // The socket is upgraded in the process with the call.
    (socket) => socket.close(1011, 'not admitted'),
  );
}

function upgradeRequired(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return sendProblem(request, reply.header('upgrade', 'websocket'), 426, 'This is a WebSocket.');
}
