import {
  exportPKCS8,
  generateKeyPair,
  importPKCS8,
  importSPKI,
  type CryptoKey,
  calculateJwkThumbprint,
  exportJWK,
  type JWK,
  jwtVerify,
  SignJWT,
} from 'jose';
import { createPublicKey, randomBytes, randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { hasCode } from '../../kernel/errors.ts';
import { z } from 'zod';
import type { Clock } from '../../kernel/clock.ts';
import { ApiKeyFile, ApiKeyFileError, keyPaths } from './api-keys.ts';

/**
 * The RS256 key pair in a file (PKCS #8, PEM, readable by its owner only), created when missing. Tokens stay valid over restarts.
 * @throws the file system's error, or jose's for an invalid key
 */
export async function signingKeysIn(path: string): Promise<SigningKeys> {
  const pem = (await readIfThere(path)) ?? (await make(path));
  const publicPem = createPublicKey(pem).export({ type: 'spki', format: 'pem' }).toString();
  return { privateKey: await importPKCS8(pem, 'RS256'), publicKey: await importSPKI(publicPem, 'RS256', { extractable: true }) };
}

async function make(path: string): Promise<string> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const fresh = `${path}.${randomBytes(6).toString('hex')}`;
  await writeFile(fresh, await exportPKCS8(privateKey), { mode: 0o600, flag: 'wx' });
  try {
    // Unlike a rename, a link never replaces the key of a faster process.
    await link(fresh, path);
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  } finally {
    await rm(fresh, { force: true });
  }
  return readFile(path, 'utf8');
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

export interface SigningKeys {
  readonly privateKey: CryptoKey;
  readonly publicKey: CryptoKey;
}

/** Generates an RS256 key pair, in some hundred milliseconds of CPU. */
export async function newSigningKeys(): Promise<SigningKeys> {
  return generateKeyPair('RS256');
}

/** The services a token can be for: its audiences. */
export type TokenService = 'asr' | 'tts';

const tokenIssuer = 'offhook-platform';

/** The usual mistake is an API key instead of a token. */
const noToken = 'This is no access token: POST /api/auth/token of the token service gives one for an API key';

export interface TokenClaims {
  /** Id of the API key it was minted with; slots are counted by it. */
  readonly keyId: string;
  readonly scopes: readonly string[];
}

type TokenCheck =
  | { readonly type: 'valid'; readonly claims: TokenClaims }
  /** `reason` is for the client: it never contains the token. */
  | { readonly type: 'refused'; readonly reason: string };

const payloadSchema = z.object({ sub: z.string().min(1), scope: z.string().default('') });

/** All options except for the life are for tests, which need tokens the service never issues. */
interface MintOptions {
  readonly lifeSeconds: number;
  readonly scopes?: readonly TokenService[];
  readonly issuer?: string;
  readonly audience?: string;
}

/** Signs and checks access tokens with one RS256 key pair (platform doc, resources: access token). */
export class Tokens {
  readonly #privateKey: CryptoKey;
  readonly #publicKey: CryptoKey;
  readonly #keyId: string;
  readonly #publicJwk: JWK;
  readonly #clock: Clock;

  private constructor(keys: SigningKeys, publicJwk: JWK, keyId: string, clock: Clock) {
    this.#privateKey = keys.privateKey;
    this.#publicKey = keys.publicKey;
    this.#keyId = keyId;
    this.#publicJwk = publicJwk;
    this.#clock = clock;
  }

  /** Uses the given key pair, or a new one in memory. */
  static async create(clock: Clock, given?: SigningKeys): Promise<Tokens> {
    const keys = given ?? (await newSigningKeys());
    const publicJwk = await exportJWK(keys.publicKey);
    // The key id follows from the key, so that it stays the same after a restart (RFC 7638).
    return new Tokens(keys, publicJwk, await calculateJwkThumbprint(publicJwk), clock);
  }

  /** The public key as a JWK set (RFC 7517, section 5). */
  jwks(): { keys: JWK[] } {
    return { keys: [{ ...this.#publicJwk, kid: this.#keyId, alg: 'RS256', use: 'sig' }] };
  }

  /** @returns the token, and its expiry in whole seconds since the Unix epoch */
  async mint(keyId: string, options: MintOptions): Promise<{ token: string; expiresAtSeconds: number }> {
    const scopes = options.scopes ?? ['asr', 'tts'];
    const issuedAt = Math.floor(this.#clock.wallMs() / 1000);
    const expiresAtSeconds = issuedAt + options.lifeSeconds;
    const token = await new SignJWT({ scope: scopes.join(' ') })
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid: this.#keyId })
      .setIssuer(options.issuer ?? tokenIssuer)
      .setSubject(keyId)
      .setAudience(options.audience ?? ['asr', 'tts'])
      .setIssuedAt(issuedAt)
      .setNotBefore(issuedAt)
      .setExpirationTime(expiresAtSeconds)
      .setJti(randomUUID())
      .sign(this.#privateKey);
    return { token, expiresAtSeconds };
  }

  async check(token: string, service: TokenService): Promise<TokenCheck> {
    if (token.split('.').length !== 3) return { type: 'refused', reason: noToken };
    try {
      const { payload } = await jwtVerify(token, this.#publicKey, {
        algorithms: ['RS256'],
        issuer: tokenIssuer,
        audience: service,
        requiredClaims: ['sub', 'iat', 'exp'],
        currentDate: new Date(this.#clock.wallMs()),
      });
      const claims = payloadSchema.parse(payload);
      return { type: 'valid', claims: { keyId: claims.sub, scopes: claims.scope.split(' ').filter((scope) => scope !== '') } };
    } catch (error) {
      const expired = error instanceof Error && error.name === 'JWTExpired';
      return { type: 'refused', reason: expired ? 'The access token has expired' : 'The access token is not valid' };
    }
  }
}

/**
 * Mints a token for a stored key without its secret, as the vendor's console does (platform doc, overview).
 * @throws ApiKeyFileError when there is no such key, or it may not mint
 */
export async function consoleToken(
  dataDir: string,
  keyId: string,
  options: { readonly lifeSeconds: number; readonly clock: Clock },
): Promise<{ token: string; expiresAtSeconds: number }> {
  const paths = keyPaths(dataDir);
  const record = new ApiKeyFile(paths.apiKeys).find(keyId);
  if (record.revokedAt !== null) throw new ApiKeyFileError(`the API key ${keyId} was revoked`);
  if (!record.hasBalance) throw new ApiKeyFileError(`the account balance of the API key ${keyId} is too low`);
  const tokens = await Tokens.create(options.clock, await signingKeysIn(paths.signingKey));
  return tokens.mint(keyId, { lifeSeconds: options.lifeSeconds });
}
