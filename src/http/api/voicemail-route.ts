import { z } from 'zod';
import { RequestRefused } from '../problem.ts';
import type { ApiApp, ApiDeps } from './api-app.ts';

const params = z.strictObject({ callId: z.string().min(1).max(200), turn: z.coerce.number().int().min(0).max(100_000) });
const audio = { content: { 'audio/wav': { schema: z.unknown() } } };

/** Audio of a voicemail message. */
export function voicemailRoute(app: ApiApp, { store, voicemails }: ApiDeps): void {
  if (voicemails === undefined) return;
  app.get(
    '/calls/:callId/voicemails/:turn/audio',
    {
      config: { scope: 'recordings:read' },
      schema: { summary: 'A message that the caller left after the tone, as a mono WAV', params, response: { 200: audio } },
    },
    async ({ principal, params: { callId, turn } }, reply) => {
      const call = await store.calls.get(principal.tenantId, callId);
      if (call === undefined) throw new RequestRefused(404, 'There is no such call.');
      const found = await voicemails.of(call, turn);
      if (found === undefined) throw new RequestRefused(404, 'The call has no message of this turn.');
      return reply.header('cache-control', 'private, no-store').type('audio/wav').send(Buffer.from(found));
    },
  );
}
