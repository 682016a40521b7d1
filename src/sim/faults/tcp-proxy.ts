import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** What happens to a connection after so many bytes from the client; a stalled one stays open and says nothing any more. */
export interface ConnectionFault {
  readonly kind: 'drop' | 'reset' | 'stall';
  readonly afterBytes: number;
}

/** Passes bytes between a client and a server on loopback, and breaks the connections it is told to, in their order. */
export class FaultyProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Connections that were broken. */
  broken = 0;

  private constructor(target: URL, faults: readonly (ConnectionFault | undefined)[]) {
    let connections = 0;
    this.#server = createServer((client) => this.#pass(client, target, faults[connections++]));
  }

  /** @param faults for the first connection, the second and so on; those after them are whole */
  static async start(targetUrl: string, faults: readonly (ConnectionFault | undefined)[]): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(new URL(targetUrl), faults);
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

  #pass(client: Socket, target: URL, fault: ConnectionFault | undefined): void {
    const server = connect(Number(target.port), target.hostname);
    const both = [client, server];
    for (const socket of both) {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.#sockets.delete(socket);
        for (const each of both) each.destroy();
      });
    }
    let passed = 0;
    let stalled = false;
    client.on('data', (bytes) => {
      if (stalled) return;
      const room = fault === undefined ? bytes.length : fault.afterBytes - passed;
      passed += bytes.length;
      server.write(bytes.subarray(0, Math.max(0, room)));
      if (fault === undefined || room >= bytes.length) return;
      this.broken += 1;
      if (fault.kind === 'stall') {
        stalled = true;
        server.unpipe(client);
        server.resume();
      } else if (fault.kind === 'reset') client.resetAndDestroy();
      else client.destroy();
    });
    server.pipe(client);
  }
}
