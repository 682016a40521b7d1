import type { z } from 'zod';
import { startGateway, type Gateway } from '../../gateway/app.ts';
import { readDevSecrets } from '../../config/dev-secrets.ts';
import { systemClock } from '../../kernel/clock.ts';
import { createLogger } from '../../observability/logger.ts';
import { requireConfiguration } from '../configuration.ts';
import { benchConfiguration } from './bench-configuration.ts';
import { gatewayOrder, type target } from './messages.ts';

/** The gateway of a process that is measured. */
export interface MeasuredGateway {
  readonly gateway: Gateway;
  readonly target: z.infer<typeof target>;
}

/**
 * Starts a gateway with the user's settings and one of their bots, and a data folder that is given.
 * @param argument a `gatewayOrder`
 */
export async function startMeasuredGateway(argument: unknown): Promise<MeasuredGateway> {
  const { dataDir, bot, speech } = gatewayOrder.parse(argument);
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
  const authToken = (quiet.secrets.twilioAuthTokens[0] ?? readDevSecrets(dataDir).twilioAuthToken).reveal();
  return { gateway, target: { url: gateway.url, authToken, bot } };
}
