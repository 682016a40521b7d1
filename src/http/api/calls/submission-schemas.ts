import { z } from 'zod';
import { UploadedFile } from './upload.ts';
import { stateOf } from '../../../records/submissions/job.ts';
import type { Submission, SubmissionItem } from '../../../records/submissions.ts';
import { isoTime } from './call-views.ts';

const NAME_CHARACTERS = 200;
const METADATA_FIELDS = 50;
/** Most recordings of one submission. */
const MOST_ITEMS = 1000;
/** Enough for a thousand addresses with a few words each. */
export const SUBMISSION_BYTES = 4_194_304;

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
export type SubmittedItem = z.output<typeof item>;

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
export const submissionBody = z.union(
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

/** A submission. */
export const submissionView = z.object({
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
export const itemView = z.object({
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

export function viewOfSubmission(submission: Submission): z.output<typeof submissionView> {
  const { id, profile, createdAtMs, endedAtMs, counts } = submission;
  const state = stateOf(submission);
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return {
    id,
    profile,
    state,
    counts,
    reason: state === 'failed' ? `${counts.failed} of ${total} recordings failed: see items` : null,
    createdAt: isoTime(createdAtMs),
    endedAt: endedAtMs === undefined ? null : isoTime(endedAtMs),
  };
}

export function viewOfItem(item: SubmissionItem): z.output<typeof itemView> {
  const { index, name, url, metadata, state, attempts, code, reason, sha256, bytes, disposition, score, updatedAtMs } = item;
  return {
    index,
    name,
    metadata,
    state,
    attempts,
    url: url ?? null,
    code: code ?? null,
    reason: reason ?? null,
    sha256: sha256 ?? null,
    bytes: bytes ?? null,
    disposition: disposition ?? null,
    score: score ?? null,
    updatedAt: isoTime(updatedAtMs),
  };
}
