import type { Configuration } from 'openid-client';
import { z } from 'zod';
import { readRoleMap, ROLES, type Role } from '../../config/console-roles.ts';
import type { Settings } from '../../config/schema.ts';
import type { Secret } from '../../config/secrets.ts';
import { OffhookError } from '../../kernel/errors.ts';
import type { ConsoleUser } from './console-key.ts';

/** Why nobody was signed in; the page has words for each. */
export type OpenIdProblem = 'unavailable' | 'refused' | 'no-role';

/** The issuer could not be asked, did not vouch for anybody, or for somebody without a role here. */
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
const ISSUER_WITHIN_S = 10;
const MOST_CHARACTERS = 100;

/** What a sign-in that was begun must come back with; sealed in a cookie of the browser that began it. */
export const begunSignIn = z.object({ state: z.string(), nonce: z.string(), verifier: z.string(), redirectUri: z.string() });
type BegunSignIn = z.output<typeof begunSignIn>;

const personClaims = z.looseObject({
  sub: z.string(),
  email: z.string().optional(),
  email_verified: z.boolean().optional(),
  preferred_username: z.string().optional(),
  name: z.string().optional(),
});

/** Sign-in by an OpenID Connect issuer: code flow with PKCE, state, nonce, and an ID token whose signature is checked. */
export class OpenIdSignIn {
  readonly #settings: Settings['console']['openid'];
  readonly #secret: Secret | undefined;
  readonly #roles: ReadonlyMap<string, Role>;
  /** Found at the first sign-in, and again after a failure. */
  #issuer: Promise<Configuration> | undefined;

  private constructor(settings: Settings['console']['openid'], secret: Secret | undefined) {
    this.#settings = settings;
    this.#secret = secret;
    this.#roles = readRoleMap(settings.roles).roles;
  }

  /** @returns undefined where no issuer is configured */
  static from({ openid }: Settings['console'], secret: Secret | undefined): OpenIdSignIn | undefined {
    return openid.issuer === undefined ? undefined : new OpenIdSignIn(openid, secret);
  }

  /** @returns where the browser goes, and what has to be known when it is back. @throws OpenIdError */
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
  async finish(query: string, { state, nonce, verifier, redirectUri }: BegunSignIn): Promise<ConsoleUser> {
    const client = await import('openid-client');
    const issuer = await this.#find();
    let claims: Readonly<Record<string, unknown>>;
    try {
      const answer = new URL(`${redirectUri}?${query}`);
      const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true };
      const tokens = await client.authorizationCodeGrant(issuer, answer, checks);
      claims = { ...tokens.claims() };
      // Some issuers say roles there alone.
      if (valueOf(claims, this.#settings.roleClaim) === undefined && issuer.serverMetadata().userinfo_endpoint !== undefined)
        claims = { ...(await client.fetchUserInfo(issuer, tokens.access_token, String(claims['sub']))), ...claims };
    } catch (error) {
      throw new OpenIdError('refused', error);
    }
    const role = this.#roleOf(claims);
    if (role === undefined) throw new OpenIdError('no-role');
    return { name: nameOf(claims), role };
  }

  /** The highest of those that the person's values of the claim are mapped to. */
  #roleOf(claims: Readonly<Record<string, unknown>>): Role | undefined {
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
    // The settings' check allows http on this machine alone.
    const execute = [client.enableNonRepudiationChecks, ...(server.protocol === 'http:' ? [client.allowInsecureRequests] : [])];
    try {
      return await client.discovery(server, clientId, secret, authentication, { execute, timeout: ISSUER_WITHIN_S });
    } catch (error) {
      throw new OpenIdError('unavailable', error);
    }
  }
}

/** A claim by its name, or by a path of names: `realm_access.roles`. */
function valueOf(claims: Readonly<Record<string, unknown>>, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  let value: unknown = claims;
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = Reflect.get(value, name);
  }
  return value;
}

/** For the audit log: an address that the issuer has checked, else a name with the id that cannot be chosen. */
function nameOf(claims: Readonly<Record<string, unknown>>): string {
  const { sub, email, email_verified: isChecked, preferred_username: username, name } = personClaims.parse(claims);
  const said = isChecked === true && email !== undefined ? email : `${username ?? name ?? 'user'} (${sub})`;
  return said.slice(0, MOST_CHARACTERS);
}
