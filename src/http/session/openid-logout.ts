import { type JWTVerifyGetKey, jwtVerify } from 'jose';
import { z } from 'zod';

/** Who has signed out at the issuer: a session there, or all sessions of a person. */
export interface LogoutToken {
  readonly sub: string | undefined;
  readonly sid: string | undefined;
  /** Of this token, which counts once. */
  readonly jti: string;
  /** Seconds since the epoch after which it is refused. */
  readonly exp: number;
}

const EVENT = 'http://schemas.openid.net/event/backchannel-logout';
/** A token says something new: an older one was kept by somebody. */
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
 * Checks a logout token as OpenID Connect Back-Channel Logout 1.0, section 2.6, wants it.
 * @throws errors of jose and zod
 */
export async function readLogoutToken(
  token: string,
  keys: JWTVerifyGetKey,
  expected: { readonly issuer: string; readonly audience: string },
): Promise<LogoutToken> {
  const { payload, protectedHeader } = await jwtVerify(token, keys, {
    ...expected,
    maxTokenAge: MOST_AGE_S,
    clockTolerance: CLOCKS_DIFFER_S,
  });
  // An ID token or an access token is none, whatever its claims.
  z.enum(['logout+jwt', 'JWT', 'jwt']).optional().parse(protectedHeader.typ);
  const { sub, sid, jti, iat } = logoutClaims.parse(payload);
  return { sub, sid, jti, exp: Math.ceil(iat + MOST_AGE_S + 2 * CLOCKS_DIFFER_S) };
}
