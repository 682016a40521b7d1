import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { onLoopback } from './loopback.ts';

export interface OpenIdIssuer extends AsyncDisposable {
  readonly url: string;
  /** Who signs in next, as the ID token says it. */
  person: JWTPayload;
  /** What the issuer tells about them at its other address; nothing there when absent. */
  userInfo: JWTPayload | undefined;
  /** What the next ID token has in place of what is right. */
  wrong: { readonly claims?: JWTPayload; readonly signature?: true };
  /** Whether the next sign-in is refused by the issuer. */
  refuses: boolean;
  /** Whether it gives refresh tokens, each good once. */
  refreshes: boolean;
  /** Whether it answers who asks again with 503. */
  away: boolean;
  /** Questions with a refresh token or an access token. */
  readonly asked: string[];
  /** Signs a token of its own, as for a back-channel logout. @param more in place of what is right */
  sign(claims: JWTPayload, more?: { readonly typ?: string; readonly signature?: true }): Promise<string>;
}

export const CLIENT = { id: 'offhook', secret: 'the secret of the client: 42' };

interface Grant {
  readonly challenge: string;
  readonly nonce: string;
  readonly redirectUri: string;
}

/** The issuer's keys, and those of somebody else. Making a pair costs more than a whole test. */
let madeKeys: ReturnType<typeof makeKeys> | undefined;
const makeKeys = () => Promise.all([generateKeyPair('RS256'), generateKeyPair('RS256')]);

/** A small OpenID Connect issuer on loopback: code flow with PKCE, RS256, client authentication by Basic. It asks nobody anything. */
export async function startIssuer(): Promise<OpenIdIssuer> {
  const [keys, others] = await (madeKeys ??= makeKeys());
  const grants = new Map<string, Grant>();
  const issuer = {
    person: { sub: 'u1' },
    userInfo: undefined,
    wrong: {},
    refuses: false,
    refreshes: false,
    away: false,
    asked: [],
  } as Pick<OpenIdIssuer, 'person' | 'userInfo' | 'wrong' | 'refuses' | 'refreshes' | 'away' | 'asked'>;
  const refreshTokens = new Set<string>();

  const authorize = ({ searchParams }: URL): string => {
    const back = new URL(searchParams.get('redirect_uri') ?? '');
    back.searchParams.set('state', searchParams.get('state') ?? '');
    if (issuer.refuses) back.searchParams.set('error', 'access_denied');
    else {
      const code = randomUUID();
      const [challenge = '', nonce = ''] = ['code_challenge', 'nonce'].map((name) => searchParams.get(name) ?? '');
      grants.set(code, { challenge, nonce, redirectUri: back.origin + back.pathname });
      back.searchParams.set('code', code);
    }
    return back.href;
  };

  const token = async (request: IncomingMessage): Promise<object | undefined> => {
    const form = new URLSearchParams(Buffer.concat(await request.toArray()).toString('utf8'));
    const [id, secret] = Buffer.from(request.headers.authorization?.slice('Basic '.length) ?? '', 'base64')
      .toString('utf8')
      .split(':')
      .map((part) => decodeURIComponent(part.replaceAll('+', ' ')));
    const refresh = form.get('refresh_token');
    if (refresh !== null) {
      issuer.asked.push('refresh');
      if (id !== CLIENT.id || secret !== CLIENT.secret || !refreshTokens.delete(refresh)) return undefined;
      return tokensOf({ iss: url, aud: CLIENT.id, ...issuer.person });
    }
    const grant = grants.get(form.get('code') ?? '');
    grants.delete(form.get('code') ?? '');
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    const isRight = id === CLIENT.id && secret === CLIENT.secret && challenge === grant?.challenge;
    if (grant === undefined || !isRight || form.get('redirect_uri') !== grant.redirectUri) return undefined;
    const claims = { iss: url, aud: CLIENT.id, nonce: grant.nonce, ...issuer.person, ...issuer.wrong.claims };
    return tokensOf(claims);
  };
  const sign: OpenIdIssuer['sign'] = (claims, { typ, signature } = {}) =>
    new SignJWT(claims)
      .setProtectedHeader({ alg: 'RS256', kid: '1', ...(typ === undefined ? {} : { typ }) })
      .setIssuedAt(claims.iat)
      .setExpirationTime('5m')
      .sign((signature === true ? others : keys).privateKey);
  const tokensOf = async (claims: JWTPayload): Promise<object> => {
    const refresh = randomUUID();
    if (issuer.refreshes) refreshTokens.add(refresh);
    return {
      access_token: 'access',
      token_type: 'Bearer',
      expires_in: 300,
      id_token: await sign(claims, issuer.wrong),
      ...(issuer.refreshes ? { refresh_token: refresh } : {}),
    };
  };

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const asked = new URL(request.url ?? '', url);
    const json = (status: number, body: object | undefined): void =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (issuer.away && ['/token', '/userinfo'].includes(asked.pathname)) return json(503, {});
    switch (asked.pathname) {
      case '/.well-known/openid-configuration':
        return json(200, {
          issuer: url,
          authorization_endpoint: `${url}/authorize`,
          token_endpoint: `${url}/token`,
          jwks_uri: `${url}/jwks`,
          ...(issuer.userInfo === undefined ? {} : { userinfo_endpoint: `${url}/userinfo` }),
          response_types_supported: ['code'],
          subject_types_supported: ['public'],
          id_token_signing_alg_values_supported: ['RS256'],
        });
      case '/jwks':
        return json(200, { keys: [{ ...(await exportJWK(keys.publicKey)), kid: '1', alg: 'RS256', use: 'sig' }] });
      case '/authorize':
        return void response.writeHead(302, { location: authorize(asked) }).end();
      case '/token': {
        const tokens = await token(request);
        return json(tokens === undefined ? 400 : 200, tokens ?? { error: 'invalid_grant' });
      }
      case '/userinfo':
        issuer.asked.push('userinfo');
        if (issuer.userInfo === undefined) response.setHeader('www-authenticate', 'Bearer error="invalid_token"');
        return json(issuer.userInfo === undefined ? 401 : 200, issuer.userInfo ?? {});
      default:
        return json(404, {});
    }
  };
  const server = createServer((request, response) => void serve(request, response));
  const loopback = await onLoopback(server);
  const { url } = loopback;
  return Object.assign(issuer, { sign, ...loopback });
}
