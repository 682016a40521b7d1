import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { z } from 'zod';
import { OffhookError } from '../../kernel/errors.ts';
import { askForSubmission } from '../../jobs/submissions/job.ts';
import { removeSubmission } from '../../jobs/submissions/remove-uploads.ts';
import type { Submission } from '../../store/submissions.ts';
import { RequestRefused } from '../problem.ts';
import type { ApiDeps } from './api-deps.ts';
import { type ApiRoute, apiRoute } from './api-route.ts';
import { requireKnownProfile } from './known-profile.ts';
import { resultLines } from './submission-results.ts';
import { type SubmittedItem, SUBMISSION_BYTES, submissionBody, submissionForm } from './submission-body.ts';
import { itemView, submissionView, viewOfItem, viewOfSubmission } from './submission-views.ts';

const named = z.strictObject({ id: z.string().min(1).max(100) });
const nothing = z.strictObject({});
const index = z.coerce.number().int().min(0).max(9999);
const missing = (): RequestRefused => new RequestRefused(404, 'There is no such analysis.');

/** Recordings from elsewhere: submitted, looked after, read. A tenant sees its own alone. */
export function submissionRoutes(deps: ApiDeps): ApiRoute[] {
  const { store, queue, uploads, profiles, clock } = deps;
  const wake = async (submission: Submission): Promise<void> => {
    try {
      await askForSubmission(queue, submission);
    } catch (error) {
      // The store has it: the sweep asks again.
      if (!(error instanceof OffhookError && error.retryable)) throw error;
    }
  };
  const known = async (tenantId: string, id: string): Promise<Submission> => {
    const submission = await store.submissions.get(tenantId, id);
    if (submission === undefined) throw missing();
    return submission;
  };
  return [
    apiRoute({
      method: 'POST',
      path: '/analyses',
      scope: 'analyses:write',
      summary: 'Submit recordings: one address, a list of up to 1,000, or a file as multipart/form-data',
      params: nothing,
      query: nothing,
      body: submissionBody,
      bodyBytes: SUBMISSION_BYTES,
      form: submissionForm,
      response: submissionView,
      status: 202,
      async serve({ key: { tenantId }, body, upload, headers }, reply) {
        const { profile } = body;
        requireKnownProfile(profiles, profile);
        const said = 'items' in body ? body.items : [body];
        const items = said.map((each) => recordingOf(each, upload?.name));
        // The same recordings with the same profile are the same analysis, unless an idempotency key says that it is another.
        const id = idOf([tenantId, profile, items, upload?.sha256, headers['idempotency-key']]);
        let submission = await store.submissions.get(tenantId, id);
        if (submission === undefined) {
          const uploadObject = upload === undefined ? undefined : await uploads.keep({ tenantId, submissionId: id }, upload.path);
          const recordings = items.map((item) => ({ ...item, uploadObject }));
          const createdAtMs = clock.wallMs();
          submission = await store.submissions.create({ tenantId, id, profile, createdAtMs, items: recordings });
          await wake(submission);
        }
        reply.header('location', `/api/analyses/${id}`);
        return viewOfSubmission(submission);
      },
    }),
    apiRoute({
      path: '/analyses/submitted',
      scope: 'analyses:read',
      summary: 'Submitted recordings, newest first',
      params: nothing,
      query: z.strictObject({
        profile: z.string().min(1).max(100).optional(),
        limit: z.coerce.number().int().min(1).max(200).default(50),
        cursor: z.string().max(500).optional(),
      }),
      response: z.object({ analyses: z.array(submissionView), next: z.string().nullable() }),
      async serve({ key, query: { profile, limit, cursor } }) {
        const page = await store.submissions.page(key.tenantId, { limit, before: cursor, profile });
        return { analyses: page.submissions.map(viewOfSubmission), next: page.next ?? null };
      },
    }),
    apiRoute({
      path: '/analyses/:id',
      scope: 'analyses:read',
      summary: 'How a submission stands, and each of its recordings',
      params: named,
      query: z.strictObject({
        state: z.enum(['queued', 'running', 'done', 'failed', 'cancelled']).optional(),
        limit: z.coerce.number().int().min(1).max(200).default(100),
        cursor: index.optional(),
      }),
      response: submissionView.extend({ items: z.array(itemView), next: z.string().nullable() }),
      async serve({ key: { tenantId }, params: { id }, query: { state, limit, cursor = -1 } }) {
        const submission = await known(tenantId, id);
        const items = await store.submissions.items({ tenantId, submissionId: id }, { after: cursor, limit, state });
        const last = items.length === limit ? items.at(-1) : undefined;
        return {
          ...viewOfSubmission(submission),
          items: items.map(viewOfItem),
          next: last === undefined ? null : String(last.index),
        };
      },
    }),
    apiRoute({
      path: '/analyses/:id/items/:index',
      scope: 'analyses:read',
      summary: 'The document of one recording',
      params: named.extend({ index }),
      query: nothing,
      response: z.unknown(),
      async serve({ key: { tenantId }, params: { id, index } }) {
        const document = await store.submissions.document({ tenantId, submissionId: id, index });
        if (document === undefined) throw new RequestRefused(404, 'There is no such document, or not yet.');
        return document;
      },
    }),
    apiRoute({
      path: '/analyses/:id/results',
      scope: 'analyses:read',
      summary: 'All documents there are, one line of JSON each, streamed',
      params: named,
      query: nothing,
      contentType: 'application/jsonl',
      async serve({ key: { tenantId }, params: { id }, signal }, reply) {
        await known(tenantId, id);
        const lines = resultLines(store, { tenantId, submissionId: id }, signal);
        return reply.type('application/jsonl; charset=utf-8').send(Readable.from(lines));
      },
    }),
    apiRoute({
      method: 'POST',
      path: '/analyses/:id/retry',
      scope: 'analyses:write',
      summary: 'Try failed recordings again: the one that is named, or all',
      params: named,
      query: nothing,
      body: z.strictObject({ index: index.optional() }),
      response: z.object({ retried: z.int() }),
      status: 202,
      async serve({ key: { tenantId }, params: { id }, body }) {
        const ref = { tenantId, submissionId: id };
        const retried = await store.submissions.retry(ref, body.index, clock.wallMs());
        if (retried === undefined) throw missing();
        if (retried === 0 && body.index !== undefined)
          throw new RequestRefused(404, 'There is no such recording, or it did not fail.');
        if (retried > 0) await wake(await known(tenantId, id));
        return { retried };
      },
    }),
    apiRoute({
      method: 'POST',
      path: '/analyses/:id/cancel',
      scope: 'analyses:write',
      summary: 'Begin no further recording; what is done stays',
      params: named,
      query: nothing,
      body: nothing,
      response: submissionView,
      async serve({ key: { tenantId }, params: { id } }) {
        const submission = await store.submissions.cancel({ tenantId, submissionId: id }, clock.wallMs());
        if (submission === undefined) throw missing();
        return viewOfSubmission(submission);
      },
    }),
    apiRoute({
      method: 'DELETE',
      path: '/analyses/:id',
      scope: 'analyses:write',
      summary: 'Destroy a submission with its documents and uploads',
      params: named,
      query: nothing,
      response: z.object({ deleted: z.boolean() }),
      async serve({ key: { tenantId }, params: { id } }) {
        if (!(await removeSubmission(deps, { tenantId, submissionId: id }))) throw missing();
        return { deleted: true };
      },
    }),
  ];
}

type Said = Partial<Pick<SubmittedItem, 'url'>> & Omit<SubmittedItem, 'url'>;

function recordingOf({ url, name, recordedAt, metadata = {} }: Said, fileName: string | undefined) {
  return {
    name: name ?? fileName ?? url ?? 'recording',
    url,
    recordedAtMs: recordedAt === undefined ? undefined : Date.parse(recordedAt),
    metadata,
  };
}

function idOf(subject: readonly unknown[]): string {
  return `ana_${createHash('sha256').update(JSON.stringify(subject)).digest('hex').slice(0, 32)}`;
}
