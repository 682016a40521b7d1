import { chmodSync, mkdirSync, mkdtempSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { devSecretsPath, ensureDevSecret, readDevSecret } from '../../../src/config/own-secrets.ts';

const folder = (): string => join(mkdtempSync(join(tmpdir(), 'offhook-dev-')), 'data');
const of = (dataDir: string, carrier = 'twilio'): string => ensureDevSecret(dataDir, carrier, 'authToken').reveal();

describe('ensureDevSecret', () => {
  it('makes one secret that only its owner can read, and keeps it', () => {
    const dataDir = folder();
    const made = of(dataDir);
    expect(made).toMatch(/^[0-9a-f]{48}$/);
    expect(statSync(devSecretsPath(dataDir)).mode & 0o777).toBe(0o600);
    chmodSync(devSecretsPath(dataDir), 0o644);
    expect(of(dataDir)).toBe(made);
    expect(readDevSecret(dataDir, 'twilio', 'authToken').reveal()).toBe(made);
    expect(statSync(devSecretsPath(dataDir)).mode & 0o777).toBe(0o600);
  });

  it('gives another machine another one', () => {
    expect(of(folder())).not.toBe(of(folder()));
  });

  it('gives a carrier that came later one of its own, the same in every process', () => {
    const dataDir = folder();
    mkdirSync(dataDir);
    writeFileSync(devSecretsPath(dataDir), JSON.stringify({ twilioAuthToken: 'x'.repeat(48) }));
    expect(of(dataDir)).toBe('x'.repeat(48));
    const other = of(dataDir, 'other');
    expect(other).toMatch(/^[0-9a-f]{64}$/);
    expect(readDevSecret(dataDir, 'other', 'authToken').reveal()).toBe(other);
  });
});
