import type { CallAnswer } from '../call/admission/call-door.ts';
import type { InboundCall } from '../carriers/port.ts';
import type { StreamGrant } from '../carriers/stream-token.ts';
import { endWithProblem } from '../http/problem.ts';
import type { LocalCalls, Repeat } from './call-host.ts';
import type { SharedState } from './shared-state/port.ts';
import { PeerError } from './errors.ts';
import type { OwnCalls } from './own-calls.ts';
import type { PeerCaller, PeerHandlers } from './peer-server.ts';

export interface PeerServing {
  readonly local: LocalCalls;
  readonly own: OwnCalls;
  readonly shared: Pick<SharedState, 'members' | 'isAway'>;
  /** Adds what only the machine knows that had the call dialled: the carrier's id of it. */
  readonly completed: (grant: StreamGrant) => StreamGrant;
  /** Begins a call here that another machine has no place for. */
  readonly answer: (inbound: InboundCall) => Promise<CallAnswer>;
  readonly again: (inbound: Repeat) => Promise<CallAnswer | undefined>;
}

/** What this machine does for another one: with its own calls, and nothing that leads to a third machine. */
export function servePeers(
  { local, own, shared, completed, answer, again }: PeerServing,
  caller: PeerCaller,
): { readonly handlers: PeerHandlers; readonly gone: () => void } {
  const handlers: PeerHandlers = {
    answer: ({ inbound }) => answer({ ...inbound, botName: inbound.botName }),
    again: async (inbound) => (await again(inbound)) ?? null,
    reported({ callId, report }) {
      local.intake.dialReported(callId, report);
      return null;
    },
    expect({ callId, attachmentId, withinMs }) {
      local.media.expect(callId, attachmentId, withinMs);
      return null;
    },
    abandon({ callId, attachmentId, reason }) {
      if (callId === undefined) local.media.abandon(attachmentId, reason);
      else local.intake.abandon(callId, attachmentId, reason);
      return null;
    },
    'key-reported'({ digit, ...call }) {
      local.intake.keyReported(call, digit);
      return null;
    },
    'carrier-ended'(call) {
      local.intake.carrierStatus(call, 'completed', true);
      return null;
    },
    async media({ grant, early, ...upgrade }, socket) {
      if (socket === undefined) throw new TypeError('media came without its socket');
      if (!local.has(grant.callId)) {
        if (upgrade.transport === 'websocket' && !upgrade.answered) endWithProblem(socket, 503, 'The call is over.');
        throw new PeerError('the call is over');
      }
      await local.media.take(completed(grant), { ...upgrade, early: Buffer.from(early, 'base64'), socket });
      return null;
    },
    list: async () => [...(await local.live.list())],
    find: async ({ callId }) => (await local.live.find(callId)) ?? null,
    order: ({ callId, order, by }) => local.live.order(callId, order, by),
    async follow({ callId }) {
      const told = await own.follow(callId, caller);
      return told === undefined ? null : { ...told, soFar: [...told.soFar] };
    },
    unfollow({ callId }) {
      own.unfollow(callId, caller);
      return null;
    },
    listen({ order, headers, early }, socket) {
      if (socket === undefined) throw new TypeError('a listener came without its socket');
      return local.audio.listen(order, { socket, headers, early: Buffer.from(early, 'base64') });
    },
    dismiss({ listenerId }) {
      local.audio.dismiss(listenerId);
      return null;
    },
    redeem: async ({ bots, token }) => (await local.redeem(bots, token)) ?? null,
    async 'shared-state'() {
      // Finds out now whether it is there.
      await shared.members.list();
      return { isAway: shared.isAway };
    },
  };
  return { handlers, gone: () => own.unfollowAll(caller) };
}
