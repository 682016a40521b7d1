// The platform that `measure.ts` measures, in a process of its own: prints its addresses and lives until stdin closes.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/kernel/clock.ts';
import { createEngines } from '../../src/platform/engines/engines.ts';
import { startPlatform } from '../../src/platform/server/start.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'offhook-bench-'));
const engines = await createEngines({
  cacheFolder: join(tmpdir(), 'offhook-recogniser-models'),
  vocabularyFolder: new URL('../../config/platform', import.meta.url).pathname,
  clock: systemClock,
});
const platform = await startPlatform({ basePort: 0, engines, clock: systemClock, dataDir });
const { authUrl, asrUrl, ttsUrl, apiKey } = platform;
process.stdout.write(`${JSON.stringify({ authUrl, asrUrl, ttsUrl, apiKey })}\n`);
process.stdin.resume();
process.stdin.once('end', () => {
  void platform
    .close()
    .then(() => Promise.all([engines.synthesis[Symbol.asyncDispose](), engines.recognition[Symbol.asyncDispose]()]))
    .finally(() => {
      rmSync(dataDir, { recursive: true, force: true });
      process.exit(0);
    });
});
