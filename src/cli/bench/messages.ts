import { z } from 'zod';

/** What the processes of `offhook bench` tell each other. */
export const speechAddresses = z.object({
  authUrl: z.string(),
  asrUrl: z.string(),
  ttsUrl: z.string(),
  apiKey: z.string(),
});

export const gatewayOrder = z.object({ dataDir: z.string(), bot: z.string(), speech: speechAddresses });
export const target = z.object({ url: z.string(), authToken: z.string(), bot: z.string() });

const usage = z.object({ cpu: z.number(), loopBusy: z.number(), loopP99Ms: z.number(), rssMb: z.number() });

/** @property starved times that the gateway let a playout run dry, in calls that have ended */
export const gatewayReport = usage.extend({ live: z.number(), starved: z.number() });

export const placeOrder = z.object({ target, calls: z.number() });
export const callersReport = usage.extend({
  live: z.number(),
  lost: z.number(),
  lateP99Ms: z.number(),
  turnP50Ms: z.number().nullable(),
  turnP99Ms: z.number().nullable(),
});

export const done = z.null();
