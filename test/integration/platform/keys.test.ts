import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { consoleToken, signingKeysIn } from '../../../src/platform/keys/tokens.ts';
import { ApiKeyFile, keyPaths } from '../../../src/platform/keys/api-keys.ts';
import { startTestPlatform, type TestPlatform } from './setup.ts';

describe('API keys in a file', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'offhook-keys-'));
  const paths = keyPaths(dataDir);
  /** As the command line opens it, apart from the platform's own. */
  const file = new ApiKeyFile(paths.apiKeys);
  let test: TestPlatform;

  beforeAll(async () => {
    const signingKeys = await signingKeysIn(paths.signingKey);
    test = await startTestPlatform({ signingKeys, keyFile: new ApiKeyFile(paths.apiKeys) });
  });
  afterAll(async () => {
    await test[Symbol.asyncDispose]();
    rmSync(dataDir, { recursive: true, force: true });
  });

  async function mint(secret: string): Promise<{ status: number; detail: string }> {
    const response = await fetch(`${test.platform.authUrl}/api/auth/token`, { method: 'POST', headers: { 'api-key': secret } });
    const body = (await response.json()) as { detail?: string };
    return { status: response.status, detail: body.detail ?? '' };
  }

  it('mints with a key made while the platform runs, until that is revoked [8]', async () => {
    const { record, secret } = await file.create({ nowMs: systemClock.wallMs(), hasBalance: true });
    expect(await mint(secret)).toMatchObject({ status: 200 });
    await file.revoke(record.id, systemClock.wallMs());
    expect(await mint(secret)).toEqual({ status: 403, detail: 'The API key was revoked' });
    const languages = await fetch(`${test.platform.asrAltUrl}/languages`, { headers: { authorization: `Bearer ${secret}` } });
    expect(languages.status).toBe(401);
  });

  it('stores no secret: it is shown at creation only [18]', async () => {
    const { record, secret } = await file.create({ nowMs: systemClock.wallMs(), hasBalance: true });
    expect(readFileSync(paths.apiKeys, 'utf8')).not.toContain(secret);
    expect(JSON.stringify(new ApiKeyFile(paths.apiKeys).records())).not.toContain(secret);
    expect(new ApiKeyFile(paths.apiKeys).find(record.id)).toEqual(record);
  });

  it('answers 403 for a key whose account is out of balance [9]', async () => {
    const { secret } = await file.create({ nowMs: systemClock.wallMs(), hasBalance: false });
    expect(await mint(secret)).toEqual({ status: 403, detail: 'The account balance is too low' });
  });

  it('serves a token of the console like a minted one [19]', async () => {
    const { record } = await file.create({ nowMs: systemClock.wallMs(), hasBalance: true });
    const { token } = await consoleToken(dataDir, record.id, { lifeSeconds: 900, clock: systemClock });
    const response = await fetch(`${test.platform.ttsUrl}/v1/audio/speech`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'zero-indic', input: 'Hello', voice: 'Rajesh' }),
    });
    expect(response.status).toBe(200);
    await response.arrayBuffer();
    const jwks = createRemoteJWKSet(new URL('/.well-known/jwks.json', test.platform.authUrl));
    expect((await jwtVerify(token, jwks)).payload.sub).toBe(record.id);
    await file.revoke(record.id, systemClock.wallMs());
    await expect(consoleToken(dataDir, record.id, { lifeSeconds: 900, clock: systemClock })).rejects.toThrow('was revoked');
  });

  it('loses no key and no revocation of commands that run at once', async () => {
    const opened = Array.from({ length: 16 }, () => new ApiKeyFile(paths.apiKeys));
    const made = await Promise.all(opened.map((each, nowMs) => each.create({ nowMs, hasBalance: true })));
    const ids = made.map(({ record }) => record.id);
    expect(file.records().map(({ id }) => id)).toEqual(expect.arrayContaining(ids));
    const [first, ...others] = ids;
    await Promise.all([
      ...opened.map((each, nowMs) => each.revoke(first!, nowMs)),
      ...opened.map((each) => each.create({ nowMs: 0, hasBalance: true })),
    ]);
    expect(file.find(first!).revokedAt).not.toBeNull();
    expect(others.filter((id) => file.find(id).revokedAt !== null)).toEqual([]);
    expect(file.records()).toHaveLength(new Set(file.records().map(({ id }) => id)).size);
    // Revoked once more, a key keeps its time.
    const { revokedAt } = file.find(first!);
    expect((await file.revoke(first!, systemClock.wallMs())).revokedAt).toBe(revokedAt);
  });

  it('leaves out a line that is still being written, and refuses one that is none', async () => {
    const path = join(dataDir, 'torn.jsonl');
    const torn = new ApiKeyFile(path);
    const { record } = await torn.create({ nowMs: 0, hasBalance: true });
    appendFileSync(path, '{"id":"key_1","pre');
    expect(torn.records()).toEqual([record]);
    await torn.create({ nowMs: 0, hasBalance: true });
    expect(() => torn.records()).toThrow('line 3 of the file');
  });

  it('it keeps the files for their owner alone, and the signing key as it is', async () => {
    await file.create({ nowMs: systemClock.wallMs(), hasBalance: true });
    const pem = readFileSync(paths.signingKey, 'utf8');
    await signingKeysIn(paths.signingKey);
    expect(readFileSync(paths.signingKey, 'utf8')).toBe(pem);
    expect(statSync(paths.signingKey).mode & 0o777).toBe(0o600);
    expect(statSync(paths.apiKeys).mode & 0o777).toBe(0o600);
  });
});
