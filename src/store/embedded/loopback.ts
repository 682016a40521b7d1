import { type Duplex, duplexPair } from 'node:stream';
import type { SessionGate } from './session-gate.ts';
import { serveWire } from './wire-session.ts';

/** A connection inside this process, shaped like the socket that the Postgres client expects to dial. */
export function dialGate(gate: SessionGate): Duplex {
  const [client, server] = duplexPair();
  serveWire(server, gate);
  return Object.assign(client, {
    connect(): void {
      process.nextTick(() => client.emit('connect'));
    },
    setNoDelay: () => client,
    setKeepAlive: () => client,
    ref: () => client,
    unref: () => client,
  });
}
