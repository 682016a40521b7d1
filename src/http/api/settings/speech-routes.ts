import { z } from 'zod';
import { RequestRefused } from '../../problem.ts';
import { about, type ApiApp, type ApiDeps, noting } from '../api-app.ts';
import { isoTime, optionalTime } from '../views.ts';
import { type ModelJob, ModelJobs } from './model-job.ts';
import { refuseTenant } from './setting-routes.ts';
import { type ModelJobView, modelJobView, speechTrialView, speechView } from './settings-views.ts';

const modelParams = z.strictObject({ name: z.string().min(1).max(100) });
const answer = { response: { 200: modelJobView } };
/** A trial that takes longer has failed. */
const TRIAL_WITHIN_MS = 60_000;

/** Speech vendors, models that are fetched from here, and a sentence to try: served to the operator alone (the tenant `default`). */
export function speechRoutes(app: ApiApp, { settings, audit, clock }: ApiDeps): void {
  if (settings === undefined) return;
  const { models, trySpeech } = settings;
  const noted = noting(audit);
  app.get(
    '/speech',
    about('settings:read', 'Speech vendors and models, with what is known of their cost and errors', {
      response: { 200: speechView },
    }),
    async ({ principal }) => {
      refuseTenant(principal);
      return {
        ...settings.speech,
        canTry: trySpeech !== undefined,
        canGet: models?.get !== undefined,
        vendors: settings.vendors().map((vendor) => ({
          ...vendor,
          services: [...vendor.services],
          prices: vendor.prices.map(({ service, model, price, asOf }) => ({ service, model, price, asOf })),
        })),
        models: ((await models?.list()) ?? []).map((model) => ({
          ...model,
          languages: [...model.languages],
          usedFor: [...model.usedFor],
          bytes: model.bytes ?? null,
          note: model.note ?? null,
          wordErrors: model.wordErrors ?? null,
          measured: model.measured ?? null,
        })),
      };
    },
  );
  if (models?.get !== undefined) modelJobRoutes(app, new ModelJobs(models.get, clock), models.list, noted);
  if (trySpeech === undefined) return;
  app.post(
    '/speech/try',
    {
      config: { scope: 'settings:write', servesAgain: true },
      schema: {
        summary: 'Speak a sentence with the speech in use, and recognise it again',
        body: z.strictObject({
          text: z.string().trim().min(1).max(200),
          language: z.string().regex(/^[a-z]{2,3}$/u, 'an ISO 639 code such as en'),
        }),
        response: { 200: speechTrialView },
      },
    },
    async ({ principal, body }) => {
      refuseTenant(principal);
      const limit = new AbortController();
      const timer = clock.after(TRIAL_WITHIN_MS, () => limit.abort(new Error('the trial took too long')));
      try {
        const trial = await trySpeech(body, limit.signal);
        if (trial === undefined) throw new RequestRefused(409, 'Calls use every recognition slot: try again when one has ended.');
        await noted(principal, 'speech.try', body.language);
        const { wav, ...facts } = trial;
        return { ...facts, finalMs: facts.finalMs ?? null, wav: Buffer.from(wav).toString('base64') };
      } catch (error) {
        if (error instanceof RequestRefused) throw error;
        throw new RequestRefused(502, `Speech failed: ${error instanceof Error ? error.message : String(error)}`, {
          cause: error,
        });
      } finally {
        timer.cancel();
      }
    },
  );
}

/** A model is fetched by one request, and looked at and cancelled by others. */
function modelJobRoutes(
  app: ApiApp,
  jobs: ModelJobs,
  list: () => Promise<readonly { readonly name: string }[]>,
  noted: ReturnType<typeof noting>,
): void {
  app.addHook('onClose', async () => void jobs.cancel());
  app.get(
    '/speech/models/job',
    about('settings:read', 'The model that is being fetched, or the last one', answer),
    async ({ principal }) => {
      refuseTenant(principal);
      return viewOf(jobs.job);
    },
  );
  app.post(
    '/speech/models/:name/get',
    about({ scope: 'settings:write', servesAgain: true }, 'Fetch a speech model, and use it from the next start on', {
      params: modelParams,
      body: z.strictObject({}).nullish(),
      ...answer,
    }),
    async ({ principal, params: { name } }) => {
      refuseTenant(principal);
      if (!(await list()).some((model) => model.name === name)) throw new RequestRefused(404, 'There is no such model.');
      if (jobs.begin(name) === undefined)
        throw new RequestRefused(409, `${jobs.job?.model} is being fetched: wait for it, or cancel it.`);
      await noted(principal, 'model.get', name);
      return viewOf(jobs.job);
    },
  );
  app.delete(
    '/speech/models/job',
    about('settings:write', 'Cancel the fetching of a model; what has come is kept for the next time', answer),
    async ({ principal }) => {
      refuseTenant(principal);
      const { model = '' } = jobs.job ?? {};
      if (!jobs.cancel()) throw new RequestRefused(409, 'No model is being fetched.');
      await noted(principal, 'model.cancel', model);
      return viewOf(jobs.job);
    },
  );
}

function viewOf(job: ModelJob | undefined): ModelJobView {
  if (job === undefined) return { job: null };
  const { startedMs, endedMs, problem = null, all = null, ...facts } = job;
  return { job: { ...facts, all, problem, startedAt: isoTime(startedMs), endedAt: optionalTime(endedMs) } };
}
