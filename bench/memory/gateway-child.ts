// The gateway whose memory is measured, with its shipped bots; collects its garbage when told to, so that what is left is kept.
import { startGateway, type Gateway } from '../../src/app.ts';
import { benchConfiguration } from '../../src/cli/bench/bench-configuration.ts';
import { gatewayOrder } from '../../src/cli/bench/messages.ts';
import { obeyOrders } from '../../src/cli/bench/orders.ts';
import { requireConfiguration } from '../../src/cli/configuration.ts';
import { readDevSecrets } from '../../src/config/dev-secrets.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { createLogger } from '../../src/observability/logger.ts';

let gateway: Gateway | undefined;

async function start(argument: unknown) {
  const { dataDir, bot, speech } = gatewayOrder.parse(argument);
  const { config, bots } = requireConfiguration();
  const quiet = benchConfiguration(config, dataDir);
  gateway = await startGateway({
    config: quiet,
    bots: bots.filter(({ name }) => name === bot),
    speech: { ...speech, slotsPerKey: quiet.settings.speech.slotsPerKey },
    clock: systemClock,
    logger: createLogger({ level: 'error' }),
    worker: false,
  });
  await gateway.prepared;
  const authToken = (quiet.secrets.twilioAuthTokens[0] ?? readDevSecrets(dataDir).twilioAuthToken).reveal();
  return { url: gateway.url, authToken, bot };
}

function memory() {
  globalThis.gc?.();
  globalThis.gc?.();
  const { rss, heapUsed, arrayBuffers } = process.memoryUsage();
  return { live: gateway?.calls.active ?? 0, rssKb: rss / 1024, heapKb: heapUsed / 1024, buffersKb: arrayBuffers / 1024 };
}

obeyOrders({ start, memory }, async () => gateway?.close());
