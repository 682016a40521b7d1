import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { requireConfiguration } from '../../src/cli/setup/configuration.ts';
import { speechSource } from '../../src/cli/setup/speech-settings.ts';
import { silentLogger } from '../../src/observability/logger.ts';
// In a project of your own: import { SpeechPlatform } from 'offhook/speech';
import { SpeechPlatform } from '../../src/speech/index.ts';

/**
 * Runs a program against the speech platform that the settings name (`OFFHOOK_ASR_URL` and the like), or against one that
 * is started for it on free loopback ports, and stopped after it.
 */
export async function withPlatform(program: (speech: SpeechPlatform) => Promise<void>): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'offhook-example-'));
  try {
    const { config } = requireConfiguration({ OFFHOOK_DATA_DIR: dataDir, OFFHOOK_PLATFORM_PORT: '0' });
    await using source = await speechSource(config, silentLogger, new AbortController().signal);
    await using speech = new SpeechPlatform(source.settings);
    await program(speech);
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}
