import { errors, jwtVerify, SignJWT } from 'jose';
import { z } from 'zod';
import type { Clock } from '../kernel/clock.ts';
import { newId } from '../kernel/ids.ts';
import { MemorySpentIds } from '../hosts/shared-state/memory.ts';
import type { SpentIds } from '../hosts/shared-state/port.ts';

/** What a stream token admits: one media socket of one call. */
export interface StreamGrant {
  readonly carrier: string;
  /** Undefined for a dialled call without a known carrier id. */
  readonly carrierCallId?: string | undefined;
  readonly callId: string;
  readonly attachmentId: string;
}

/** What the token of a call between people admits: one media socket, for listening. Its start names the call. */
export interface ListenGrant {
  readonly carrier: string;
  readonly botName: string;
  /** The call's numbers, for a carrier whose start has none. */
  readonly from: string;
  readonly to: string;
}

/** Result of claiming a token. */
export type ClaimedToken =
  | { readonly grant: StreamGrant }
  | { readonly listen: ListenGrant }
  | { readonly refused: StreamTokenRefusal };

/** `forged` covers every token we did not sign, or signed for another purpose. */
export type StreamTokenRefusal = 'malformed' | 'forged' | 'expired' | 'replayed';

const claims = z.object({ sub: z.string().optional(), cid: z.string(), aid: z.string(), exp: z.number() });
const listenClaims = z.object({ bot: z.string(), from: z.string(), to: z.string(), aid: z.string(), exp: z.number() });

export interface StreamTokensOptions {
  /** At least 32 random bytes (HS256); shared by processes that serve one address. */
  readonly key: Uint8Array;
  readonly clock: Clock;
  /** Ids spent on any machine; this process alone when absent. */
  readonly spent?: SpentIds | undefined;
}

/**
 * Short-lived single-use tokens for the path of a stream's address: carriers drop query strings, and parameters arrive only after the upgrade. Spent
 * ones are kept until they expire.
 */
export class StreamTokens {
  readonly #options: StreamTokensOptions;
  readonly #spent: SpentIds;

  constructor(options: StreamTokensOptions) {
    if (options.key.byteLength < 32) throw new RangeError('a stream token key has at least 32 bytes');
    this.#options = options;
    this.#spent = options.spent ?? new MemorySpentIds(options.clock);
  }

  /** @param lifeMs rounded up to whole seconds */
  mint(grant: StreamGrant, lifeMs: number): Promise<string> {
    const nowSeconds = this.#options.clock.wallMs() / 1000;
    const token = new SignJWT({ cid: grant.callId, aid: grant.attachmentId })
      .setProtectedHeader({ alg: 'HS256' })
      .setAudience(audienceOf(grant.carrier))
      .setExpirationTime(Math.ceil(nowSeconds + lifeMs / 1000));
    if (grant.carrierCallId !== undefined) token.setSubject(grant.carrierCallId);
    return token.sign(this.#options.key);
  }

  /** For a stream of a call between people. @param lifeMs rounded up to whole seconds */
  mintListen({ carrier, botName: bot, from, to }: ListenGrant, lifeMs: number): Promise<string> {
    return new SignJWT({ bot, from, to, aid: newId('att') })
      .setProtectedHeader({ alg: 'HS256' })
      .setAudience(audienceOf(carrier))
      .setExpirationTime(Math.ceil(this.#options.clock.wallMs() / 1000 + lifeMs / 1000))
      .sign(this.#options.key);
  }

  /** Spends a token: only one of several claims is granted. */
  async claim(token: string, carrier: string): Promise<ClaimedToken> {
    const nowMs = this.#options.clock.wallMs();
    let payload: unknown;
    try {
      const currentDate = new Date(nowMs);
      const audience = audienceOf(carrier);
      payload = (await jwtVerify(token, this.#options.key, { algorithms: ['HS256'], audience, currentDate })).payload;
    } catch (error) {
      return { refused: refusalOf(error) };
    }
    const listened = listenClaims.safeParse(payload);
    if (listened.success) {
      const { bot: botName, from, to } = listened.data;
      return (await this.#spend(listened.data)) ? { listen: { carrier, botName, from, to } } : { refused: 'replayed' };
    }
    const parsed = claims.safeParse(payload);
    if (!parsed.success) return { refused: 'forged' };
    const { sub: carrierCallId, cid: callId, aid: attachmentId } = parsed.data;
    if (!(await this.#spend(parsed.data))) return { refused: 'replayed' };
    return { grant: { carrier, ...(carrierCallId === undefined ? {} : { carrierCallId }), callId, attachmentId } };
  }

  /** @returns false if already spent */
  #spend({ aid, exp }: { readonly aid: string; readonly exp: number }): Promise<boolean> {
    return this.#spent.spend(`stream ${aid}`, exp * 1000);
  }
}

function audienceOf(carrier: string): string {
  return `stream:${carrier}`;
}

function refusalOf(error: unknown): StreamTokenRefusal {
  if (error instanceof errors.JWTExpired) return 'expired';
  return error instanceof errors.JWSInvalid || error instanceof errors.JWTInvalid ? 'malformed' : 'forged';
}
