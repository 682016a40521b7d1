// The gateway that `offhook bench` measures: the user's own settings and bots, alone in its process, with a data folder of its own.
import { startGateway, type Gateway } from '../../app.ts';
import { readDevSecrets } from '../../config/dev-secrets.ts';
import { systemClock } from '../../kernel/clock.ts';
import { createLogger } from '../../observability/logger.ts';
import { requireConfiguration } from '../configuration.ts';
import { benchConfiguration } from './bench-configuration.ts';
import { gatewayOrder, type gatewayReport, type target } from './messages.ts';
import { obeyOrders } from './orders.ts';
import { meterUsage, type Usage } from './usage-meter.ts';
import type { z } from 'zod';

let gateway: Gateway | undefined;
let finish: (() => Usage) | undefined;

async function start(argument: unknown): Promise<z.infer<typeof target>> {
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

async function report(): Promise<z.infer<typeof gatewayReport>> {
  const usage = finish?.();
  finish = undefined;
  const metrics = await (await fetch(`${gateway?.url}/metrics`)).text();
  const starved = Number(/^offhook_underruns_total\{cause="gateway"\} (\d+)$/mu.exec(metrics)?.[1] ?? 0);
  return { ...(usage ?? meterUsage()()), live: gateway?.calls.active ?? 0, starved };
}

obeyOrders({ start, measure: () => void (finish = meterUsage()), report }, async () => gateway?.close());
