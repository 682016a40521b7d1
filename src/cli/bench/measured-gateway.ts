import type { z } from 'zod';
import type { LoadedConfig } from '../../config/load.ts';
import { startGateway, type Gateway } from '../../hosts/app.ts';
import { proofOf } from '../../carriers/open-carriers.ts';
import { systemClock } from '../../kernel/clock.ts';
import { createLogger } from '../../observability/logger.ts';
import { requireConfiguration } from '../setup/configuration.ts';
import { gatewayRequest, type target } from './bench-child.ts';

/** A gateway under measurement. */
export interface MeasuredGateway {
  readonly gateway: Gateway;
  readonly target: z.infer<typeof target>;
}

/**
 * Starts a gateway with the user's settings, one of their bots, and a given data folder.
 * @param argument a `gatewayRequest`
 */
export async function startMeasuredGateway(argument: unknown): Promise<MeasuredGateway> {
  const { dataDir, bot, speech } = gatewayRequest.parse(argument);
  const { config, bots } = requireConfiguration();
  const quiet = benchConfiguration(config, dataDir);
  const gateway = await startGateway({
    config: quiet,
    bots: bots.filter(({ name }) => name === bot),
    speech: { ...speech, slotsPerKey: quiet.settings.speech.slotsPerKey },
    clock: systemClock,
    logger: createLogger({ level: 'error' }),
    worker: false,
  });
  await gateway.prepared;
  const authToken = proofOf('twilio', quiet).reveal();
  return { gateway, target: { url: gateway.url, authToken, bot } };
}

/** More calls than any machine carries. */
const MANY = 10_000;

/**
 * The user's configuration for a benchmark: without their store, queue, bucket and webhooks, and without limits on calls.
 */
function benchConfiguration(config: LoadedConfig, dataDir: string): LoadedConfig {
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
      telemetry: { ...settings.telemetry, endpoint: undefined },
    },
    secrets: {
      ...secrets,
      adminPassword: undefined,
      openidClientSecret: undefined,
      databaseUrl: undefined,
      redisUrl: undefined,
      s3AccessKeyId: undefined,
      s3SecretAccessKey: undefined,
      otlpHeaders: undefined,
    },
  };
}
