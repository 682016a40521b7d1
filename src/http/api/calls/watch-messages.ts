import { z } from 'zod';
import { type CallNews, NEWS } from '../../../call/log/call-news.ts';
import { CALL_ID } from '../../../kernel/ids.ts';
import { withoutLongNumbers } from '../../../language/index.ts';
import type { Principal } from '../system/api-keys.ts';
import { liveCallView, maskedEntries, textsFor } from './call-views.ts';

/*
 * What `GET /api/watch`, a WebSocket of text messages in JSON, takes and tells; and the texts of
 * `GET /api/live-calls/:callId/audio`, whose binary messages are sound.
 */

const callId = z.string().regex(CALL_ID);

/** What a client that watches may send. */
export const watchRequest = z.discriminatedUnion('type', [
  /** The list of live calls from now on. */
  z.strictObject({ type: z.literal('calls') }),
  /** News of one call from now on, after what happened in it so far. */
  z.strictObject({ type: z.literal('follow'), callId }),
  z.strictObject({ type: z.literal('unfollow'), callId }),
]);
export type WatchRequest = z.output<typeof watchRequest>;

/** Null without the scope `calls:listen`. */
const text = z.string().nullable();
const id = { callId: true } as const;

/**
 * News as a watcher sees it. Without the scope `calls:listen` texts and slots are null, and there are no partials; without `numbers:read`
 * numbers in slots are masked.
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
 * Why a request of a watcher was refused: `no-such-call` also where the call has ended, and later of a followed call that is gone without an end (its process died, or nobody answered); `too-many` calls are followed on this socket
 * already; `not-understood` is no request.
 */
export const WATCH_REFUSALS = ['no-such-call', 'too-many', 'not-understood'] as const;

/** What a watcher is told. */
export const watchMessage = z.discriminatedUnion('type', [
  /**
   * Live calls: all of them where `whole` (the first message, and the first after a slow client has caught up), else those that changed
   * since the last message, at most twice a second. `over`: those that have ended since.
   */
  z.object({ type: z.literal('calls'), whole: z.boolean(), calls: z.array(liveCallView), over: z.array(z.string()) }),
  /** In the order in which it happened. `past`: it had happened before the call was followed. */
  z.object({
    type: z.literal('news'),
    callId: z.string(),
    at: z.iso.datetime(),
    past: z.literal(true).optional(),
    news: newsView,
  }),
  /** So much news of this call was not told because it came faster than it could be sent. */
  z.object({ type: z.literal('missed'), callId: z.string(), count: z.int() }),
  z.object({ type: z.literal('refused'), callId: z.string().nullable(), why: z.enum(WATCH_REFUSALS) }),
]);
export type WatchMessage = z.output<typeof watchMessage>;

/** What a client that listens to a call may send, with the scope `calls:control`; its binary messages are its voice while it has the call: one channel of signed 16-bit samples at 16 kHz, little-endian. */
export const audioRequest = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('take-over') }),
  z.strictObject({ type: z.literal('give-back') }),
]);
export type AudioRequest = z.output<typeof audioRequest>;

/** What a client that listens to a call is told, beside binary messages of sound: caller left, bot right, samples of 16 bits, little-endian. */
export const audioMessage = z.discriminatedUnion('type', [
  /** Before the first sound, and again where the rate changes. */
  z.object({ type: z.literal('format'), rateHz: z.int() }),
  /** Who has taken the call over by voice: this client, another one (`by`), or nobody. */
  z.object({ type: z.literal('standing'), takenOver: z.enum(['you', 'other']).nullable(), by: z.string().nullable() }),
  /** What was asked for is not done; the call and the listening go on. */
  z.object({ type: z.literal('refused'), why: z.string() }),
  /** The call has ended; the socket closes. */
  z.object({ type: z.literal('over') }),
]);
export type AudioMessage = z.output<typeof audioMessage>;

/**
 * News as this principal may see it.
 * @param call whose numbers are masked in what it knows
 * @returns undefined for what they may not see at all
 */
export function newsFor(
  news: CallNews,
  call: { readonly from: string; readonly to: string },
  key: Principal,
): NewsView | undefined {
  const { callId: _callId, ...seen } = news;
  const listens = key.scopes.includes('calls:listen');
  if (seen.type === 'state') {
    const slots = listens ? maskedEntries(seen.slots, textsFor(call, key)) : null;
    return { ...seen, slots };
  }
  // Masked here and not in the call: each word of each caller brings a partial, and few calls are followed.
  if (seen.type === 'partial') return listens ? { ...seen, text: withoutLongNumbers(seen.text) } : undefined;
  if (listens) return seen;
  if (seen.type === 'turn') return { ...seen, callerText: null };
  if (seen.type === 'saying') return { ...seen, text: null };
  if (seen.type === 'heard') return { ...seen, text: null, heard: null };
  return seen.type === 'digit' ? { ...seen, digit: null } : seen;
}
