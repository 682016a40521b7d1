import type { LoadedConfig } from '../config/load.ts';
import { usesEmbeddedPlatform } from '../config/load.ts';
import { systemClock } from '../kernel/clock.ts';
import type { Logger } from '../observability/logger.ts';
import type { SpeechPlatformSettings } from '../speech/platform.ts';
import { startPlatformProcess } from './platform-process.ts';
import { shippedFolder } from './configuration.ts';

export interface SpeechSource extends AsyncDisposable {
  readonly settings: SpeechPlatformSettings;
  readonly embedded: boolean;
}

/** The speech platform that the settings name; the embedded one, started and supervised, when they name none. */
export async function speechSource(config: LoadedConfig, logger: Logger, signal: AbortSignal): Promise<SpeechSource> {
  const { speech, platform, dataDir } = config.settings;
  const common = {
    slotsPerKey: speech.slotsPerKey,
    connectTimeoutMs: speech.connectTimeoutMs,
    requestTimeoutMs: speech.requestTimeoutMs,
    tokenLifeSeconds: speech.tokenLifeSeconds,
  };
  const [apiKey] = config.secrets.speechApiKeys;
  if (!usesEmbeddedPlatform(config) && apiKey !== undefined) {
    const { authUrl = '', asrUrl = '', ttsUrl = '' } = speech;
    return {
      settings: { ...common, authUrl, asrUrl, ttsUrl, apiKey: apiKey.reveal() },
      embedded: false,
      [Symbol.asyncDispose]: async () => undefined,
    };
  }
  const child = await startPlatformProcess({
    port: platform.port,
    profile: platform.profile,
    dataDir,
    vocabularyFolder: shippedFolder(platform.vocabularyFolder),
    modelsFolder: platform.modelsFolder,
    audioHosts: platform.audioHosts,
    startTimeoutMs: platform.startTimeoutMs,
    clock: systemClock,
    logger,
    signal,
  });
  const { authUrl, asrUrl, ttsUrl } = child.urls;
  return {
    settings: { ...common, authUrl, asrUrl, ttsUrl, apiKey: child.apiKey },
    embedded: true,
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  };
}
