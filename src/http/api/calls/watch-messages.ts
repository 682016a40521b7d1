import { z } from 'zod';
import { type CallNews, NEWS } from '../../../call/log/call-news.ts';
import { CALL_ID } from '../../../kernel/ids.ts';
import { withoutLongNumbers } from '../../../language/index.ts';
import type { Principal } from '../system/api-keys.ts';
import { liveCallView } from './call-views.ts';
import { maskedEntries, textsFor } from '../views.ts';

/*
 * Messages of `GET /api/watch`, a WebSocket with JSON texts, and the texts of `GET /api/live-calls/:callId/audio`, whose binary messages are audio.
 */

const callId = z.string().regex(CALL_ID);

/** Requests of a watching client. */
export const watchRequest = z.discriminatedUnion('type', [
  /** Starts updates of the list of live calls. */
  z.strictObject({ type: z.literal('calls') }),
  /** Starts news of one call, after its earlier ones. */
  z.strictObject({ type: z.literal('follow'), callId }),
  z.strictObject({ type: z.literal('unfollow'), callId }),
]);
export type WatchRequest = z.output<typeof watchRequest>;

/** Null without the scope `calls:listen`. */
const text = z.string().nullable();
const id = { callId: true } as const;

/**
 * News as a watcher sees it. Without the scope `calls:listen` texts and slots are null, and there are no partials; without `numbers:read` numbers in
 * slots are masked.
 */
export const newsView = z.discriminatedUnion('type', [
  NEWS.started.omit(id),
  NEWS.partial.omit(id),
  NEWS.turn.omit(id).extend({ callerText: text }),
  NEWS.reply.omit(id),
  NEWS.saying.omit(id).extend({ text }),
  NEWS.heard.omit(id).extend({ text, heard: text }),
  NEWS.floor.omit(id),
  NEWS['answered-by'].omit(id),
  NEWS.digit.omit(id).extend({ digit: text }),
  NEWS.state.omit(id).extend({ slots: NEWS.state.shape.slots.nullable() }),
  NEWS.ordered.omit(id),
  NEWS.ended.omit(id),
]);
export type NewsView = z.output<typeof newsView>;

/**
 * Why a watcher's request was refused. `no-such-call`: unknown or ended; also sent later for a followed call that vanished without an end (its
 * process died, or it was never answered). `too-many`: followed calls on this socket. `not-understood`: an invalid request.
 */
export const WATCH_REFUSALS = ['no-such-call', 'too-many', 'not-understood'] as const;

export const watchMessage = z.discriminatedUnion('type', [
  /**
   * Live calls: all of them with `whole` (the first message, and the first after a slow client has caught up), else those changed since the last
   * message, at most twice a second. `over`: calls ended since.
   */
  z.object({ type: z.literal('calls'), whole: z.boolean(), calls: z.array(liveCallView), over: z.array(z.string()) }),
  /** In order of occurrence. `past`: from before the call was followed. */
  z.object({
    type: z.literal('news'),
    callId: z.string(),
    at: z.iso.datetime(),
    past: z.literal(true).optional(),
    news: newsView,
  }),
  /** Number of news of this call that were dropped because the client was slow. */
  z.object({ type: z.literal('missed'), callId: z.string(), count: z.int() }),
  z.object({ type: z.literal('refused'), callId: z.string().nullable(), why: z.enum(WATCH_REFUSALS) }),
]);
export type WatchMessage = z.output<typeof watchMessage>;

/**
 * Requests of a listening client, with the scope `calls:control`; its binary messages are its voice during a take-over: mono signed 16-bit samples at
 * 16 kHz, little-endian.
 */
export const audioRequest = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('take-over') }),
  z.strictObject({ type: z.literal('give-back') }),
]);
export type AudioRequest = z.output<typeof audioRequest>;

/** Messages to a listening client, beside binary audio: caller left, bot right, 16-bit samples, little-endian. */
export const audioMessage = z.discriminatedUnion('type', [
  /** Before the first audio, and when the rate changes. */
  z.object({ type: z.literal('format'), rateHz: z.int() }),
  /** The operator who has taken the call over: this client, another one (`by`), or none (null). */
  z.object({ type: z.literal('standing'), takenOver: z.enum(['you', 'other']).nullable(), by: z.string().nullable() }),
  /** The request was refused; call and listening go on. */
  z.object({ type: z.literal('refused'), why: z.string() }),
  /** The call has ended; the socket closes. */
  z.object({ type: z.literal('over') }),
]);
export type AudioMessage = z.output<typeof audioMessage>;

/**
 * News as this principal may see it.
 * @param call its numbers are masked in the news
 * @returns undefined for news they may not see
 */
export function newsFor(
  news: CallNews,
  call: { readonly from: string; readonly to: string },
  key: Principal,
): NewsView | undefined {
  const { callId: _callId, ...seen } = news;
  const listens = key.scopes.includes('calls:listen');
  if (seen.type === 'state') {
    const slots = listens ? maskedEntries(seen.slots, textsFor([call.from, call.to], key)) : null;
    return { ...seen, slots };
  }
  // Masked here and not in the call: every word brings a partial, and few calls are followed.
  if (seen.type === 'partial') return listens ? { ...seen, text: withoutLongNumbers(seen.text) } : undefined;
  if (listens) return seen;
  if (seen.type === 'turn') return { ...seen, callerText: null };
  if (seen.type === 'saying') return { ...seen, text: null };
  if (seen.type === 'heard') return { ...seen, text: null, heard: null };
  return seen.type === 'digit' ? { ...seen, digit: null } : seen;
}
