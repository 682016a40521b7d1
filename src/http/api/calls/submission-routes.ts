import { z } from 'zod';
import { UploadedFile } from './upload.ts';
import { stateOf, askForSubmission, removeSubmission } from '../../../records/submissions/lifecycle.ts';
import type { Submission, SubmissionItem, SubmissionRef } from '../../../records/submissions.ts';
import { viewOf } from '../views.ts';
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { OffhookError } from '../../../kernel/errors.ts';
import type { Store } from '../../../records/port.ts';
import { RequestRefused } from '../../problem.ts';
import { requireKnownProfile } from './analysis-routes.ts';
import { about, type ApiApp, type ApiDeps } from '../api-app.ts';

const NAME_CHARACTERS = 200;
const METADATA_FIELDS = 50;
/** Most recordings of one submission. */
const MOST_ITEMS = 1000;
/** Enough for a thousand addresses with a few words each. */
const SUBMISSION_BYTES = 4_194_304;

const profile = z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/u);
const said = {
  /** Display name; the address or the file's name when absent. */
  name: z.string().min(1).max(NAME_CHARACTERS).optional(),
  /** When it was recorded: the reference for words like "tomorrow". */
  recordedAt: z.iso.datetime({ offset: true }).optional(),
  metadata: z
    .record(z.string().min(1).max(100), z.string().max(2000))
    .refine((fields) => Object.keys(fields).length <= METADATA_FIELDS, `at most ${METADATA_FIELDS} fields`)
    .optional(),
};

const item = z.strictObject({ url: z.url({ protocol: /^https?$/u }).max(4096), ...said });
type SubmittedItem = z.output<typeof item>;

/** Form fields are text, so metadata is JSON in a form. */
const form = z.strictObject({
  file: z.instanceof(UploadedFile).meta({ type: 'string', contentMediaType: 'application/octet-stream' }),
  ...said,
  profile: profile.default('default'),
  metadata: z
    .string()
    .transform((text, context) => {
      try {
        return JSON.parse(text) as unknown;
      } catch {
        context.addIssue({ code: 'custom', message: 'not JSON' });
        return z.NEVER;
      }
    })
    .pipe(said.metadata.unwrap())
    .optional(),
});

/** One address, a list of them, or a form with a file; errors are those of the intended alternative. */
const submissionBody = z.union(
  [
    item.extend({ profile: profile.default('default') }),
    z.strictObject({ profile: profile.default('default'), items: z.array(item).min(1).max(MOST_ITEMS) }),
    form,
  ],
  {
    error(issue) {
      if (issue.code !== 'invalid_union') return undefined;
      const given = typeof issue.input === 'object' && issue.input !== null ? issue.input : {};
      const meant = 'file' in given && given.file instanceof UploadedFile ? 2 : 'items' in given ? 1 : 0;
      const issues = issue.errors[meant] ?? [];
      // The union's text already has the mark.
      return z.prettifyError({ issues }).replace(/^✖ /u, '');
    },
  },
);

const states = ['queued', 'running', 'done', 'failed', 'cancelled'] as const;

const submissionView = z.object({
  id: z.string(),
  profile: z.string(),
  state: z.enum(states),
  /** Why it failed. */
  reason: z.string().nullable(),
  createdAt: z.iso.datetime(),
  endedAt: z.iso.datetime().nullable(),
  counts: z.object({ queued: z.int(), running: z.int(), done: z.int(), failed: z.int(), cancelled: z.int() }),
});

/** One recording of a submission. */
const itemView = z.object({
  index: z.int(),
  name: z.string(),
  url: z.string().nullable(),
  metadata: z.record(z.string(), z.string()),
  state: z.enum(states),
  attempts: z.int(),
  code: z.string().nullable(),
  reason: z.string().nullable(),
  sha256: z.string().nullable(),
  bytes: z.int().nullable(),
  disposition: z.string().nullable(),
  score: z.number().nullable(),
  updatedAt: z.iso.datetime(),
});

function viewOfSubmission(submission: Submission): z.output<typeof submissionView> {
  const { counts } = submission;
  const state = stateOf(submission);
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const reason = state === 'failed' ? `${counts.failed} of ${total} recordings failed: see items` : null;
  return viewOf(submissionView, submission, { state, reason });
}

function viewOfItem(item: SubmissionItem): z.output<typeof itemView> {
  return viewOf(itemView, item, {});
}

const named = z.strictObject({ id: z.string().min(1).max(100) });
const index = z.coerce.number().int().min(0).max(9999);
/** Result documents read at once while streaming. */
const PAGE = 200;
const missing = (): RequestRefused => new RequestRefused(404, 'There is no such analysis.');

/** Submitted recordings: submit, follow, read. A tenant only sees its own. */
export function submissionRoutes(app: ApiApp, deps: ApiDeps): void {
  const parts = partsOf(deps);
  changingRoutes(app, parts);
  readingRoutes(app, parts);
}

/** What these routes share. */
function partsOf(deps: ApiDeps) {
  const { store, queue, uploads, profiles, clock } = deps;
  const wake = async (submission: Submission): Promise<void> => {
    try {
      await askForSubmission(queue, submission);
    } catch (error) {
      // The submission is stored, and the sweep will queue it again.
      if (!(error instanceof OffhookError && error.retryable)) throw error;
    }
  };
  const known = async (tenantId: string, id: string): Promise<Submission> => {
    const submission = await store.submissions.get(tenantId, id);
    if (submission === undefined) throw missing();
    return submission;
  };
  return { deps, store, uploads, profiles, clock, wake, known };
}
type Parts = ReturnType<typeof partsOf>;

/** Submit, retry, cancel, remove. */
function changingRoutes(app: ApiApp, { deps, store, uploads, profiles, clock, wake, known }: Parts): void {
  app.post(
    '/analyses',
    {
      bodyLimit: SUBMISSION_BYTES,
      ...about(
        { scope: 'analyses:write', takesUploads: 'recording' },
        'Submit recordings: one address, a list of up to 1,000, or a file as multipart/form-data',
        { body: submissionBody, response: { 202: submissionView } },
      ),
    },
    async ({ principal: { tenantId }, body, headers }, reply) => {
      const { profile } = body;
      requireKnownProfile(profiles, profile);
      const upload = 'file' in body ? body.file : undefined;
      const said = 'items' in body ? body.items : [body];
      const items = said.map((each) => recordingOf(each, upload?.name));
      // Equal recordings with an equal profile are the same analysis, unless the idempotency key differs.
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
  );
  app.post(
    '/analyses/:id/retry',
    about('analyses:write', 'Try failed recordings again: the one that is named, or all', {
      params: named,
      body: z.strictObject({ index: index.optional() }),
      response: { 202: z.object({ retried: z.int() }) },
    }),
    async ({ principal: { tenantId }, params: { id }, body }) => {
      const ref = { tenantId, submissionId: id };
      const retried = await store.submissions.retry(ref, body.index, clock.wallMs());
      if (retried === undefined) throw missing();
      if (retried === 0 && body.index !== undefined)
        throw new RequestRefused(404, 'There is no such recording, or it did not fail.');
      if (retried > 0) await wake(await known(tenantId, id));
      return { retried };
    },
  );
  app.post(
    '/analyses/:id/cancel',
    about('analyses:write', 'Begin no further recording; what is done stays', {
      params: named,
      body: z.strictObject({}),
      response: { 200: submissionView },
    }),
    async ({ principal: { tenantId }, params: { id } }) => {
      const submission = await store.submissions.cancel({ tenantId, submissionId: id }, clock.wallMs());
      if (submission === undefined) throw missing();
      return viewOfSubmission(submission);
    },
  );
  app.delete(
    '/analyses/:id',
    about('analyses:write', 'Destroy a submission with its documents and uploads', {
      params: named,
      response: { 200: z.object({ deleted: z.boolean() }) },
    }),
    async ({ principal: { tenantId }, params: { id } }) => {
      if (!(await removeSubmission(deps, { tenantId, submissionId: id }))) throw missing();
      return { deleted: true };
    },
  );
}

/** Submissions, their recordings and documents. */
function readingRoutes(app: ApiApp, { store, known }: Parts): void {
  app.get(
    '/analyses/submitted',
    about('analyses:read', 'Submitted recordings, newest first', {
      querystring: z.strictObject({
        profile: z.string().min(1).max(100).optional(),
        limit: z.coerce.number().int().min(1).max(200).default(50),
        cursor: z.string().max(500).optional(),
      }),
      response: { 200: z.object({ analyses: z.array(submissionView), next: z.string().nullable() }) },
    }),
    async ({ principal, query: { profile, limit, cursor } }) => {
      const page = await store.submissions.page(principal.tenantId, { limit, before: cursor, profile });
      return { analyses: page.submissions.map(viewOfSubmission), next: page.next ?? null };
    },
  );
  app.get(
    '/analyses/:id',
    about('analyses:read', 'How a submission stands, and each of its recordings', {
      params: named,
      querystring: z.strictObject({
        state: z.enum(['queued', 'running', 'done', 'failed', 'cancelled']).optional(),
        limit: z.coerce.number().int().min(1).max(200).default(100),
        cursor: index.optional(),
      }),
      response: { 200: submissionView.extend({ items: z.array(itemView), next: z.string().nullable() }) },
    }),
    async ({ principal: { tenantId }, params: { id }, query: { state, limit, cursor = -1 } }) => {
      const submission = await known(tenantId, id);
      const items = await store.submissions.items({ tenantId, submissionId: id }, { after: cursor, limit, state });
      const last = items.length === limit ? items.at(-1) : undefined;
      return {
        ...viewOfSubmission(submission),
        items: items.map(viewOfItem),
        next: last === undefined ? null : String(last.index),
      };
    },
  );
  app.get(
    '/analyses/:id/items/:index',
    about('analyses:read', 'The document of one recording', { params: named.extend({ index }), response: { 200: z.unknown() } }),
    async ({ principal: { tenantId }, params: { id, index } }) => {
      const document = await store.submissions.document({ tenantId, submissionId: id, index });
      if (document === undefined) throw new RequestRefused(404, 'There is no such document, or not yet.');
      return document;
    },
  );
  app.get(
    '/analyses/:id/results',
    about('analyses:read', 'All documents there are, one line of JSON each, streamed', {
      params: named,
      response: { 200: { content: { 'application/jsonl': { schema: z.unknown() } } } },
    }),
    async ({ principal: { tenantId }, params: { id }, signal }, reply) => {
      await known(tenantId, id);
      const lines = resultLines(store, { tenantId, submissionId: id }, signal);
      return reply.type('application/jsonl; charset=utf-8').send(Readable.from(lines));
    },
  );
}

/** A submission's documents in order, one line of JSON each, read while sending. */
async function* resultLines(
  { submissions }: Pick<Store, 'submissions'>,
  ref: SubmissionRef,
  signal: AbortSignal,
): AsyncIterable<string> {
  for (let after = -1; ;) {
    const page = await submissions.items(ref, { after, limit: PAGE, state: 'done' });
    for (const { index } of page) {
      signal.throwIfAborted();
      const document = await submissions.document({ ...ref, index });
      if (document !== undefined) yield `${JSON.stringify(document)}\n`;
      after = index;
    }
    if (page.length < PAGE) return;
  }
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
