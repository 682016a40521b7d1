import type { FastifyInstance } from 'fastify';
import { errorText, OffhookError } from '../../../kernel/errors.ts';
import { portOwner } from '../../../kernel/port-owner.ts';

/** The platform cannot listen on a port; the message names it. */
export class PlatformPortError extends OffhookError {
  readonly code = 'OFFHOOK_PLATFORM_PORT';
  readonly retryable = false;
}

/** The five listeners, in the order of their ports from the base port. */
export const listenerNames = ['auth', 'asr', 'asrAlt', 'med', 'tts'] as const;
export type ListenerName = (typeof listenerNames)[number];
/** 0 is a free port. */
export type ListenerPorts = Readonly<Record<ListenerName, number>>;

/** @param basePort 0 for five free ports */
export function portsFrom(basePort: number): ListenerPorts {
  const port = (offset: number): number => (basePort === 0 ? 0 : basePort + offset);
  return { auth: port(0), asr: port(1), asrAlt: port(2), med: port(3), tts: port(4) };
}

/** @returns the address, for example `http://127.0.0.1:7101`; @throws PlatformPortError */
export async function listenOn(app: FastifyInstance, name: ListenerName, host: string, port: number): Promise<string> {
  try {
    await app.listen({ host, port, listenTextResolver: () => '' });
  } catch (error) {
    const taken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
    const owner = taken ? portOwner(port) : undefined;
    const by = owner === undefined ? '' : ` by process ${owner.pid} (${owner.command})`;
    const advice = 'choose another first port with platform.port (OFFHOOK_PLATFORM_PORT; 0 takes free ones)';
    const why = taken ? `is taken${by}; ${advice}` : `cannot be listened on: ${errorText(error)}`;
    throw new PlatformPortError(`port ${port} on ${host}, for the platform's ${name} service, ${why}`, {
      cause: error,
      facts: { port, host, service: name },
    });
  }
  const address = app.server.address();
  if (address === null || typeof address === 'string') throw new TypeError('a listener without a port');
  const shownHost = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `http://${shownHost}:${address.port}`;
}
