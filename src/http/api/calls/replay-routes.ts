import { z } from 'zod';
import { OffhookError } from '../../../kernel/errors.ts';
import { CALL_ID } from '../../../kernel/ids.ts';
import { RequestRefused } from '../../problem.ts';
import { about, type ApiApp, type ApiDeps } from '../api-app.ts';
import { optionalTime } from '../views.ts';
import { fixtureView, type ReplayReportView, replayReportView } from './replay-views.ts';

const callId = z.strictObject({ callId: z.string().regex(CALL_ID) });
const NOT_SAVED = 'The call was not saved for replay. call.keepFixtures names the bots whose calls are saved from then on.';
const UNKNOWN = { expiresAt: null, bytes: null, digitsMasked: null, truncatedAtMs: null, settings: null };

/** Calls saved for replay: facts, a replay with other settings, and the file. */
export function replayRoutes(app: ApiApp, { store, replays }: ApiDeps): void {
  if (replays === undefined) return;
  const { fixtures, audit } = replays;
  const botOf = async (tenantId: string, id: string): Promise<string> => {
    const call = await store.calls.get(tenantId, id);
    if (call === undefined) throw new RequestRefused(404, 'There is no such call.');
    return call.botName;
  };
  app.get(
    '/calls/:callId/fixture',
    about('analyses:read', 'Whether a call was saved for replay, and with which settings', {
      params: callId,
      response: { 200: fixtureView },
    }),
    async ({ principal: { tenantId }, params, signal }): Promise<z.output<typeof fixtureView>> => {
      const keeps = fixtures.keeps(await botOf(tenantId, params.callId));
      try {
        const facts = await fixtures.facts(tenantId, params.callId, signal);
        if (facts === undefined) return { state: 'not-saved', keeps, ...UNKNOWN };
        const { expiresAtMs, bytes, digitsMasked, truncatedAtMs, settings } = facts;
        const expiresAt = optionalTime(expiresAtMs);
        return { state: 'saved', keeps, expiresAt, bytes, digitsMasked, truncatedAtMs: truncatedAtMs ?? null, settings };
      } catch (error) {
        if (error instanceof OffhookError && error.code === 'OFFHOOK_FIXTURE_EXPIRED')
          return { state: 'expired', keeps, ...UNKNOWN };
        throw refusalOf(error);
      }
    },
  );
  app.get(
    '/calls/:callId/fixture/file',
    about(
      'analyses:write',
      'The saved call as a file for `offhook replay`: it has the voice and the words of the caller. Needs recordings:read too',
      { params: callId, response: { 200: { content: { 'application/gzip': { schema: z.unknown() } } } } },
    ),
    async ({ principal: { tenantId, id: by, scopes }, params, signal }, reply) => {
      if (!scopes.includes('recordings:read')) throw new RequestRefused(403, 'This needs the scope recordings:read.');
      await botOf(tenantId, params.callId);
      const event = { by, tenantId, action: 'fixture.read', subject: params.callId };
      try {
        // Reading the facts first keeps an expired file from being served.
        const isThere = (await fixtures.facts(tenantId, params.callId, signal)) !== undefined;
        const file = isThere ? await fixtures.file(tenantId, params.callId) : undefined;
        if (file === undefined) throw new RequestRefused(404, NOT_SAVED);
        await audit.add({ ...event, outcome: 'done' });
        reply.type('application/gzip').header('cache-control', 'private, no-store');
        reply.header('content-disposition', `attachment; filename="${params.callId}.fixture.gz"`);
        return await reply.send(file);
      } catch (error) {
        throw refusalOf(error);
      }
    },
  );
  app.post(
    '/calls/:callId/replay',
    about(
      { scope: 'analyses:write', servesAgain: true, stored: (answer) => withoutWords(replayReportView.parse(answer)) },
      "Replay a saved call with other settings of its bot, and compare what today's code decides",
      {
        params: callId,
        body: z.strictObject({
          /** Names as in a bot's file, nested ones with dots: `{"interruption.clearAfterMs": 200}`. */
          settings: z.record(z.string().min(1).max(100), z.union([z.string().max(1000), z.number(), z.boolean()])).default({}),
        }),
        response: { 200: replayReportView },
      },
    ),
    async ({ principal: { tenantId, id: by }, params, body: { settings }, signal }) => {
      await botOf(tenantId, params.callId);
      const named = Object.entries(settings).map(([name, value]) => ({ name, value }));
      try {
        const report = await fixtures.replay(tenantId, params.callId, named, signal);
        if (report === undefined) throw new RequestRefused(409, NOT_SAVED);
        // The report quotes words at the first difference.
        await audit.add({ by, tenantId, action: 'call.replay', subject: params.callId, outcome: 'done' });
        return report;
      } catch (error) {
        throw refusalOf(error);
      }
    },
  );
}

/** The part stored for a repeat: without words. */
function withoutWords({ divergence, ...report }: ReplayReportView): ReplayReportView {
  const { was, is } = divergence ?? {};
  const quiet = {
    ...(was === undefined ? {} : { was: { ...was, detail: '' } }),
    ...(is === undefined ? {} : { is: { ...is, detail: '' } }),
  };
  const kept = { ...report, standIns: [] };
  return divergence === undefined ? kept : { ...kept, divergence: { ...divergence, ...quiet } };
}

/** Maps errors of fixtures and replays to answers; others stay. */
function refusalOf(error: unknown): unknown {
  if (!(error instanceof OffhookError)) return error;
  const { code, message } = error;
  const detail = `${message.charAt(0).toUpperCase()}${message.slice(1)}.`;
  if (code === 'OFFHOOK_REPLAY_SETTINGS') return new RequestRefused(422, detail);
  if (code === 'OFFHOOK_FIXTURE_EXPIRED' || code === 'OFFHOOK_FIXTURE_INVALID') return new RequestRefused(409, detail);
  if (code === 'OFFHOOK_REPLAY_BUSY') return new RequestRefused(503, detail, { retryAfterS: 5 });
  return error;
}
