import type { CallRegistry } from '../call/admission/call-registry.ts';
import { type LiveCallsParts, liveCallsOf } from '../call/admission/live-calls.ts';
import type { FollowedNews, NumberedNews } from '../call/log/followed-news.ts';
import type { CallIntake, ExpectedMedia } from '../http/intake.ts';
import type { LiveAudio } from '../http/live-audio.ts';
import { type GivenMediaDeps, serveGivenMedia } from '../http/serve-given-media.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { OrderHandlers } from './front-channel.ts';
import type { Asked } from './protocol.ts';

export interface OrderServing extends GivenMediaDeps {
  readonly registry: CallRegistry;
  readonly intake: CallIntake;
  readonly expected: ExpectedMedia;
  readonly metrics: Pick<Metrics, 'snapshot'>;
  readonly load: LiveCallsParts['load'];
  readonly followed: FollowedNews;
  readonly audio: LiveAudio;
  /** Tells the front news of a call that somebody follows there. */
  readonly tellNews: (news: NumberedNews) => void;
  readonly redeem: (botNames: readonly string[], token: string) => string | undefined;
  /** Reads the bots. @returns has new calls get them */
  readonly loadBots: () => Promise<() => void>;
  readonly speechFailed: (failure: Asked<'speech-failed'>) => void;
  /** Changes how many recognition slots beside those of calls this process may hold, by vendor. */
  readonly shareSpare: (spareSlots: Asked<'use-bots'>['spareSlots']) => void;
  /** The front has made the addresses of an agent's leg. */
  readonly legAddresses: (addresses: Asked<'leg-addresses'>) => void;
  readonly legRefused: (refusal: Asked<'leg-refused'>) => void;
  /** Begins to end this process. */
  readonly leave: () => void;
}

/** What a media process does with its calls when the front asks. */
export function serveOrders(deps: OrderServing): OrderHandlers {
  const { registry, intake, expected } = deps;
  const live = liveCallsOf(deps);
  live.onNews((news) => deps.tellNews(news));
  let use: (() => void) | undefined;
  return {
    answer({ inbound: { next, ...asked }, place }) {
      const inbound = { ...asked, botName: asked.botName };
      return next === undefined ? registry.answer(inbound, place) : registry.goOn(inbound, next, place);
    },
    again: (inbound) => registry.again(inbound) ?? null,
    reserve: ({ call, place }) => registry.reserve(call, place),
    release({ callId, reason }) {
      registry.release(callId, reason);
      return null;
    },
    reported({ callId, report }) {
      registry.reported(callId, report);
      return null;
    },
    expect({ callId, attachmentId, withinMs }) {
      expected.expect(callId, attachmentId, withinMs);
      return null;
    },
    abandon({ callId, attachmentId, reason }) {
      if (callId === undefined) expected.abandon(attachmentId, reason);
      else intake.abandon(callId, attachmentId, reason);
      return null;
    },
    'key-reported'({ digit, ...call }) {
      registry.keyReported(call, digit);
      return null;
    },
    'carrier-ended'(call) {
      registry.carrierEnded(call, 'caller-hangup');
      return null;
    },
    async media({ grant, transport, headers, early, answered, address }, socket) {
      if (socket === undefined) throw new TypeError('media came without its socket');
      await serveGivenMedia(deps, grant, { socket, transport, headers, early: Buffer.from(early, 'base64'), answered, address });
      return null;
    },
    list: async () => [...(await live.list())],
    find: async ({ callId }) => (await live.find(callId)) ?? null,
    order: ({ callId, order, by }) => live.order(callId, order, by),
    async follow({ callId }) {
      const told = await live.follow(callId);
      return told === undefined ? null : { ...told, soFar: [...told.soFar] };
    },
    listen({ order, headers, early }, socket) {
      if (socket === undefined) throw new TypeError('a listener came without its socket');
      return deps.audio.listen(order, { socket, headers, early: Buffer.from(early, 'base64') });
    },
    dismiss({ listenerId }) {
      deps.audio.dismiss(listenerId);
      return null;
    },
    unfollow({ callId }) {
      live.unfollow(callId);
      return null;
    },
    redeem: ({ bots, token }) => deps.redeem(bots, token) ?? null,
    metrics: () => deps.metrics.snapshot(),
    'speech-failed'(failure) {
      deps.speechFailed(failure);
      return null;
    },
    async 'load-bots'() {
      use = undefined;
      use = await deps.loadBots();
      return null;
    },
    'use-bots'({ spareSlots }) {
      deps.shareSpare(spareSlots);
      use?.();
      return null;
    },
    'leg-addresses'(addresses) {
      deps.legAddresses(addresses);
      return null;
    },
    'leg-refused'(refusal) {
      deps.legRefused(refusal);
      return null;
    },
    drain() {
      deps.leave();
      return null;
    },
  };
}
