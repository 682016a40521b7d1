// The gateway whose memory is measured, with its shipped bots; collects its garbage when told to, so that what is left is kept.
import { constants, PerformanceObserver } from 'node:perf_hooks';
import { z } from 'zod';
import type { Gateway } from '../../src/hosts/app.ts';
import { startMeasuredGateway } from '../../src/cli/bench/measured-gateway.ts';
import { answerRequests } from '../../src/cli/bench/bench-child.ts';

const collection = z.object({ duration: z.number(), detail: z.object({ flags: z.number() }) });
let gateway: Gateway | undefined;
let longestPauseMs = 0;

/** Collections that were asked for here are longer, and no call's. */
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) {
    const { duration, detail } = collection.parse(entry);
    if ((detail.flags & constants.NODE_PERFORMANCE_GC_FLAGS_FORCED) === 0) longestPauseMs = Math.max(longestPauseMs, duration);
  }
}).observe({ entryTypes: ['gc'] });

async function start(argument: unknown) {
  const started = await startMeasuredGateway(argument);
  gateway = started.gateway;
  return started.target;
}

/** After a collection; with the longest pause since this was last asked for. */
function memory() {
  const pauseMs = longestPauseMs;
  globalThis.gc?.();
  globalThis.gc?.();
  longestPauseMs = 0;
  const { rss, heapUsed, arrayBuffers } = process.memoryUsage();
  const live = gateway?.calls.active ?? 0;
  return { live, pauseMs, rssKb: rss / 1024, heapKb: heapUsed / 1024, buffersKb: arrayBuffers / 1024 };
}

answerRequests({ start, memory }, async () => gateway?.close());
