// The gateway whose memory is measured, with its shipped bots; collects its garbage when told to, so that what is left is kept.
import type { Gateway } from '../../src/app.ts';
import { startMeasuredGateway } from '../../src/cli/bench/measured-gateway.ts';
import { obeyOrders } from '../../src/cli/bench/orders.ts';

let gateway: Gateway | undefined;

async function start(argument: unknown) {
  const started = await startMeasuredGateway(argument);
  gateway = started.gateway;
  return started.target;
}

function memory() {
  globalThis.gc?.();
  globalThis.gc?.();
  const { rss, heapUsed, arrayBuffers } = process.memoryUsage();
  return { live: gateway?.calls.active ?? 0, rssKb: rss / 1024, heapKb: heapUsed / 1024, buffersKb: arrayBuffers / 1024 };
}

obeyOrders({ start, memory }, async () => gateway?.close());
