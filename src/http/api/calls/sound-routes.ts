import { z } from 'zod';
import { RequestRefused } from '../../problem.ts';
import { about, type ApiApp, type ApiDeps } from '../api-app.ts';

/** Waveform of a call. */
export const peaksView = z.object({
  durationMs: z.number(),
  intervalMs: z.number(),
  /** Peak of each interval, one byte each, 0 to 255 of full scale; in base64. */
  caller: z.base64(),
  bot: z.base64(),
});

/** Serves waveform data, so that browsers need not read the recording. */
export function peaksRoute(app: ApiApp, { store, peaks }: ApiDeps): void {
  if (peaks === undefined) return;
  app.get(
    '/calls/:callId/peaks',
    about('recordings:read', 'How loud both sides of the recording are, for drawing it', {
      params: z.strictObject({ callId: z.string().min(1).max(200) }),
      response: { 200: peaksView },
    }),
    async ({ principal, params }) => {
      const call = await store.calls.get(principal.tenantId, params.callId);
      if (call === undefined) throw new RequestRefused(404, 'There is no such call.');
      const found = await peaks.of(call);
      if (found === undefined) throw new RequestRefused(404, 'The call has no recording.');
      const { durationMs, intervalMs, channels } = found;
      const [caller = new Uint8Array(), bot = new Uint8Array()] = channels;
      return { durationMs, intervalMs, caller: Buffer.from(caller).toString('base64'), bot: Buffer.from(bot).toString('base64') };
    },
  );
}

const params = z.strictObject({ callId: z.string().min(1).max(200), turn: z.coerce.number().int().min(0).max(100_000) });
const audio = { content: { 'audio/wav': { schema: z.unknown() } } };

/** Audio of a voicemail message. */
export function voicemailRoute(app: ApiApp, { store, voicemails }: ApiDeps): void {
  if (voicemails === undefined) return;
  app.get(
    '/calls/:callId/voicemails/:turn/audio',
    about('recordings:read', 'A message that the caller left after the tone, as a mono WAV', {
      params,
      response: { 200: audio },
    }),
    async ({ principal, params: { callId, turn } }, reply) => {
      const call = await store.calls.get(principal.tenantId, callId);
      if (call === undefined) throw new RequestRefused(404, 'There is no such call.');
      const found = await voicemails.of(call, turn);
      if (found === undefined) throw new RequestRefused(404, 'The call has no message of this turn.');
      return reply.header('cache-control', 'private, no-store').type('audio/wav').send(Buffer.from(found));
    },
  );
}
