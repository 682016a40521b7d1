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
    const free = slots.take(gate.claimsOf(request).keyId);
    if (free === undefined) {
      throw new Refusal(429, `Rate limit: ${limit} requests at once are allowed`, { headers: { 'retry-after': '1' } });
    }
    reply.raw.once('close', free);
  };
}

/** Aborts when the client goes away before the answer is out. */
export function clientSignal(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) gone.abort(new Refusal(499, 'The client went away'));
  });
  return gone.signal;
}
