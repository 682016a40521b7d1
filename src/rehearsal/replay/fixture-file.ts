import { z } from 'zod';
import { seal, unseal } from '../../records/privacy/seal.ts';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline, Readable } from 'node:stream';
import { promisify } from 'node:util';
import { constants, createGunzip, gunzip, gzip } from 'node:zlib';
import { hasCode, errorText, OffhookError } from '../../kernel/errors.ts';
import { readFileParts } from '../../kernel/file-streams.ts';
import { reserveFile, writeFileAtomic } from '../../kernel/temporary.ts';
import { type CallFixture, FIXTURE_VERSION, fixtureBody, type FixtureHeader, fixtureHeader } from './fixture.ts';

/**
 * Gives the key of a call's sound.
 * @param make whether to create a missing one
 * @returns undefined for an erased call, or one without a key
 */
export type FixtureKey = (tenantId: string, callId: string, make: boolean) => Promise<Uint8Array | undefined>;

/** The readable part of a sealed fixture: its owner and expiry. */
const sealedHeader = z.object({
  format: z.literal('offhook-sealed-fixture'),
  version: z.literal(1),
  tenantId: z.string(),
  callId: z.string(),
  expiresAtMs: z.number().nullable(),
});

type SealedHeader = z.infer<typeof sealedHeader>;

export const SEALED_SUFFIX = '.fixture.sealed';
const NEWLINE = 0x0a;

/** @param file a fixture in plain form. @returns a line of JSON, followed by the sealed bytes */
export function sealFixture(key: Uint8Array, about: Omit<SealedHeader, 'format' | 'version'>, file: Uint8Array): Uint8Array {
  const header = JSON.stringify({ format: 'offhook-sealed-fixture', version: 1, ...about } satisfies SealedHeader);
  return Buffer.concat([Buffer.from(`${header}\n`), seal(key, aboutOf(header), file)]);
}

/** @throws StoreKeyError for a wrong key, or a changed file, first line included */
function openFixture(key: Uint8Array, sealed: Uint8Array): Uint8Array {
  const headerEnd = sealed.indexOf(NEWLINE);
  const header = Buffer.from(sealed.subarray(0, headerEnd)).toString('utf8');
  return unseal(key, aboutOf(header), sealed.subarray(headerEnd + 1));
}

/** A gzip file begins differently. */
function isSealed(file: Uint8Array): boolean {
  return file[0] === '{'.charCodeAt(0);
}

function aboutOf(header: string): string {
  return JSON.stringify(['fixture', header]);
}

/** A file is not a fixture of this version. */
export class FixtureInvalidError extends OffhookError {
  readonly code = 'OFFHOOK_FIXTURE_INVALID';
  readonly retryable = false;
}

/** A fixture has expired, or its call was erased. */
export class FixtureExpiredError extends OffhookError {
  readonly code = 'OFFHOOK_FIXTURE_EXPIRED';
  readonly retryable = false;
}

const SUFFIX = '.fixture.gz';
/** Half an hour of both sides, and its log. */
const MOST_BYTES = 128 * 1024 * 1024;

/** One gzip file: a line of JSON with the expiry, a line with the rest, then the raw audio, the caller's before the bot's. */
export async function encodeFixture({ expiresAtMs, callerAudio, botAudio, ...body }: CallFixture): Promise<Uint8Array> {
  const sizes = { callerBytes: callerAudio.length, botBytes: botAudio.length };
  const header: FixtureHeader = { format: 'offhook-call-fixture', version: FIXTURE_VERSION, expiresAtMs, ...sizes };
  const text = `${JSON.stringify(header)}\n${JSON.stringify(body)}\n`;
  return promisify(gzip)(Buffer.concat([Buffer.from(text), callerAudio, botAudio]), { level: constants.Z_BEST_COMPRESSION });
}

/**
 * @param nowWallMs current time
 * @throws FixtureExpiredError before more than the header is read, FixtureInvalidError
 */
export async function decodeFixture(file: Uint8Array, nowWallMs: number): Promise<CallFixture> {
  let bytes: Buffer;
  try {
    bytes = await promisify(gunzip)(file, { maxOutputLength: MOST_BYTES });
  } catch (error) {
    throw new FixtureInvalidError(`the file is no fixture: ${errorText(error)}`, { cause: error });
  }
  const headerEnd = bytes.indexOf(NEWLINE);
  const header = parse(fixtureHeader, bytes.subarray(0, headerEnd), 'header');
  mustBeAlive(header.expiresAtMs, nowWallMs);
  const bodyEnd = bytes.indexOf(NEWLINE, headerEnd + 1);
  const body = parse(fixtureBody, bytes.subarray(headerEnd + 1, bodyEnd), 'body');
  const audio = bytes.subarray(bodyEnd + 1);
  if (audio.length !== header.callerBytes + header.botBytes) throw new FixtureInvalidError('the fixture was cut short');
  const [callerAudio, botAudio] = [audio.subarray(0, header.callerBytes), audio.subarray(header.callerBytes)];
  return { ...body, expiresAtMs: header.expiresAtMs, callerAudio, botAudio };
}

/** For readers of plain files only. */
const NO_KEY: FixtureKey = async () => undefined;

/**
 * @param keyOf gives the key of a sealed file
 * @throws FixtureExpiredError, FixtureInvalidError, StoreKeyError, and what the file system and `keyOf` throw
 */
export async function readFixture(path: string, nowWallMs: number, keyOf: FixtureKey = NO_KEY): Promise<CallFixture> {
  return decodeFixture(await plainFixture(await readFile(path), nowWallMs, keyOf), nowWallMs);
}

/** A fixture's bytes in plain form. @throws as `readFixture` does for a sealed file */
export async function plainFixture(file: Uint8Array, nowWallMs: number, keyOf: FixtureKey): Promise<Uint8Array> {
  if (!isSealed(file)) return file;
  const { tenantId, callId, expiresAtMs } = parse(sealedHeader, file.subarray(0, file.indexOf(NEWLINE)), 'header');
  mustBeAlive(expiresAtMs, nowWallMs);
  const key = await keyOf(tenantId, callId, false);
  if (key === undefined) throw new FixtureExpiredError('the call of this fixture was erased, or is in another store');
  return openFixture(key, file);
}

/** Writes a fixture readable by its owner only. @returns its path */
export async function writeFixture(folder: string, name: string, fixture: CallFixture): Promise<string> {
  const path = join(folder, `${name}${SUFFIX}`);
  await writeFileAtomic(path, await encodeFixture(fixture));
  return path;
}

/** A reserved place for a call's fixture; disposal releases it. */
export interface FixturePlace extends AsyncDisposable {
  /** @returns its path; undefined where the call was erased meanwhile. @throws errors of disk and store */
  keep(fixture: CallFixture): Promise<string | undefined>;
}

/**
 * Reserves the place of a call's fixture, which an erasure removes.
 * @param keyOf gives the key of the call's sound, under which the fixture is sealed; in plain where absent
 */
export async function reserveFixture(
  folder: string,
  { tenantId, callId }: { readonly tenantId: string; readonly callId: string },
  keyOf?: FixtureKey,
): Promise<FixturePlace> {
  const path = join(folder, `${callId}${keyOf === undefined ? SUFFIX : SEALED_SUFFIX}`);
  const file = await reserveFile(path);
  return {
    async keep(fixture) {
      let bytes = await encodeFixture(fixture);
      if (keyOf !== undefined) {
        const key = await keyOf(tenantId, callId, true);
        if (key === undefined) return undefined;
        bytes = sealFixture(key, { tenantId, callId, expiresAtMs: fixture.expiresAtMs }, bytes);
      }
      try {
        await file.replace(bytes);
        return path;
      } catch (error) {
        // An erasure removed the place.
        if (hasCode(error, 'ENOENT')) return undefined;
        throw error;
      }
    },
    [Symbol.asyncDispose]: () => file[Symbol.asyncDispose](),
  };
}

/**
 * Deletes the expired fixtures of a folder.
 * @param onProblem called for a file that cannot be read or deleted; the others are still processed
 * @returns how many were deleted
 */
export async function deleteExpiredFixtures(
  folder: string,
  nowWallMs: number,
  onProblem: (name: string, error: unknown) => void,
): Promise<number> {
  let deleted = 0;
  for (const name of await namesIn(folder)) {
    const path = join(folder, name);
    try {
      const expiresAtMs = await readExpiry(path);
      if (expiresAtMs === null || nowWallMs < expiresAtMs) continue;
      await rm(path, { force: true });
      deleted += 1;
    } catch (error) {
      onProblem(name, error);
    }
  }
  return deleted;
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return (await readdir(folder)).filter((name) => name.endsWith(SUFFIX) || name.endsWith(SEALED_SUFFIX));
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
}

/** Only reads the first line. */
async function readExpiry(path: string): Promise<number | null> {
  const sealed = path.endsWith(SEALED_SUFFIX);
  const stored = readFileParts(path);
  // Errors end the loop below.
  const text = sealed ? Readable.from(stored) : pipeline(stored, createGunzip(), () => undefined);
  try {
    let read = Buffer.alloc(0);
    for await (const chunk of text) {
      read = Buffer.concat([read, z.instanceof(Buffer).parse(chunk)]);
      if (read.includes(NEWLINE)) break;
    }
    const line = read.subarray(0, read.indexOf(NEWLINE));
    return (sealed ? parse(sealedHeader, line, 'header') : parse(fixtureHeader, line, 'header')).expiresAtMs;
  } finally {
    text.destroy();
  }
}

function mustBeAlive(expiresAtMs: number | null, nowWallMs: number): void {
  if (expiresAtMs !== null && nowWallMs >= expiresAtMs)
    throw new FixtureExpiredError(`the fixture expired on ${new Date(expiresAtMs).toISOString()}`);
}

function parse<Shape extends z.ZodType>(schema: Shape, line: Uint8Array, part: string): z.infer<Shape> {
  let document: unknown;
  try {
    document = JSON.parse(Buffer.from(line).toString('utf8'));
  } catch (error) {
    throw new FixtureInvalidError(`the fixture's ${part} is no JSON`, { cause: error });
  }
  const parsed = schema.safeParse(document);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new FixtureInvalidError(`the fixture's ${part} cannot be used: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`);
}
