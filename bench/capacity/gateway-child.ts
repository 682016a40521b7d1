// The gateway that is measured, alone in its process, with recording, timeline and metrics on as they are by default.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startGateway } from '../../src/hosts/app.ts';
import { loadBots } from '../../src/config/bot-files.ts';
import { readDevSecret } from '../../src/config/dev-secrets.ts';
import { loadConfig } from '../../src/config/load.ts';
import { API_KEYS_FILE, API_SCOPES, ApiKeys } from '../../src/http/api/system/api-keys.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { createLogger } from '../../src/observability/logger.ts';
import type { SpeechPlatformSettings } from '../../src/speech/platform.ts';
import { serveOrders } from './child.ts';
import { ASTERISK_PASSWORD } from './media-wires.ts';

serveOrders(async (speech: SpeechPlatformSettings) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'offhook-capacity-'));
  const env = {
    OFFHOOK_DATA_DIR: dataDir,
    OFFHOOK_PORT: '0',
    OFFHOOK_ASTERISK_PASSWORD: ASTERISK_PASSWORD,
    OFFHOOK_CALL__MAXIMUM: '10000',
    // How late the loop was is measured, and no reason to refuse what is measured.
    OFFHOOK_CALL__REFUSE_LAG_MS: '60000',
    OFFHOOK_HTTP__PENDING_STREAMS_PER_ADDRESS: '10000',
  };
  const config = loadConfig({ env, files: [] });
  const { bots, problems } = loadBots(new URL('bots', import.meta.url).pathname);
  if (problems.length > 0 || config.problems.length > 0) throw new Error(JSON.stringify([...problems, ...config.problems]));
  const gateway = await startGateway({
    config,
    bots,
    speech,
    clock: systemClock,
    logger: createLogger({ level: 'error', stream: process.stderr }),
    worker: false,
  });
  await gateway.prepared;
  const keys = new ApiKeys(join(dataDir, API_KEYS_FILE));
  const { secret: apiKey } = keys.create({ name: 'bench', tenantId: 'default', scopes: [...API_SCOPES] }, systemClock.wallMs());
  return {
    url: gateway.url,
    authToken: readDevSecret(dataDir, 'twilio', 'authToken').reveal(),
    apiKey,
    facts: async () => {
      const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
      const starvedByGateway = Number(/offhook_underruns_total\{cause="gateway"\} (\d+)/u.exec(metrics)?.[1] ?? 0);
      return { live: gateway.calls.active, starvedByGateway };
    },
    close: async () => {
      await gateway.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
});
