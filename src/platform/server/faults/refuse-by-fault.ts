import type { FastifyInstance } from 'fastify';
import { sleep } from '../../../kernel/abort.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { clientSignal } from '../occupancy.ts';
import { Refusal } from '../refusal.ts';
import type { FaultDice } from './fault-dice.ts';

/**
 * Keeps a request or the opening of a socket waiting, and refuses it, as the faults say.
 * @throws Refusal with the status drawn, or the signal's reason
 */
export async function passFaults(faults: FaultDice, clock: Clock, signal: AbortSignal): Promise<void> {
  const latencyMs = faults.latencyMs();
  if (latencyMs > 0) await sleep(clock, latencyMs, signal);
  const status = faults.errorStatus();
  if (status === undefined) return;
  const headers: Record<string, string> = status === 429 ? { 'retry-after': '1' } : {};
  throw new Refusal(status, 'Injected fault: this request fails', { headers });
}

/** Lets every request of a service pass the faults; GET is left whole, so that what watches the platform's health can. */
export function addRequestFaults(app: FastifyInstance, faults: FaultDice, clock: Clock): void {
  app.addHook('onRequest', async (request, reply) => {
    if (request.method !== 'GET') await passFaults(faults, clock, clientSignal(reply));
  });
}
