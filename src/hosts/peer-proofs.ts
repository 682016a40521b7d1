import { jwtVerify, SignJWT } from 'jose';
import { z } from 'zod';
import type { Clock } from '../kernel/clock.ts';
import { newId } from '../kernel/ids.ts';

/** Which machine asks which, and the id by which an answer proves that it answers this very request. */
export interface PeerRequest {
  readonly from: string;
  readonly id: string;
}

/** Long enough for clocks that differ by some seconds. */
const LIFE_S = 60;
/** Requests that are remembered so that none is served twice. */
const MOST_SPENT = 20_000;

const claims = z.object({ iss: z.string(), jti: z.string(), exp: z.number() });

/**
 * Shows the machines of one gateway to each other. Both sides hold the same key (`SharedState.secret`): a request is bound to its sender, its receiver and
 * one minute, and is served once; the answer is bound to the request, so that nothing is told to a stranger at another machine's address.
 */
export class PeerProofs {
  readonly #key: () => Promise<Uint8Array>;
  readonly #ownId: string;
  readonly #clock: Clock;
  /** Ids of requests that were served, with the time until which they could be sent again, in ms since the epoch. */
  readonly #spent = new Map<string, number>();

  constructor(options: { readonly key: () => Promise<Uint8Array>; readonly ownId: string; readonly clock: Clock }) {
    this.#key = options.key;
    this.#ownId = options.ownId;
    this.#clock = options.clock;
  }

  async forRequest(to: string): Promise<{ readonly id: string; readonly token: string }> {
    const id = newId('req');
    return { id, token: await this.#sign('peer-request', to, id) };
  }

  forAnswer({ from, id }: PeerRequest): Promise<string> {
    return this.#sign('peer-answer', from, id);
  }

  /** @returns undefined for a token that is not for this machine, not in force, or was shown before */
  async readRequest(token: string): Promise<PeerRequest | undefined> {
    const read = await this.#read('peer-request', token);
    if (read === undefined || !this.#spend(read.jti, read.exp * 1000)) return undefined;
    return { from: read.iss, id: read.jti };
  }

  /** Whether this is the answer of that machine to that request. */
  async isAnswer(token: string, { by, id }: { readonly by: string; readonly id: string }): Promise<boolean> {
    const read = await this.#read('peer-answer', token);
    return read?.iss === by && read.jti === id;
  }

  async #sign(kind: string, to: string, id: string): Promise<string> {
    return new SignJWT()
      .setProtectedHeader({ alg: 'HS256', typ: kind })
      .setIssuer(this.#ownId)
      .setAudience(to)
      .setJti(id)
      .setExpirationTime(Math.ceil(this.#clock.wallMs() / 1000) + LIFE_S)
      .sign(await this.#key());
  }

  async #read(typ: string, token: string): Promise<z.output<typeof claims> | undefined> {
    const currentDate = new Date(this.#clock.wallMs());
    try {
      const verified = await jwtVerify(token, await this.#key(), {
        algorithms: ['HS256'],
        audience: this.#ownId,
        typ,
        currentDate,
      });
      return claims.safeParse(verified.payload).data;
    } catch {
      return undefined;
    }
  }

  /** @returns false for one that was spent, and where so many are remembered that one would have to be forgotten */
  #spend(id: string, untilWallMs: number): boolean {
    const nowMs = this.#clock.wallMs();
    // Oldest first, and all live equally long.
    for (const [spent, until] of this.#spent) {
      if (until > nowMs) break;
      this.#spent.delete(spent);
    }
    if (this.#spent.has(id) || this.#spent.size >= MOST_SPENT) return false;
    this.#spent.set(id, untilWallMs);
    return true;
  }
}
