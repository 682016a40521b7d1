import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** No dependency of this project: installed for a run, into a folder that is removed after it. */
const PACKAGES = ['@openai/agents-extensions@0.18.0', '@openai/agents@0.18.0', 'ws@8.23.0', 'zod@4.6.7'];
const MODULE = `export { TwilioRealtimeTransportLayer } from '@openai/agents-extensions';
export { RealtimeAgent, RealtimeSession } from '@openai/agents/realtime';
`;
const INSTALLED_WITHIN_MS = 180_000;

/** Where the peer was installed, or why it was not. */
export type Peer = { readonly module: string } | { readonly missing: string };

/** Installs the peer. No script of a package is run. */
export function installPeer(): Peer {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-peer-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}');
  // Of the peers of the peer only these are used; the rest is for other places to run in.
  const options = ['--ignore-scripts', '--legacy-peer-deps', '--no-audit', '--no-fund', '--loglevel=error'];
  const { status, stderr, error } = spawnSync('npm', ['install', ...options, ...PACKAGES], {
    cwd: folder,
    encoding: 'utf8',
    timeout: INSTALLED_WITHIN_MS,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  if (error !== undefined) return { missing: `npm: ${error.message}` };
  if (status !== 0) return { missing: `npm ended with ${status}: ${stderr.trim().split('\n').at(-1) ?? ''}` };
  const module = join(folder, 'peer.js');
  writeFileSync(module, MODULE);
  return { module };
}
