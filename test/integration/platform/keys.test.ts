import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { consoleToken } from '../../../src/platform/keys/console-token.ts';
import { ApiKeyFile } from '../../../src/platform/keys/key-file.ts';
import { keyPaths } from '../../../src/platform/keys/key-paths.ts';
import { signingKeysIn } from '../../../src/platform/keys/signing-key-file.ts';
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

  it('keeps no secret: one is seen at creation and never again [18]', async () => {
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

  it('it keeps the files for their owner alone, and the signing key as it is', async () => {
    await file.create({ nowMs: systemClock.wallMs(), hasBalance: true });
    const pem = readFileSync(paths.signingKey, 'utf8');
    await signingKeysIn(paths.signingKey);
    expect(readFileSync(paths.signingKey, 'utf8')).toBe(pem);
    expect(statSync(paths.signingKey).mode & 0o777).toBe(0o600);
    expect(statSync(paths.apiKeys).mode & 0o777).toBe(0o600);
  });
});
