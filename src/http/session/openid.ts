import { createRemoteJWKSet, type JWTVerifyGetKey, jwtVerify } from 'jose';
import type { Configuration } from 'openid-client';
import { z } from 'zod';
import { readRoleMap, ROLES, type Role } from '../../config/console-roles.ts';
import type { Settings } from '../../config/schema.ts';
import type { Secret } from '../../config/secrets.ts';
import { OffhookError } from '../../kernel/errors.ts';
import type { ConsoleUser } from './console-key.ts';

/** Why a sign-in failed; the page has words for each. */
export type OpenIdProblem = 'unavailable' | 'refused' | 'no-role';

/** The issuer was unavailable, refused, or named a person without a role here. */
export class OpenIdError extends OffhookError {
  readonly code = 'OFFHOOK_OPENID';
  readonly retryable = false;
  readonly problem: OpenIdProblem;

  constructor(problem: OpenIdProblem, cause?: unknown) {
    super(PROBLEMS[problem], { cause });
    this.problem = problem;
  }
}

const PROBLEMS: Readonly<Record<OpenIdProblem, string>> = {
  unavailable: 'the OpenID Connect issuer cannot be asked',
  refused: 'the OpenID Connect issuer did not vouch for anybody',
  'no-role': 'the person has no role of console.openid.roles',
};
type Claims = Readonly<Record<string, unknown>>;
const ISSUER_WITHIN_S = 10;
const MOST_CHARACTERS = 100;

/** What the browser must come back with after a sign-in; sealed in its cookie. */
export const begunSignIn = z.object({ state: z.string(), nonce: z.string(), verifier: z.string(), redirectUri: z.string() });
type BegunSignIn = z.output<typeof begunSignIn>;

/** What is needed to ask the issuer about a person again. */
export interface OpenIdGrant {
  /** The person's id at the issuer. */
  readonly sub: string;
  /** Their session there; undefined where the issuer names none. */
  readonly sid: string | undefined;
  /** Replaced at each question. Undefined where the issuer gave none: `access` then works as long as the issuer allows. */
  readonly refresh: string | undefined;
  readonly access: string;
}

const personClaims = z.looseObject({
  sub: z.string(),
  sid: z.string().optional(),
  email: z.string().optional(),
  email_verified: z.boolean().optional(),
  preferred_username: z.string().optional(),
  name: z.string().optional(),
});

/** Sign-in by an OpenID Connect issuer: code flow with PKCE, state, nonce, and a verified ID token. */
export class OpenIdSignIn {
  readonly #settings: Settings['console']['openid'];
  readonly #secret: Secret | undefined;
  readonly #roles: ReadonlyMap<string, Role>;
  #keys: JWTVerifyGetKey | undefined;
  /** Discovered at the first sign-in, and again after a failure. */
  #issuer: Promise<Configuration> | undefined;

  private constructor(settings: Settings['console']['openid'], secret: Secret | undefined) {
    this.#settings = settings;
    this.#secret = secret;
    this.#roles = readRoleMap(settings.roles).roles;
  }

  /** @returns undefined without a configured issuer */
  static from({ openid }: Settings['console'], secret: Secret | undefined): OpenIdSignIn | undefined {
    return openid.issuer === undefined ? undefined : new OpenIdSignIn(openid, secret);
  }

  /** @returns the browser's destination, and what must be known on its return. @throws OpenIdError */
  async begin(redirectUri: string): Promise<{ readonly url: string; readonly begun: BegunSignIn }> {
    const client = await import('openid-client');
    const issuer = await this.#find();
    const begun = {
      state: client.randomState(),
      nonce: client.randomNonce(),
      verifier: client.randomPKCECodeVerifier(),
      redirectUri,
    };
    const url = client.buildAuthorizationUrl(issuer, {
      redirect_uri: redirectUri,
      scope: this.#settings.scopes,
      state: begun.state,
      nonce: begun.nonce,
      code_challenge: await client.calculatePKCECodeChallenge(begun.verifier),
      code_challenge_method: 'S256',
    });
    return { url: url.href, begun };
  }

  /** @param query with which the browser came back. @throws OpenIdError */
  async finish(
    query: string,
    { state, nonce, verifier, redirectUri }: BegunSignIn,
  ): Promise<{ readonly user: ConsoleUser; readonly grant: OpenIdGrant }> {
    const client = await import('openid-client');
    const issuer = await this.#find();
    let claims: Claims;
    let tokens: Awaited<ReturnType<typeof client.authorizationCodeGrant>>;
    try {
      const answer = new URL(`${redirectUri}?${query}`);
      const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true };
      tokens = await client.authorizationCodeGrant(issuer, answer, checks);
      claims = await this.#withRole(issuer, { ...tokens.claims() }, tokens.access_token);
    } catch (error) {
      throw new OpenIdError('refused', error);
    }
    const role = this.#roleOf(claims);
    if (role === undefined) throw new OpenIdError('no-role');
    const { sub, sid } = personClaims.parse(claims);
    return {
      user: { name: nameOf(claims), role },
      grant: { sub, sid, refresh: tokens.refresh_token, access: tokens.access_token },
    };
  }

  /**
   * Asks the issuer whether a person still has a role.
   * @throws OpenIdError: `unavailable` where it does not answer, or not about roles; otherwise the person has no role
   */
  async askAgain({ sub, sid, refresh, access }: OpenIdGrant): Promise<{ readonly role: Role; readonly grant: OpenIdGrant }> {
    const client = await import('openid-client');
    const issuer = await this.#find();
    try {
      const tokens = refresh === undefined ? undefined : await client.refreshTokenGrant(issuer, refresh);
      const newAccess = tokens?.access_token ?? access;
      const told = tokens?.claims();
      if (told !== undefined && told.sub !== sub) throw new OpenIdError('refused');
      const claims = await this.#withRole(issuer, { ...told, sub }, newAccess);
      // If neither endpoint reports roles, only a new sign-in does.
      if (told === undefined && issuer.serverMetadata().userinfo_endpoint === undefined) throw new OpenIdError('unavailable');
      const role = this.#roleOf(claims);
      if (role === undefined) throw new OpenIdError('no-role');
      return { role, grant: { sub, sid, refresh: tokens?.refresh_token ?? refresh, access: newAccess } };
    } catch (error) {
      if (error instanceof OpenIdError) throw error;
      const isRefusal =
        (error instanceof client.ResponseBodyError && error.status < 500 && error.status !== 429) ||
        (error instanceof client.WWWAuthenticateChallengeError && error.status === 401);
      throw new OpenIdError(isRefusal ? 'refused' : 'unavailable', error);
    }
  }

  /** Validates the issuer's token for a sign-out there. @throws OpenIdError */
  async logoutOf(token: string): Promise<LogoutToken> {
    const server = (await this.#find()).serverMetadata();
    try {
      const keys = (this.#keys ??= createRemoteJWKSet(new URL(server.jwks_uri ?? ''), {
        timeoutDuration: ISSUER_WITHIN_S * 1000,
      }));
      return await readLogoutToken(token, keys, { issuer: server.issuer, audience: this.#settings.clientId ?? '' });
    } catch (error) {
      throw new OpenIdError('refused', error);
    }
  }

  /** Some issuers report roles at the userinfo endpoint only. */
  async #withRole(issuer: Configuration, claims: Claims, access: string): Promise<Claims> {
    if (valueOf(claims, this.#settings.roleClaim) !== undefined) return claims;
    if (issuer.serverMetadata().userinfo_endpoint === undefined) return claims;
    const client = await import('openid-client');
    return { ...(await client.fetchUserInfo(issuer, access, String(claims['sub']))), ...claims };
  }

  /** The highest role that the person's claim values map to. */
  #roleOf(claims: Claims): Role | undefined {
    const value = valueOf(claims, this.#settings.roleClaim);
    const values: readonly unknown[] = Array.isArray(value) ? value : [value];
    const found = new Set(values.map((each) => (typeof each === 'string' ? this.#roles.get(each) : undefined)));
    return ROLES.findLast((role) => found.has(role));
  }

  #find(): Promise<Configuration> {
    const finding = (this.#issuer ??= this.#discover());
    finding.catch(() => {
      if (this.#issuer === finding) this.#issuer = undefined;
    });
    return finding;
  }

  async #discover(): Promise<Configuration> {
    const { issuer = '', clientId = '' } = this.#settings;
    const client = await import('openid-client');
    const secret = this.#secret?.reveal();
    const authentication: Parameters<typeof client.discovery>[3] = (server, ...rest) => {
      if (secret === undefined) return client.None()(server, ...rest);
      const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
      const isBasic = methods.includes('client_secret_basic');
      return (isBasic ? client.ClientSecretBasic(secret) : client.ClientSecretPost(secret))(server, ...rest);
    };
    const server = new URL(issuer);
    // The settings' check allows http on this machine only.
    const execute = [client.enableNonRepudiationChecks, ...(server.protocol === 'http:' ? [client.allowInsecureRequests] : [])];
    try {
      return await client.discovery(server, clientId, secret, authentication, { execute, timeout: ISSUER_WITHIN_S });
    } catch (error) {
      throw new OpenIdError('unavailable', error);
    }
  }
}

/** A claim by its name, or by a path of names: `realm_access.roles`. */
function valueOf(claims: Claims, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  let value: unknown = claims;
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = Reflect.get(value, name);
  }
  return value;
}

/** For the audit log: a verified e-mail address, else the name with the id, which cannot be chosen. */
function nameOf(claims: Claims): string {
  const { sub, email, email_verified: isChecked, preferred_username: username, name } = personClaims.parse(claims);
  const said = isChecked === true && email !== undefined ? email : `${username ?? name ?? 'user'} (${sub})`;
  return said.slice(0, MOST_CHARACTERS);
}

/** A sign-out at the issuer: of one session there, or of all of a person. */
export interface LogoutToken {
  readonly sub: string | undefined;
  readonly sid: string | undefined;
  /** Id of this token, which is used once. */
  readonly jti: string;
  /** Expiry in seconds since the epoch. */
  readonly exp: number;
}

const EVENT = 'http://schemas.openid.net/event/backchannel-logout';
/** Oldest accepted token, against replays. */
const MOST_AGE_S = 120;
const CLOCKS_DIFFER_S = 30;
const logoutClaims = z
  .object({
    sub: z.string().min(1).max(1000).optional(),
    sid: z.string().min(1).max(1000).optional(),
    jti: z.string().min(1).max(1000),
    iat: z.number(),
    events: z.object({ [EVENT]: z.looseObject({}) }),
    nonce: z.never().optional(),
  })
  .refine(({ sub, sid }) => sub !== undefined || sid !== undefined, 'neither sub nor sid');

/**
 * Validates a logout token by OpenID Connect Back-Channel Logout 1.0, section 2.6.
 * @throws errors of jose and zod
 */
async function readLogoutToken(
  token: string,
  keys: JWTVerifyGetKey,
  expected: { readonly issuer: string; readonly audience: string },
): Promise<LogoutToken> {
  const { payload, protectedHeader } = await jwtVerify(token, keys, {
    ...expected,
    maxTokenAge: MOST_AGE_S,
    clockTolerance: CLOCKS_DIFFER_S,
  });
  // ID tokens and access tokens are excluded, whatever their claims.
  z.enum(['logout+jwt', 'JWT', 'jwt']).optional().parse(protectedHeader.typ);
  const { sub, sid, jti, iat } = logoutClaims.parse(payload);
  return { sub, sid, jti, exp: Math.ceil(iat + MOST_AGE_S + 2 * CLOCKS_DIFFER_S) };
}
