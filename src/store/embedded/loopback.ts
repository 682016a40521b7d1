import { type Duplex, duplexPair } from 'node:stream';
import type { SessionGate } from './session-gate.ts';
import { serveWire } from './wire-session.ts';

/** A connection inside this process, shaped like the socket that the Postgres client expects to dial. */
export function dialGate(gate: SessionGate): Duplex {
  const [client, server] = duplexPair();
  serveWire(server, gate);
  // A socket that is cut tells the other end; a pair in memory does not.
  client.once('close', () => server.destroy());
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
