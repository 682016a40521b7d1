import { join } from 'node:path';
import { AlertWatch } from '../alerts/alert-watch.ts';
import { type Alerts, NO_ALERTS } from '../config/alerts.ts';
import type { SystemOrders } from '../http/api/api-app.ts';
import { problemsOf } from '../http/api/system/system-problems.ts';
import type { GatewayParts, OpenParts } from './gateway-parts.ts';

/** Where rules and deliveries are kept, in the data folder. */
const ALERTS_FILE = 'alerts.json';

/** Opens the alerts of a gateway. Of several machines, the oldest looks at the rules. */
export async function openAlerts(
  { options, later, backlog }: Pick<GatewayParts, 'options' | 'later' | 'backlog'>,
  system: SystemOrders,
  open: OpenParts,
): Promise<AlertWatch> {
  const { config, shared, clock, logger } = options;
  const alerts: Alerts = config.alerts ?? NO_ALERTS;
  const watch = new AlertWatch({
    alerts,
    sources: {
      statistics: backlog.store.statistics,
      problems: async () => problemsOf(await system.look(), system.publicUrl),
      tenants: () => [...new Set(later.bots.map(({ tenant }) => tenant))],
    },
    isInCharge: async () => {
      const [oldest] = (await shared?.members.list()) ?? [];
      return oldest === undefined || oldest.id === shared?.members.own.id;
    },
    path: join(config.settings.dataDir, ALERTS_FILE),
    clock,
    logger,
  });
  open.add('alerts', () => watch[Symbol.asyncDispose]());
  await watch.start();
  return watch;
}
