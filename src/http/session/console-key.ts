import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EncryptJWT, errors, type JWTPayload, jwtDecrypt } from 'jose';
import { z } from 'zod';
import { makeOnce } from '../../config/own-secrets.ts';
import { hasCode } from '../../kernel/errors.ts';
import { ROLES, type Role } from './session-views.ts';

/** A user of the console. */
export interface ConsoleUser {
  readonly name: string;
  readonly role: Role;
  /** The member whom a link was made for: their name and role are looked up when it is used. */
  readonly member?: string | undefined;
}

/** Purpose of a sealed text; one of another kind is refused. */
type Kind = 'session' | 'openid' | 'link';

const SEALED = { alg: 'dir', enc: 'A256GCM' } as const;
const ISSUER = 'offhook console';
/** Life of a sign-in link, which works once. */
export const LINK_LIFE_MS = 15 * 60_000;
const linkFile = z.object({ name: z.string(), role: z.enum(ROLES), member: z.string().optional(), untilMs: z.number() });

/** Spent ids: of a data folder, or `SpentIds` of all machines. */
interface UsedUp {
  isSpent(id: string): Promise<boolean>;
  spend(id: string, untilWallMs: number, nowMs: number): Promise<boolean>;
}

/**
 * The key that seals sessions, and the spent ids. Belongs to a data folder, readable by its owner only and shared by its processes, or to several
 * machines. The key allows signing in as anyone.
 */
export class ConsoleKey {
  readonly #key: Uint8Array;
  readonly #spent: UsedUp;

  /** @param key 32 bytes; shared, like the spent ids, by machines that serve one address */
  constructor(key: Uint8Array, spent: UsedUp) {
    this.#key = key;
    this.#spent = spent;
  }

  /** The key of a data folder, made on first use. @throws the file system's error */
  static ensure(dataDir: string): ConsoleKey {
    const folder = join(dataDir, 'console');
    const spentFolder = join(folder, 'spent');
    mkdirSync(spentFolder, { recursive: true, mode: 0o700 });
    const path = join(folder, 'key');
    makeOnce(path, () => `${randomBytes(32).toString('base64')}\n`);
    return new ConsoleKey(Buffer.from(readFileSync(path, 'utf8').trim(), 'base64'), new SpentFolder(spentFolder));
  }

  /** The key of several machines; written to the data folder for `offhook console`. @throws the file system's error */
  static shared(dataDir: string, key: Uint8Array, spent: UsedUp): ConsoleKey {
    const folder = join(dataDir, 'console');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const [path, written] = [join(folder, 'key'), join(folder, `key.${randomUUID()}`)];
    writeFileSync(written, `${Buffer.from(key).toString('base64')}\n`, { mode: 0o600, flag: 'wx', flush: true });
    renameSync(written, path);
    return new ConsoleKey(key, spent);
  }

  /** @param claims encrypted */
  seal(kind: Kind, claims: JWTPayload, { nowMs, lifeMs }: { readonly nowMs: number; readonly lifeMs: number }): Promise<string> {
    return new EncryptJWT(claims)
      .setProtectedHeader(SEALED)
      .setIssuer(ISSUER)
      .setAudience(kind)
      .setJti(randomUUID())
      .setIssuedAt(new Date(nowMs))
      .setExpirationTime(new Date(nowMs + lifeMs))
      .encrypt(this.#key);
  }

  /** @returns undefined for a text not sealed here as this kind, expired or spent */
  async open(kind: Kind, sealed: string, nowMs: number): Promise<(JWTPayload & { jti: string; exp: number }) | undefined> {
    try {
      const { payload } = await jwtDecrypt(sealed, this.#key, {
        issuer: ISSUER,
        audience: kind,
        currentDate: new Date(nowMs),
        requiredClaims: ['jti', 'exp'],
        keyManagementAlgorithms: [SEALED.alg],
        contentEncryptionAlgorithms: [SEALED.enc],
      });
      const { jti = '', exp = 0 } = payload;
      return (await this.isSpent({ jti, exp })) ? undefined : { ...payload, jti, exp };
    } catch (error) {
      if (error instanceof errors.JOSEError || error instanceof TypeError) return undefined;
      throw error;
    }
  }

  /** Whether it is spent. All processes know until it expires. */
  isSpent({ jti, exp }: { readonly jti: string; readonly exp: number }): Promise<boolean> {
    return this.#spent.isSpent(idOf(jti, exp));
  }

  /**
   * Spends an opened text for all processes and restarts.
   * @returns false when already spent
   */
  spend({ jti, exp }: { readonly jti: string; readonly exp: number }, nowMs: number): Promise<boolean> {
    return this.#spent.spend(idOf(jti, exp), exp * 1000, nowMs);
  }
}

/** An id that begins with its expiry in seconds. */
function idOf(jti: string, exp: number): string {
  return `${exp}.${jti}`;
}

/** Spent ids as files, for all processes with the data folder, and after restarts. */
class SpentFolder implements UsedUp {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async isSpent(id: string): Promise<boolean> {
    return existsSync(join(this.#folder, id));
  }

  async spend(id: string, _untilWallMs: number, nowMs: number): Promise<boolean> {
    for (const name of readdirSync(this.#folder))
      // Expired: refused by its time from now on.
      if (Number(name.split('.')[0]) * 1000 < nowMs) rmSync(join(this.#folder, name), { force: true });
    try {
      writeFileSync(join(this.#folder, id), '', { flag: 'wx', flush: true });
      return true;
    } catch (error) {
      if (hasCode(error, 'EEXIST')) return false;
      throw error;
    }
  }
}

/** Unused sign-in links as files, named by the hash of the code. Any process with the data folder makes and uses them. */
export class SignInLinks {
  readonly #folder: string;

  constructor(dataDir: string) {
    this.#folder = join(dataDir, 'console', 'links');
  }

  /** @returns the code, for `/console#code=…`. @throws the file system's error */
  make({ name, role, member }: ConsoleUser, nowMs: number): string {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    for (const file of readdirSync(this.#folder)) if (!this.#read(file, nowMs)) rmSync(join(this.#folder, file), { force: true });
    const code = randomBytes(24).toString('base64url');
    const link: z.input<typeof linkFile> = { name, role, member, untilMs: nowMs + LINK_LIFE_MS };
    writeFileSync(join(this.#folder, hashOf(code)), JSON.stringify(link), { mode: 0o600, flag: 'wx', flush: true });
    return code;
  }

  /** Uses a link up. @returns the user to sign in; undefined for an unknown, used or expired link */
  use(code: string, nowMs: number): ConsoleUser | undefined {
    const file = hashOf(code);
    const link = this.#read(file, nowMs);
    try {
      // Only one of several readers removes it.
      if (link !== undefined) unlinkSync(join(this.#folder, file));
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return undefined;
      throw error;
    }
    return link;
  }

  #read(file: string, nowMs: number): ConsoleUser | undefined {
    try {
      const { untilMs, ...user } = linkFile.parse(JSON.parse(readFileSync(join(this.#folder, file), 'utf8')));
      return untilMs > nowMs ? user : undefined;
    } catch {
      return undefined;
    }
  }
}

const linkClaims = z.object({ sub: z.string(), role: z.enum(ROLES), member: z.string().optional() });

/** Links for several machines: each holds its user, sealed, so that any machine can use it. */
export class SealedLinks {
  readonly #key: ConsoleKey;

  constructor(key: ConsoleKey) {
    this.#key = key;
  }

  /** @returns the code, for `/console#code=…` */
  make({ name, role, member }: ConsoleUser, nowMs: number): Promise<string> {
    return this.#key.seal(
      'link',
      { sub: name, role, ...(member === undefined ? {} : { member }) },
      { nowMs, lifeMs: LINK_LIFE_MS },
    );
  }

  /** Uses a link up. @returns the user to sign in; undefined for an unknown, used or expired link */
  async use(code: string, nowMs: number): Promise<ConsoleUser | undefined> {
    const opened = await this.#key.open('link', code, nowMs);
    const claims = linkClaims.safeParse(opened);
    if (opened === undefined || !claims.success || !(await this.#key.spend(opened, nowMs))) return undefined;
    const { sub: name, ...user } = claims.data;
    return { name, ...user };
  }
}

function hashOf(code: string): string {
  return createHash('sha256').update(code).digest('hex');
}
