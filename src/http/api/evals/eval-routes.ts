import { z } from 'zod';
import { RUN_ID, SOUND_NAME } from '../../../rehearsal/evals/eval-runs.ts';
import { savedRun, savedSummary } from '../../../rehearsal/evals/saved-run.ts';
import { RequestRefused } from '../../problem.ts';
import { about, type ApiApp, type ApiDeps } from '../api-app.ts';
import { isoTime, optionalTime } from '../views.ts';

const times = { startedAtMs: true, endedAtMs: true } as const;
const shownTimes = { startedAt: z.iso.datetime(), endedAt: z.iso.datetime().nullable() };

/** A run of `offhook eval`: its suites and their verdicts. */
export const evalSummaryView = savedSummary.omit(times).extend(shownTimes);
export type EvalSummaryView = z.output<typeof evalSummaryView>;
export const evalListView = z.object({ runs: z.array(evalSummaryView) });
export type EvalListView = z.output<typeof evalListView>;
/** The same with its scenarios, and the transcripts of failed calls. */
export const evalRunView = savedRun.omit(times).extend(shownTimes);
export type EvalRunView = z.output<typeof evalRunView>;

const named = z.strictObject({ id: z.string().regex(RUN_ID) });
const audio = { content: { 'audio/wav': { schema: z.unknown() } } };
const NO_RUN = 'There is no such run of evals.';

/** Runs of `offhook eval` that are kept in the data folder. A tenant sees the suites of its own bots. */
export function evalRoutes(app: ApiApp, { evals }: ApiDeps): void {
  if (evals === undefined) return;
  const found = async (tenantId: string, id: string): Promise<EvalRunView> => {
    const run = await evals.read(id);
    const own = run && ownPart(run, tenantId);
    if (own === undefined || own.suites.length === 0) throw new RequestRefused(404, NO_RUN);
    return { ...timed(own), scenarios: own.scenarios.filter(({ tenant }) => tenant === tenantId) };
  };
  app.get(
    '/evals/runs',
    about('bots:read', 'Runs of evals, newest first: the suites of each, and what changed since the run before', {
      response: { 200: evalListView },
    }),
    async ({ principal: { tenantId } }): Promise<EvalListView> => {
      const runs = (await evals.list()).map((run) => ownPart(run, tenantId)).filter(({ suites }) => suites.length > 0);
      return { runs: runs.map(timed) };
    },
  );
  app.get(
    '/evals/runs/:id',
    about('bots:read', 'A run of evals: each scenario with its verdict, and failed calls with their transcripts', {
      params: named,
      response: { 200: evalRunView },
    }),
    ({ principal: { tenantId }, params: { id } }) => found(tenantId, id),
  );
  app.get(
    '/evals/runs/:id/sounds/:name',
    about(
      'bots:read',
      'The sound of a failed call of a simulated caller: a WAV file with the caller on the left, and the bot on the right',
      {
        params: named.extend({ name: z.string().regex(SOUND_NAME) }),
        response: { 200: audio },
      },
    ),
    async ({ principal: { tenantId }, params: { id, name } }, reply) => {
      const { scenarios } = await found(tenantId, id);
      const isOwn = scenarios.some(({ calls }) => calls.some(({ sound }) => sound === name));
      const sound = isOwn ? await evals.sound(id, name) : undefined;
      if (sound === undefined) throw new RequestRefused(404, 'The call has no sound.');
      reply.type('audio/wav').header('cache-control', 'private, no-store');
      return await reply.send(sound);
    },
  );
}

function ownPart<Run extends { readonly suites: readonly { readonly tenant: string }[] }>(run: Run, tenantId: string): Run {
  return { ...run, suites: run.suites.filter(({ tenant }) => tenant === tenantId) };
}

function timed<Run extends { readonly startedAtMs: number; readonly endedAtMs?: number | undefined }>({
  startedAtMs,
  endedAtMs,
  ...run
}: Run): Omit<Run, keyof typeof times> & { readonly startedAt: string; readonly endedAt: string | null } {
  return { ...run, startedAt: isoTime(startedAtMs), endedAt: optionalTime(endedAtMs) };
}
