import type { FastifyReply, FastifyRequest } from 'fastify';
import { Refusal } from './refusal.ts';
import type { Slots } from './slots.ts';

/** Knows whose key a request came with. */
export interface OwnerGate {
  claimsOf(request: FastifyRequest): { readonly keyId: string };
}

/** For `onRequest`, after the gate: holds one of the key's slots until the answer is out or the client is gone. */
export function occupySlot(gate: OwnerGate, slots: Slots, limit: number) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    // The gate takes its time, and who left meanwhile is told of no more: the slot would be held for good.
    if (isGone(reply)) throw clientGone();
    const free = slots.take(gate.claimsOf(request).keyId);
    if (free === undefined) {
      throw new Refusal(429, `Rate limit: ${limit} requests at once are allowed`, { headers: { 'retry-after': '1' } });
    }
    whenOver(reply, free);
  };
}

/** Aborts when the client goes away before the answer is out; at once when it is gone already. */
export function clientSignal(reply: FastifyReply): AbortSignal {
  if (isGone(reply)) return AbortSignal.abort(clientGone());
  const gone = new AbortController();
  whenOver(reply, () => {
    if (!reply.raw.writableFinished) gone.abort(clientGone());
  });
  return gone.signal;
}

/** An answer hears of its connection's end only when it is its turn: one that waits behind another is told here too. */
function whenOver({ raw, request }: FastifyReply, task: () => void): void {
  const { socket } = request.raw;
  const over = (): void => {
    raw.off('close', over);
    socket.off('close', over);
    task();
  };
  raw.once('close', over);
  socket.once('close', over);
}

function isGone({ raw, request }: FastifyReply): boolean {
  return raw.destroyed || request.raw.socket.destroyed;
}

function clientGone(): Refusal {
  return new Refusal(499, 'The client went away');
}
