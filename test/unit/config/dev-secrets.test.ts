import { chmodSync, mkdtempSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { devSecretsPath, ensureDevSecrets, readDevSecrets } from '../../../src/config/dev-secrets.ts';

describe('ensureDevSecrets', () => {
  it('makes one secret that only its owner can read, and keeps it', () => {
    const dataDir = join(mkdtempSync(join(tmpdir(), 'offhook-dev-')), 'data');
    const made = ensureDevSecrets(dataDir).twilioAuthToken.reveal();
    expect(made).toMatch(/^[0-9a-f]{48}$/);
    expect(statSync(devSecretsPath(dataDir)).mode & 0o777).toBe(0o600);
    chmodSync(devSecretsPath(dataDir), 0o644);
    expect(ensureDevSecrets(dataDir).twilioAuthToken.reveal()).toBe(made);
    expect(readDevSecrets(dataDir).twilioAuthToken.reveal()).toBe(made);
    expect(statSync(devSecretsPath(dataDir)).mode & 0o777).toBe(0o600);
  });

  it('gives another machine another one', () => {
    const make = () => ensureDevSecrets(mkdtempSync(join(tmpdir(), 'offhook-dev-'))).twilioAuthToken.reveal();
    expect(make()).not.toBe(make());
  });
});
