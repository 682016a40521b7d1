import { z } from 'zod';

const NAME_CHARACTERS = 200;
const METADATA_FIELDS = 50;
/** Recordings of one submission. */
const MOST_ITEMS = 1000;
/** Enough for a thousand addresses with a few words each. */
export const SUBMISSION_BYTES = 4_194_304;

const profile = z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/u);
const said = {
  /** As it will be called; the address or the file's name when absent. */
  name: z.string().min(1).max(NAME_CHARACTERS).optional(),
  /** When it was recorded: what "tomorrow" means. */
  recordedAt: z.iso.datetime({ offset: true }).optional(),
  metadata: z
    .record(z.string().min(1).max(100), z.string().max(2000))
    .refine((fields) => Object.keys(fields).length <= METADATA_FIELDS, `at most ${METADATA_FIELDS} fields`)
    .optional(),
};

const item = z.strictObject({ url: z.url({ protocol: /^https?$/u }).max(4096), ...said });
export type SubmittedItem = z.output<typeof item>;

/** One address, or a list of them: what is wrong is told of the one that is meant. */
export const submissionBody = z.union(
  [
    item.extend({ profile: profile.default('default') }),
    z.strictObject({ profile: profile.default('default'), items: z.array(item).min(1).max(MOST_ITEMS) }),
  ],
  {
    error(issue) {
      if (issue.code !== 'invalid_union') return undefined;
      const isList = typeof issue.input === 'object' && issue.input !== null && 'items' in issue.input;
      const issues = issue.errors[isList ? 1 : 0] ?? [];
      // Its sign stands before the text of the union already.
      return z.prettifyError({ issues }).replace(/^✖ /u, '');
    },
  },
);

/** The fields beside an uploaded `file`: all of them are text, so metadata is JSON in one. */
export const submissionForm = z.strictObject({
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
