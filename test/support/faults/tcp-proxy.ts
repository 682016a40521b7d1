import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { type Clock, systemClock } from '../../../src/kernel/clock.ts';
import type { ConnectionFault } from './connection-fault.ts';
import { damaged } from './damage.ts';

export interface FaultyProxyOptions {
  /** For slow connections. */
  readonly clock?: Clock;
}

/** Passes bytes between a client and a server on loopback, and damages the connections it is told to, in their order. */
export class FaultyProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #clock: Clock;
  /** Connections that were damaged. */
  broken = 0;

  private constructor(
    target: URL,
    faults: readonly (ConnectionFault | undefined)[],
    { clock = systemClock }: FaultyProxyOptions,
  ) {
    this.#clock = clock;
    let connections = 0;
    this.#server = createServer((client) => this.#join(client, target, faults[connections++]));
  }

  /** @param faults for the first connection, the second and so on; those after them are whole */
  static async start(
    targetUrl: string,
    faults: readonly (ConnectionFault | undefined)[] = [],
    options: FaultyProxyOptions = {},
  ): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(new URL(targetUrl), faults, options);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new TypeError('the proxy does not listen');
    return `http://127.0.0.1:${address.port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #join(client: Socket, target: URL, fault: ConnectionFault | undefined): void {
    const server = connect(Number(target.port), target.hostname);
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => this.#sockets.delete(socket));
    }
    const direction = fault?.direction ?? 'up';
    this.#pass(client, server, direction === 'up' ? fault : undefined);
    this.#pass(server, client, direction === 'down' ? fault : undefined);
  }

  #pass(from: Socket, to: Socket, fault: ConnectionFault | undefined): void {
    const cut = (how: 'drop' | 'reset'): void => {
      for (const socket of [from, to]) {
        if (how === 'reset') socket.resetAndDestroy();
        else socket.destroy();
      }
    };
    const broke = (): void => void (this.broken += 1);
    const line = (chunks: AsyncIterable<Buffer>): AsyncIterable<Buffer> =>
      damaged(chunks, fault, { clock: this.#clock, broke, cut });
    // A broken line is what this is for: it ends both ways.
    pipeline(from, line, to).catch(() => cut('drop'));
  }
}
