import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A certificate for 127.0.0.1 that nobody signed but itself. */
export interface Certificate {
  readonly key: Buffer;
  readonly cert: Buffer;
  /** For `NODE_EXTRA_CA_CERTS`, by which a Node process trusts it. */
  readonly file: string;
}

/**
 * Makes a certificate for a run with `openssl`; its files are removed when this process ends.
 * @throws Error where that cannot be done
 */
export function makeCertificate(): Certificate {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-certificate-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const [keyFile, file] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1'];
  const name = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const { status, stderr, error } = spawnSync('openssl', ['req', ...kind, ...name, '-keyout', keyFile, '-out', file], {
    encoding: 'utf8',
  });
  if (error !== undefined) throw new Error('openssl, which makes the certificate, could not be run', { cause: error });
  if (status !== 0) throw new Error(`openssl ended with ${status}: ${stderr}`);
  return { key: readFileSync(keyFile), cert: readFileSync(file), file };
}
