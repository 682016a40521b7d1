// The gateway that `offhook bench` measures: the user's own settings and bots, alone in its process, with a data folder of its own.
import type { z } from 'zod';
import type { Gateway } from '../../hosts/app.ts';
import { startMeasuredGateway } from './measured-gateway.ts';
import { type gatewayReport, type target, answerRequests, meterUsage, type Usage } from './bench-child.ts';

let gateway: Gateway | undefined;
let finish: (() => Usage) | undefined;

async function start(argument: unknown): Promise<z.infer<typeof target>> {
  const started = await startMeasuredGateway(argument);
  gateway = started.gateway;
  return started.target;
}

async function report(): Promise<z.infer<typeof gatewayReport>> {
  const usage = finish?.();
  finish = undefined;
  const metrics = await (await fetch(`${gateway?.url}/metrics`)).text();
  const starved = Number(/^offhook_underruns_total\{cause="gateway"\} (\d+)$/mu.exec(metrics)?.[1] ?? 0);
  return { ...(usage ?? meterUsage()()), live: gateway?.calls.active ?? 0, starved };
}

answerRequests({ start, measure: () => void (finish = meterUsage()), report }, async () => gateway?.close());
