import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../../../kernel/clock.ts';
import { Refusal } from './refusal.ts';

/** All limits of the platform: the documents' numbers where they give one, otherwise ours (D). */
export interface PlatformLimits {
  /** Concurrent requests per API key and service (ASR and TTS docs, limits). */
  readonly concurrentPerKey: number;
  /** Tokens minted per API key in any minute (platform doc, limits). */
  readonly mintsPerMinute: number;
  /** Largest audio of a batch transcription (ASR doc: 500 MB, read as 500 MiB inclusive). */
  readonly audioBytes: number;
  /** Longest audio of a batch transcription (ASR doc: 4 hours). */
  readonly audioSeconds: number;
  /** Largest JSON body: 10,000 characters of four bytes, escaped, and a reference clip in base64. */
  readonly jsonBytes: number;
  /** Largest message on a recognition socket. */
  readonly asrFrameBytes: number;
  /** Largest message on a synthesis socket. */
  readonly ttsFrameBytes: number;
  /** Time between the upgrade and a valid init frame. */
  readonly initMs: number;
  /** Inactivity after which a socket is closed. */
  readonly inactivityMs: number;
  /** Longest life of a recognition socket. */
  readonly sessionMs: number;
  /** Sockets open at once on one listener, with or without an init frame. */
  readonly sockets: number;
  /** Time a body other than an upload may take to arrive. */
  readonly bodyMs: number;
  /** Batch synthesis or transcription that takes longer is answered 504 (TTS doc, errors). */
  readonly batchMs: number;
  /** A synthesis chunk that takes longer ends the stream (TTS doc, errors). */
  readonly chunkMs: number;
}

export const defaultLimits: PlatformLimits = {
  concurrentPerKey: 16,
  mintsPerMinute: 60,
  audioBytes: 500 * 1024 * 1024,
  audioSeconds: 4 * 60 * 60,
  jsonBytes: 4 * 1024 * 1024,
  asrFrameBytes: 1024 * 1024,
  ttsFrameBytes: 4 * 1024 * 1024,
  initMs: 10_000,
  inactivityMs: 300_000,
  sessionMs: 3_600_000,
  sockets: 1024,
  bodyMs: 30_000,
  batchMs: 300_000,
  chunkMs: 30_000,
};

/** Knows the API key of a request. */
interface OwnerGate {
  claimsOf(request: FastifyRequest): { readonly keyId: string };
}

/** For `onRequest`, after the gate: takes one of the key's slots until the answer is sent or the client is gone. */
export function occupySlot(gate: OwnerGate, slots: Slots, limit: number) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    // A client that left during the gate causes no further event: its slot would never be freed.
    if (isGone(reply)) throw clientGone();
    const free = slots.take(gate.claimsOf(request).keyId);
    if (free === undefined) {
      throw new Refusal(429, `Rate limit: ${limit} requests at once are allowed`, { headers: { 'retry-after': '1' } });
    }
    whenOver(reply, free);
  };
}

/** A signal that aborts when the client goes away before the answer is sent. */
export function clientSignal(reply: FastifyReply): AbortSignal {
  if (isGone(reply)) return AbortSignal.abort(clientGone());
  const gone = new AbortController();
  whenOver(reply, () => {
    if (!reply.raw.writableFinished) gone.abort(clientGone());
  });
  return gone.signal;
}

/** Listens to the socket too: a pipelined answer that waits behind another gets no event of its own. */
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

/**
 * Limits concurrent requests per owner (the id of an API key); one for each service (ASR and TTS docs, limits: 16 in the default tier).
 */
export class Slots {
  readonly #limit: number;
  readonly #held = new Map<string, number>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** @returns a function that frees the slot, once; undefined when the owner has no free slot */
  take(owner: string): (() => void) | undefined {
    const held = this.#held.get(owner) ?? 0;
    if (held >= this.#limit) return undefined;
    this.#held.set(owner, held + 1);
    let given = false;
    return () => {
      if (given) return;
      given = true;
      const left = (this.#held.get(owner) ?? 1) - 1;
      if (left === 0) this.#held.delete(owner);
      else this.#held.set(owner, left);
    };
  }

  held(owner: string): number {
    return this.#held.get(owner) ?? 0;
  }
}

/**
 * Runs a task with a signal that aborts at the deadline or with `outer`. The task must stop when its signal aborts.
 * @throws Refusal 504 when the deadline stopped it
 */
export async function withDeadline<Value>(
  clock: Clock,
  limitMs: number,
  outer: AbortSignal,
  task: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const expiry = new AbortController();
  const expired = new Refusal(504, `The request took longer than ${limitMs / 1000} s`);
  const timer = clock.after(limitMs, () => expiry.abort(expired));
  try {
    return await task(AbortSignal.any([outer, expiry.signal]));
  } catch (error) {
    throw expiry.signal.aborted ? expired : error;
  } finally {
    timer.cancel();
  }
}
