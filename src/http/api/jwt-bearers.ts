import { createRemoteJWKSet, errors, type JWTPayload, jwtVerify, type JWTVerifyGetKey } from 'jose';
import type { Settings } from '../../config/schema.ts';
import type { Clock } from '../../kernel/clock.ts';
import { isStorable } from '../../records/record.ts';
import { RequestRefused } from '../problem.ts';
import { API_SCOPES, type Principal } from './system/api-keys.ts';

/** Why a token was refused; the text is for the client, and quotes nothing of the token. */
interface TokenRefused {
  readonly refused: string;
}

/** Asymmetric signatures only; shared secrets and unsigned tokens are excluded. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'];
const KEYS_WITHIN_MS = 5000;
/** Least interval between reloads of the key document for an unknown key. */
const COOLDOWN_MS = 30_000;

export interface JwtBearersOptions {
  readonly settings: Settings['jwt'];
  readonly clock: Clock;
  /** The same as an option, in ms; 30,000 when absent. */
  readonly cooldownMs?: number;
}

/** Bearer tokens in place of API keys: issued for us by the trusted issuer, and signed by a key of its JWKS document. */
export class JwtBearers {
  readonly #options: JwtBearersOptions;
  readonly #keys: JWTVerifyGetKey;

  private constructor(options: JwtBearersOptions, keys: JWTVerifyGetKey) {
    this.#options = options;
    this.#keys = keys;
  }

  /** @returns undefined without a configured issuer */
  static from(options: JwtBearersOptions): JwtBearers | undefined {
    const { jwksUri, issuer, audience } = options.settings;
    if (jwksUri === undefined || issuer === undefined || audience === undefined) return undefined;
    const times = { timeoutDuration: KEYS_WITHIN_MS, cooldownDuration: options.cooldownMs ?? COOLDOWN_MS };
    return new JwtBearers(options, orUnavailable(createRemoteJWKSet(new URL(jwksUri), times)));
  }

  /** Whether a bearer has the form of a token, not of an API key. */
  static isToken(bearer: string): boolean {
    return /^[\w-]+\.[\w-]*\.[\w-]*$/u.test(bearer);
  }

  /** @throws RequestRefused 503 when the issuer's keys are unavailable */
  async verify(token: string): Promise<Principal | TokenRefused> {
    const { settings, clock } = this.#options;
    const { issuer, audience } = settings;
    try {
      const { payload } = await jwtVerify(token, this.#keys, {
        ...(issuer === undefined ? {} : { issuer }),
        ...(audience === undefined ? {} : { audience }),
        algorithms: ALGORITHMS,
        clockTolerance: settings.toleranceSeconds,
        currentDate: new Date(clock.wallMs()),
        requiredClaims: ['iss', 'aud', 'exp'],
      });
      return this.#principalOf(payload);
    } catch (error) {
      if (error instanceof RequestRefused) throw error;
      return { refused: reasonOf(error) };
    }
  }

  #principalOf(payload: JWTPayload): Principal | TokenRefused {
    const { tenantClaim, scopesClaim } = this.#options.settings;
    const tenantId = payload[tenantClaim];
    if (typeof tenantId !== 'string' || tenantId === '' || tenantId.length > 200 || !isStorable(tenantId))
      return { refused: 'it names no tenant' };
    const claimed = payload[scopesClaim];
    const named: readonly unknown[] = typeof claimed === 'string' ? claimed.split(' ') : Array.isArray(claimed) ? claimed : [];
    // Other applications' scopes in the token are ignored.
    const scopes = API_SCOPES.filter((scope) => named.includes(scope));
    return { id: `jwt ${JSON.stringify([tenantId, payload.sub])}`, tenantId, scopes };
  }
}

/** Distinguishes an unreachable issuer from a token without a matching key. */
function orUnavailable(keys: JWTVerifyGetKey): JWTVerifyGetKey {
  return async (header, token) => {
    try {
      return await keys(header, token);
    } catch (error) {
      if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys) throw error;
      throw new RequestRefused(503, "The token cannot be checked now: its issuer's keys cannot be had.", { cause: error });
    }
  };
}

function reasonOf(error: unknown): string {
  if (error instanceof errors.JWTExpired) return 'it has expired';
  if (error instanceof errors.JOSEAlgNotAllowed) return 'its algorithm is not accepted';
  if (error instanceof errors.JWKSNoMatchingKey) return 'no key of its issuer fits it';
  if (error instanceof errors.JWKSMultipleMatchingKeys) return 'several keys of its issuer fit it: it needs a kid';
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'its signature is wrong';
  if (error instanceof errors.JWTClaimValidationFailed) return CLAIMS[error.claim] ?? 'a claim is wrong';
  return 'it is no signed token';
}

const CLAIMS: Readonly<Record<string, string>> = {
  aud: 'it is for another audience',
  iss: 'it is by another issuer',
  exp: 'it has no end',
  nbf: 'it is not valid yet',
};
