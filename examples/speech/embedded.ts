import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startPlatformProcess } from '../../src/cli/platform-process.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLogger } from '../../src/observability/logger.ts';
// In a project of your own: import { SpeechPlatform } from 'offhook/speech';
import { SpeechPlatform } from '../../src/speech/index.ts';

/** Runs a program against a speech platform that is started for it on free loopback ports, and stopped after it. */
export async function withPlatform(program: (speech: SpeechPlatform) => Promise<void>): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'offhook-example-'));
  try {
    await using platform = await startPlatformProcess({
      port: 0,
      profile: 'plain',
      dataDir,
      vocabularyFolder: fileURLToPath(new URL('../../config/platform', import.meta.url)),
      clock: systemClock,
      logger: silentLogger,
      startTimeoutMs: 120_000,
    });
    await using speech = new SpeechPlatform({ ...platform.urls, apiKey: platform.apiKey });
    await program(speech);
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}
