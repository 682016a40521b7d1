import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';
import { startGateway } from '../../../src/hosts/app.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { eventually } from '../../support/eventually.ts';

const launch = (): never => {
  throw new TypeError('a gateway without its port starts no process');
};

it.each([
  { calls: 'one process', processes: undefined },
  { calls: 'media processes', processes: { size: 2, launch, platform: undefined } },
])('leaves nothing open after its port was taken, with calls in $calls', async ({ processes }) => {
  const other = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => other.once('listening', resolve));
  const dataDir = mkdtempSync(join(tmpdir(), 'offhook-failed-start-'));
  const port = String((other.address() as AddressInfo).port);
  const env = { OFFHOOK_DATA_DIR: dataDir, OFFHOOK_HTTP__HOST: '127.0.0.1', OFFHOOK_PORT: port, OFFHOOK_LOG__LEVEL: 'error' };
  const nowhere = { authUrl: 'http://127.0.0.1:9', asrUrl: 'ws://127.0.0.1:9', ttsUrl: 'http://127.0.0.1:9', apiKey: 'none' };
  const before = threads();
  try {
    const started = startGateway({
      config: loadConfig({ env, files: [] }),
      bots: [],
      speech: nowhere,
      clock: systemClock,
      logger: silentLogger,
      worker: true,
      processes,
    });
    await expect(started).rejects.toMatchObject({ code: 'OFFHOOK_GATEWAY_PORT' });
    expect(socketsIn(join(dataDir, 'run'))).toEqual([]);
    // Those of files that ran before in this process may still end.
    await eventually('the end of its threads', () => threads() <= before);
  } finally {
    other.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
});

/** How many ends of threads this process holds. */
function threads(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === 'MessagePort' || kind === 'Worker').length;
}

/** Sockets of the store and of live news, which another process could still reach. */
function socketsIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isSocket() ? [entry.name] : []));
}
