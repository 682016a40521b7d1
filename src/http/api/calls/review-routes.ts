import { z } from 'zod';
import { newId } from '../../../kernel/ids.ts';
import { finding, REASONS } from '../../../records/attention.ts';
import { isStorable } from '../../../records/record.ts';
import type { Comment, ListedReview, Review, ReviewQuery } from '../../../records/reviews.ts';
import { RequestRefused } from '../../problem.ts';
import { about, type ApiApp, type ApiDeps, noting } from '../api-app.ts';
import type { Principal } from '../system/api-keys.ts';
import { isoTime, numbersFor, textsFor, viewOf } from '../views.ts';
import { callCountView } from './call-views.ts';

const MOST_COUNTED = 1_000;
const MOST_LABELS = 10;

const callId = z.strictObject({ callId: z.string().min(1).max(200) });
const label = z.string().trim().min(1).max(40).refine(isStorable);
const person = z.string().trim().min(1).max(200).refine(isStorable);
const state = z.enum(['open', 'done']);

const filters = z.strictObject({
  state: state.optional(),
  reason: z.enum(REASONS).optional(),
  bot: z.string().min(1).max(100).optional(),
  assignee: person.optional(),
  label: label.optional(),
  /** Start of the call, from (included) and to (excluded). */
  from: z.iso.datetime({ offset: true }).optional(),
  to: z.iso.datetime({ offset: true }).optional(),
});

const reviewView = z.object({
  callId: z.string(),
  bot: z.string(),
  /** Start of the call. */
  startedAt: z.iso.datetime(),
  /** Why the call deserves a look, most urgent first, each with the place to listen at: ms since the call's start. */
  findings: z.array(finding),
  state,
  labels: z.array(z.string()),
  assignee: z.string().nullable(),
  changedBy: z.string().nullable(),
  changedAt: z.iso.datetime().nullable(),
  comments: z.int(),
});
const listedView = reviewView.extend({
  /** Masked without `numbers:read`; empty once erased. */
  from: z.string(),
  to: z.string(),
  direction: z.enum(['inbound', 'outbound']),
  durationMs: z.int().nullable(),
  endReason: z.string().nullable(),
});
export const reviewPageView = z.object({ reviews: z.array(listedView), next: z.string().nullable() });
export const commentView = z.object({ id: z.string(), by: z.string(), at: z.iso.datetime(), text: z.string() });
/** A call's review, null where nothing was found or noted, and its comments. */
export const callReviewView = z.object({ review: reviewView.nullable(), comments: z.array(commentView) });

/** Calls that deserve a look: the list, what people decide about a call, and comments. */
export function reviewRoutes(app: ApiApp, { store, clock, audit }: ApiDeps): void {
  const { reviews } = store;
  const note = noting(audit);
  const ofCall = async (principal: Principal, id: string): Promise<z.output<typeof callReviewView>> => {
    const { tenantId } = principal;
    const [review, comments] = [await reviews.get(tenantId, id), await reviews.comments(tenantId, id)];
    return {
      review: review === undefined ? null : viewOfReview(review),
      comments: comments.map((comment) => viewOfComment(comment, principal)),
    };
  };
  app.get(
    '/reviews',
    about('calls:read', 'Calls that deserve a look, or that people noted something about, newest first', {
      querystring: filters.extend({
        limit: z.coerce.number().int().min(1).max(200).default(50),
        cursor: z.string().max(500).optional(),
      }),
      response: { 200: reviewPageView },
    }),
    async ({ principal, query: { limit, cursor, ...asked } }) => {
      const page = await reviews.page(principal.tenantId, { ...queryOf(asked), limit, before: cursor });
      return { reviews: page.reviews.map((review) => viewOfListed(review, principal)), next: page.next ?? null };
    },
  );
  app.get(
    '/reviews/count',
    about('calls:read', 'How many of them there are', { querystring: filters, response: { 200: callCountView } }),
    async ({ principal, query }) => {
      const count = await reviews.count(principal.tenantId, queryOf(query), MOST_COUNTED);
      return { count, more: count === MOST_COUNTED };
    },
  );
  app.get(
    '/calls/:callId/review',
    about('calls:read', 'Why a call deserves a look, what was decided about it, and its comments', {
      params: callId,
      response: { 200: callReviewView },
    }),
    async ({ principal, params }) => {
      await requireCall(store, principal, params.callId);
      return ofCall(principal, params.callId);
    },
  );
  app.post(
    '/calls/:callId/review',
    about(
      { scope: 'calls:review', servesAgain: true, stored: () => ({ review: null, comments: [] }) },
      'Label, assign or close a call, or open it again; absent fields stay',
      {
        params: callId,
        body: z.strictObject({
          state: state.optional(),
          labels: z.array(label).max(MOST_LABELS).optional(),
          assignee: person.nullable().optional(),
        }),
        response: { 200: callReviewView },
      },
    ),
    async ({ principal, params: { callId: id }, body }) => {
      const change = body.labels === undefined ? body : { ...body, labels: [...new Set(body.labels)] };
      const isKnown = await reviews.change(principal.tenantId, id, change, nameOf(principal), clock.wallMs());
      if (!isKnown) throw new RequestRefused(404, 'There is no such call.');
      await note(principal, 'call.review', id);
      return ofCall(principal, id);
    },
  );
  app.post(
    '/calls/:callId/comments',
    about({ scope: 'calls:review', stored: (answer) => ({ ...commentView.parse(answer), text: '' }) }, 'Comment a call', {
      params: callId,
      body: z.strictObject({ text: z.string().trim().min(1).max(4_000) }),
      response: { 201: commentView },
    }),
    async ({ principal, params: { callId: id }, body }, reply) => {
      await requireCall(store, principal, id);
      const comment = { id: newId('cmt'), by: nameOf(principal), atMs: clock.wallMs(), text: body.text };
      const isKept = await reviews.comment(principal.tenantId, id, comment);
      if (!isKept) throw new RequestRefused(409, 'The call was erased, or has 200 comments already.');
      await note(principal, 'call.comment', id);
      return reply.code(201).send(viewOfComment(comment, principal));
    },
  );
  app.delete(
    '/calls/:callId/comments/:commentId',
    about('calls:review', 'Remove a comment: one’s own; anybody’s with privacy:write', {
      params: callId.extend({ commentId: z.string().min(1).max(100) }),
      response: { 200: z.object({ removed: z.boolean() }) },
    }),
    async ({ principal, params: { callId: id, commentId } }) => {
      const by = principal.scopes.includes('privacy:write') ? undefined : nameOf(principal);
      const isRemoved = await reviews.removeComment(principal.tenantId, id, commentId, by);
      if (!isRemoved) throw new RequestRefused(404, 'There is no such comment that this key may remove.');
      await note(principal, 'call.comment-remove', id);
      return { removed: true };
    },
  );
}

async function requireCall({ calls }: ApiDeps['store'], { tenantId }: Principal, id: string): Promise<void> {
  if ((await calls.get(tenantId, id)) === undefined) throw new RequestRefused(404, 'There is no such call.');
}

/** The name of a session's person, or of a key. */
function nameOf({ name, id }: Principal): string {
  return name ?? id;
}

function queryOf({ bot, from, to, ...rest }: z.output<typeof filters>): ReviewQuery {
  return {
    ...rest,
    botName: bot,
    fromMs: from === undefined ? undefined : Date.parse(from),
    toMs: to === undefined ? undefined : Date.parse(to),
  };
}

function viewOfReview(review: Review): z.output<typeof reviewView> {
  return viewOf(reviewView, review, { bot: review.botName, findings: [...review.findings], labels: [...review.labels] });
}

function viewOfListed(review: ListedReview, key: Principal): z.output<typeof listedView> {
  const shown = numbersFor(key);
  const { from, to, direction, durationMs = null, endReason = null } = review;
  return { ...viewOfReview(review), from: shown(from), to: shown(to), direction, durationMs, endReason };
}

/** People quote numbers too. */
function viewOfComment({ id, by, atMs, text }: Comment, key: Principal): z.output<typeof commentView> {
  return { id, by, at: isoTime(atMs), text: textsFor([], key)(text) };
}
