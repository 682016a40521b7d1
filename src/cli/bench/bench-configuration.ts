import type { LoadedConfig } from '../../config/load.ts';

/** More than any machine holds. */
const MANY = 10_000;

/**
 * The user's configuration as a benchmark may use it: nothing is written to their store, queue or bucket, nobody is told of its
 * calls, no limit but the machine's ends it.
 */
export function benchConfiguration(config: LoadedConfig, dataDir: string): LoadedConfig {
  const { settings, secrets } = config;
  const { recordings, call, http, speech } = settings;
  return {
    ...config,
    webhooks: [],
    settings: {
      ...settings,
      dataDir,
      publicUrl: undefined,
      http: { ...http, host: '127.0.0.1', port: 0, pendingStreamsPerAddress: MANY },
      call: { ...call, maximum: MANY, refuseLagMs: 60_000, keepFixtures: undefined },
      recordings: { ...recordings, s3Endpoint: undefined, s3Bucket: undefined },
      speech: { ...speech, slotsPerKey: MANY },
    },
    secrets: {
      ...secrets,
      adminPassword: undefined,
      databaseUrl: undefined,
      redisUrl: undefined,
      s3AccessKeyId: undefined,
      s3SecretAccessKey: undefined,
    },
  };
}
