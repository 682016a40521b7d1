import { type JWTVerifyGetKey, jwtVerify } from 'jose';
import { z } from 'zod';

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
  // ID tokens and access tokens are excluded, whatever their claims.
  z.enum(['logout+jwt', 'JWT', 'jwt']).optional().parse(protectedHeader.typ);
  const { sub, sid, jti, iat } = logoutClaims.parse(payload);
  return { sub, sid, jti, exp: Math.ceil(iat + MOST_AGE_S + 2 * CLOCKS_DIFFER_S) };
}
