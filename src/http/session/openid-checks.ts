import { createHash } from 'node:crypto';
import type { Role } from '../../config/console-roles.ts';
import type { Clock, Timer } from '../../kernel/clock.ts';
import { errorText } from '../../kernel/errors.ts';
import type { Logger } from '../../observability/logger.ts';
import type { ConsoleKey } from './console-key.ts';
import { OpenIdError, type OpenIdGrant, type OpenIdSignIn } from './openid.ts';

/** Interval at which the issuer is asked about each signed-in person. */
export const ASK_EVERY_MS = 5 * 60_000;
/** A session is valid while an answer from this or the last such interval is known: 15 to 30 minutes after the last one. */
const WINDOW_MS = 15 * 60_000;
/** Beyond this many, the oldest session is not renewed, and ends. */
const MOST_HELD = 1000;

interface Held {
  readonly timer: Timer;
}

interface HeldSession {
  readonly jti: string;
  /** Expiry in seconds since the epoch. */
  readonly exp: number;
  readonly role: Role;
  /** Whether it was ended elsewhere. */
  readonly isOver: () => Promise<boolean>;
  /** Called when it ended because the issuer does not vouch for it. */
  readonly onEnded: () => void;
}

interface OpenIdChecksParts {
  readonly openid: Pick<OpenIdSignIn, 'askAgain'>;
  readonly key: Pick<ConsoleKey, 'spend' | 'isSpent'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Renews sessions opened through the issuer. The process of the sign-in has the tokens, in memory, and notes for all machines when the issuer last
 * vouched for the person; after its restart the session ends within half an hour.
 */
export class OpenIdChecks {
  readonly #parts: OpenIdChecksParts;
  readonly #held = new Map<string, Held>();

  constructor(parts: OpenIdChecksParts) {
    this.#parts = parts;
  }

  /** Starts renewing a session. */
  async hold(session: HeldSession, grant: OpenIdGrant): Promise<void> {
    await this.#note(session);
    this.#askLater(session, grant);
    const [oldest] = this.#held.keys();
    if (this.#held.size > MOST_HELD && oldest !== undefined) this.release(oldest);
  }

  release(jti: string): void {
    this.#held.get(jti)?.timer.cancel();
    this.#held.delete(jti);
  }

  /** Whether the issuer has vouched for a session recently. */
  async holds(jti: string): Promise<boolean> {
    const now = this.#window();
    const noted = await Promise.all([now, now - 1].map((window) => this.#parts.key.isSpent(noteOf(jti, window))));
    return noted.includes(true);
  }

  stop(): void {
    for (const jti of this.#held.keys()) this.release(jti);
  }

  #askLater(session: HeldSession, grant: OpenIdGrant): void {
    const { clock, logger } = this.#parts;
    const timer = clock.after(ASK_EVERY_MS, () => {
      this.#ask(session, grant).catch((error: unknown) => logger.error({ error }, 'asking the issuer again failed'));
    });
    this.#held.set(session.jti, { timer });
  }

  async #ask(session: HeldSession, grant: OpenIdGrant): Promise<void> {
    const { openid, key, clock, logger } = this.#parts;
    if (session.exp * 1000 <= clock.wallMs() || (await session.isOver())) return this.release(session.jti);
    let next = grant;
    try {
      const answer = await openid.askAgain(grant);
      next = answer.grant;
      if (!this.#held.has(session.jti)) return;
      // Another role takes effect with a new sign-in.
      if (answer.role !== session.role) throw new OpenIdError('no-role');
      await this.#note(session);
    } catch (error) {
      if (!(error instanceof OpenIdError)) throw error;
      if (error.problem !== 'unavailable') {
        this.release(session.jti);
        if (await key.spend(session, clock.wallMs())) session.onEnded();
        return;
      }
      logger.warn({ reason: errorText(error.cause ?? error) }, 'OpenID issuer does not vouch for a session: asked again later');
    }
    if (this.#held.has(session.jti)) this.#askLater(session, next);
  }

  async #note({ jti }: HeldSession): Promise<void> {
    await this.#parts.key.spend(noteOf(jti, this.#window()), this.#parts.clock.wallMs());
  }

  #window(): number {
    return Math.floor(this.#parts.clock.wallMs() / WINDOW_MS);
  }
}

/** Stored as a spent id, whose presence means that the issuer vouched in that interval. */
function noteOf(jti: string, window: number): { readonly jti: string; readonly exp: number } {
  const id = createHash('sha256').update(`vouched ${jti} ${window}`).digest('hex').slice(0, 32);
  return { jti: id, exp: ((window + 2) * WINDOW_MS) / 1000 };
}
