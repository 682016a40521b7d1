import { createHash, createHmac, randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Settings } from '../../config/schema.ts';
import { Secret } from '../../config/secrets.ts';
import type { MemberRepository } from '../../records/members.ts';
import type { AuditLog } from '../../records/retention/audit-log.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Logger } from '../../observability/logger.ts';
import type { SharedRates } from '../../hosts/shared-state/port.ts';
import { configuredAddress, isOwnOrigin, isSafeHost, wasPassedOn } from '../public-addresses.ts';
import type { Principal } from '../api/system/api-keys.ts';
import type { ConsoleKey, ConsoleUser, SealedLinks, SignInLinks } from './console-key.ts';
import type { OpenIdGrant, OpenIdSignIn, LogoutToken } from './openid.ts';
import { OpenIdChecks } from './openid-checks.ts';
import { ROLES, SCOPES_OF } from './session-views.ts';

export const SESSION_COOKIE = 'offhook_session';
/** Tenant of the console's users. */
export const TENANT = 'default';

export interface SessionsParts {
  readonly settings: Settings['console'];
  readonly key: ConsoleKey;
  readonly links: Pick<SignInLinks | SealedLinks, 'use'>;
  /** The admin's password; password sign-in is off when absent. */
  readonly password: Secret | undefined;
  /** Undefined without a configured issuer. */
  readonly openid?: OpenIdSignIn | undefined;
  /** The gateway's public address. */
  readonly publicUrl: string | undefined;
  /** People who were added to the console; links for members are refused when absent. */
  readonly members?: Pick<MemberRepository, 'get'> | undefined;
  readonly audit: Pick<AuditLog, 'add'>;
  readonly clock: Clock;
  /** Shared by all machines; this process only when absent. */
  readonly rates?: SharedRates | undefined;
  readonly logger: Logger;
}

const sessionClaims = z.object({
  sub: z.string(),
  role: z.enum(ROLES),
  csrf: z.string(),
  /** Fingerprint of the password used; a changed password ends the session. */
  password: z.string().optional(),
  /** The user's id and session at the issuer. */
  openid: z.object({ sub: z.string(), sid: z.string().optional() }).optional(),
  /** One for each of `peopleOf`. */
  generations: z.array(z.object({ period: z.int(), number: z.int() })),
  jti: z.string(),
  exp: z.number(),
});

type Claims = z.output<typeof sessionClaims>;

export interface SessionUser extends ConsoleUser {
  readonly csrf: Secret;
  readonly principal: Principal;
}

/** A session from its cookie: its id, and its expiry in seconds since the epoch. */
interface CookieSession extends SessionUser {
  readonly openid: Claims['openid'];
  readonly jti: string;
  readonly exp: number;
}

export type SignInWay = 'password' | 'link' | 'openid';

/** Console sessions, in a sealed cookie: only the ids of signed-out ones are stored. For scopes with `@fastify/cookie`. */
export class Sessions {
  readonly #parts: SessionsParts;
  readonly #generations: Generations;
  readonly #checks: OpenIdChecks | undefined;

  constructor(parts: SessionsParts) {
    this.#parts = parts;
    this.#generations = new Generations(parts.key);
    this.#checks = parts.openid && new OpenIdChecks({ ...parts, openid: parts.openid });
  }

  /** Whether session and credentials travel safely. */
  isSafe(request: FastifyRequest): boolean {
    return isSafeHost(request.headers.host, this.#parts.publicUrl);
  }

  /** Whether the browser says that another site's page sent the request. */
  isForeign({ headers: { origin, host = '' } }: FastifyRequest): boolean {
    return origin !== undefined && !isOwnOrigin(origin, host, this.#parts.publicUrl);
  }

  /** The address that the browser opened. Only for requests that `isSafe` accepts. */
  ownAddress({ headers }: FastifyRequest): string {
    const known = configuredAddress(this.#parts.publicUrl);
    const isHere = isSafeHost(headers.host, undefined) && !wasPassedOn(headers);
    return known !== undefined && !isHere ? known : `http://${headers.host}`;
  }

  /** The signed-in user; undefined without a valid session. */
  async find(request: FastifyRequest): Promise<CookieSession | undefined> {
    const { key, clock } = this.#parts;
    const sealed = request.cookies[SESSION_COOKIE];
    if (sealed === undefined || !this.isSafe(request)) return undefined;
    const claims = sessionClaims.safeParse(await key.open('session', sealed, clock.wallMs()));
    if (!claims.success) return undefined;
    const { sub: name, role, csrf, password, openid, generations, jti, exp } = claims.data;
    if (password !== undefined && password !== this.#passwordMark(csrf)) return undefined;
    if (await this.#isOver(peopleOf(name, openid), generations)) return undefined;
    if (openid !== undefined && !(await this.#checks?.holds(jti))) return undefined;
    return { ...signedIn({ name, role }, csrf), openid, jti, exp };
  }

  /**
   * Why a session's request is refused; undefined for one from its own page. A foreign page can make a browser send the cookie, but can neither read
   * the CSRF token nor change the origin header.
   */
  refusal(request: FastifyRequest, { csrf }: SessionUser): string | undefined {
    const { method, headers } = request;
    if (headers.upgrade !== undefined && headers.origin === undefined) return 'A WebSocket of a session needs an Origin.';
    if (this.isForeign(request)) return 'Another site sent this request.';
    if (method === 'GET' || method === 'HEAD' || method === 'OPTIONS') return undefined;
    const given = headers['x-csrf-token'];
    if (typeof given === 'string' && csrf.equals(given)) return undefined;
    return 'This needs the header x-csrf-token with the csrf of GET /api/session.';
  }

  /** Opens a session, sets its cookie and writes an audit entry. */
  async signIn(
    request: FastifyRequest,
    reply: FastifyReply,
    user: ConsoleUser,
    way: SignInWay,
    grant?: OpenIdGrant,
  ): Promise<SessionUser> {
    const { settings, key, clock } = this.#parts;
    const csrf = randomBytes(24).toString('base64url');
    const password = way === 'password' ? { password: this.#passwordMark(csrf) } : {};
    const lifeMs = settings.sessionMinutes * 60_000;
    const nowMs = clock.wallMs();
    const openid = grant && { sub: grant.sub, ...(grant.sid === undefined ? {} : { sid: grant.sid }) };
    const people = peopleOf(user.name, openid);
    const generations = await Promise.all(people.map((person) => this.#generations.current(person, nowMs)));
    const claims = { sub: user.name, role: user.role, csrf, ...password, ...(openid && { openid }), generations };
    const sealed = await key.seal('session', claims, { nowMs, lifeMs });
    const opened = grant && (await key.open('session', sealed, nowMs));
    if (grant !== undefined && opened !== undefined) {
      const { jti, exp } = opened;
      const isOver = (): Promise<boolean> => this.#isOver(people, generations);
      const onEnded = (): void => void this.note('sign-out', 'openid', 'done', user.name);
      await this.#checks?.hold({ jti, exp, role: user.role, isOver, onEnded }, grant);
    }
    this.setCookie(request, reply, SESSION_COOKIE, sealed, lifeMs / 1000);
    await this.note('sign-in', way, 'done', user.name);
    return signedIn(user, csrf);
  }

  /** Ends a session, including copies of its cookie. */
  async signOut(request: FastifyRequest, reply: FastifyReply, user: CookieSession): Promise<void> {
    this.#checks?.release(user.jti);
    await this.#parts.key.spend(user, this.#parts.clock.wallMs());
    this.setCookie(request, reply, SESSION_COOKIE, '', 0);
    await this.note('sign-out', 'console', 'done', user.name);
  }

  /** Ends all sessions of a person, in any browser. */
  async signOutEverywhere(request: FastifyRequest, reply: FastifyReply, user: CookieSession): Promise<void> {
    const [person] = peopleOf(user.name, user.openid);
    await this.#generations.end(person, this.#parts.clock.wallMs());
    this.#checks?.release(user.jti);
    this.setCookie(request, reply, SESSION_COOKIE, '', 0);
    await this.note('sign-out', 'everywhere', 'done', user.name);
  }

  /** Ends the sessions signed out at the issuer. @returns false for a token used before */
  async signedOutAtIssuer({ sub, sid, jti, exp }: LogoutToken): Promise<boolean> {
    const { key, clock } = this.#parts;
    const id = createHash('sha256').update(jti).digest('hex').slice(0, 32);
    if (!(await key.spend({ jti: id, exp }, clock.wallMs()))) return false;
    await this.#generations.end(sid === undefined ? personOf(sub ?? '') : issuerSession(sid), clock.wallMs());
    await this.note('sign-out', 'openid', 'done');
    return true;
  }

  /** Stops asking the issuer. */
  stop(): void {
    this.#checks?.stop();
  }

  /** @param maxAgeS 0 removes it */
  setCookie({ headers }: FastifyRequest, reply: FastifyReply, name: string, value: string, maxAgeS: number, path = '/'): void {
    const isHttp = isSafeHost(headers.host, undefined) && headers['x-forwarded-proto'] !== 'https';
    reply.setCookie(name, value, { path, httpOnly: true, sameSite: 'lax', secure: !isHttp, maxAge: maxAgeS });
  }

  /** A failed audit write does not block sign-ins: an operator must be able to investigate. */
  async note(act: 'sign-in' | 'sign-out', subject: string, outcome: 'done' | 'refused', name?: string): Promise<void> {
    const event = {
      by: name === undefined ? 'console' : `console ${name}`,
      tenantId: TENANT,
      action: `session.${act}`,
      subject,
      outcome,
    };
    const { audit, logger } = this.#parts;
    await audit.add(event).catch((error: unknown) => logger.error({ error, action: event.action }, 'audit log write failed'));
  }

  async #isOver(people: readonly string[], generations: Claims['generations']): Promise<boolean> {
    const over = await Promise.all(
      people.map(async (person, at) => {
        const generation = generations[at];
        return generation === undefined || this.#generations.isOver(person, generation);
      }),
    );
    return over.includes(true);
  }

  #passwordMark(salt: string): string {
    return createHmac('sha256', salt)
      .update(this.#parts.password?.reveal() ?? '')
      .digest('base64url');
  }
}

/** Ends all sessions of a person who has no account at an issuer. */
export function endSessionsOf(key: Pick<ConsoleKey, 'spend' | 'isSpent'>, name: string, nowMs: number): Promise<void> {
  const [person] = peopleOf(name, undefined);
  return new Generations(key).end(person, nowMs);
}

/** What ends with a session: all sessions of the person, or the session at the issuer. */
function peopleOf(name: string, openid: Claims['openid']): readonly [string, ...string[]] {
  if (openid === undefined) return [`name ${name}`];
  return [personOf(openid.sub), ...(openid.sid === undefined ? [] : [issuerSession(openid.sid)])];
}

function personOf(sub: string): string {
  return `openid ${sub}`;
}

function issuerSession(sid: string): string {
  return `openid session ${sid}`;
}

function signedIn({ name, role }: ConsoleUser, csrf: string): SessionUser {
  const principal = { id: `console ${name}`, name, tenantId: TENANT, scopes: [...SCOPES_OF[role]] };
  return { name, role, csrf: new Secret(csrf), principal };
}

const DAY_S = 86_400;
/** Sessions live up to seven days, so live ones began in this period or the one before. */
const PERIOD_S = 14 * DAY_S;
const LONGEST_SESSION_S = 7 * DAY_S;
/** Most sign-outs of a person in a period; the sign-in after the last one is refused. */
const MOST = 500;

/** Which of a person's sessions are valid: all since the person was last signed out everywhere. */
export interface Generation {
  readonly period: number;
  readonly number: number;
}

/**
 * Ends all sessions of a person at once. A session belongs to a generation of its period; ending one spends its id, and the next session begins the
 * next. So sessions are not stored, and machines share only spent ids.
 */
class Generations {
  readonly #key: Pick<ConsoleKey, 'spend' | 'isSpent'>;

  constructor(key: Pick<ConsoleKey, 'spend' | 'isSpent'>) {
    this.#key = key;
  }

  /** The generation of a session that begins now. @throws RangeError after too many sign-outs */
  async current(person: string, nowMs: number): Promise<Generation> {
    return this.#first(person, periodAt(nowMs));
  }

  async isOver(person: string, generation: Generation): Promise<boolean> {
    return this.#key.isSpent(idOf(person, generation));
  }

  async end(person: string, nowMs: number): Promise<void> {
    const period = periodAt(nowMs);
    for (const each of [period - 1, period]) {
      const generation = await this.#first(person, each);
      await this.#key.spend(idOf(person, generation), nowMs);
    }
  }

  async #first(person: string, period: number): Promise<Generation> {
    for (let number = 0; number < MOST; number += 1) {
      const generation = { period, number };
      if (!(await this.isOver(person, generation))) return generation;
    }
    throw new RangeError('too many sign-outs of one person');
  }
}

function periodAt(nowMs: number): number {
  return Math.floor(nowMs / 1000 / PERIOD_S);
}

/** It is forgotten when no session of its period can be alive. */
function idOf(person: string, { period, number }: Generation): { readonly jti: string; readonly exp: number } {
  const id = createHash('sha256').update(`${person} ${period} ${number}`).digest('hex').slice(0, 32);
  return { jti: id, exp: (period + 1) * PERIOD_S + LONGEST_SESSION_S };
}
