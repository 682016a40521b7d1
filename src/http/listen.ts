import type { FastifyInstance } from 'fastify';
import { hasCode, errorText, OffhookError } from '../kernel/errors.ts';
import { portOwner } from '../kernel/port-owner.ts';

/** The gateway's port is unavailable; the message names it, its setting, and, where known, the process that has it. */
export class GatewayPortError extends OffhookError {
  readonly code = 'OFFHOOK_GATEWAY_PORT';
  readonly retryable = false;
}

/** @returns the address, for example `http://127.0.0.1:8080`; @throws GatewayPortError */
export async function listenAt(
  app: FastifyInstance,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<string> {
  try {
    return await app.listen({ host, port });
  } catch (error) {
    const owner = hasCode(error, 'EADDRINUSE') ? portOwner(port) : undefined;
    const by = owner === undefined ? '' : ` by process ${owner.pid} (${owner.command})`;
    const why = hasCode(error, 'EADDRINUSE') ? `is taken${by}` : `cannot be listened on: ${errorText(error)}`;
    const advice = 'choose another one with http.port (OFFHOOK_PORT; 0 takes a free one) or another address with http.host';
    throw new GatewayPortError(`port ${port} on ${host} ${why}; ${advice}`, { facts: { host, port } });
  }
}
