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
      // As late as a socket's: a client that is refused and dials again and again leaves the loop to everyone else.
      setImmediate(() => client.emit('connect'));
    },
    setNoDelay: () => client,
    setKeepAlive: () => client,
    ref: () => client,
    unref: () => client,
  });
}
