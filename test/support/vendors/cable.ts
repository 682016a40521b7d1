import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** The network between a client and a server on loopback, which a test can cut. */
export interface Cable extends AsyncDisposable {
  /** The server's address by way of this cable. */
  readonly url: string;
  /** From now on nothing arrives on either side, and no connection is closed: neither side is told. */
  freeze(): void;
}

/** @param url of a server on 127.0.0.1, `http` or `ws`, without TLS */
export async function startCable(url: string): Promise<Cable> {
  const to = new URL(url);
  const port = Number(to.port);
  const sockets = new Set<Socket>();
  let frozen = false;
  const server = createServer((client) => {
    sockets.add(client);
    client.on('error', () => undefined);
    client.once('close', () => sockets.delete(client));
    if (frozen) {
      client.pause();
      return;
    }
    const upstream = connect(port, to.hostname);
    sockets.add(upstream);
    upstream.on('error', () => client.destroy());
    upstream.once('close', () => {
      sockets.delete(upstream);
      if (!frozen) client.end();
    });
    client.once('close', () => {
      if (!frozen) upstream.end();
    });
    const carry = (from: Socket, other: Socket): void => {
      from.on('data', (bytes) => {
        if (!frozen) other.write(bytes);
      });
    };
    carry(client, upstream);
    carry(upstream, client);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  to.port = String((server.address() as AddressInfo).port);
  return {
    url: to.href,
    freeze: () => void (frozen = true),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
    },
  };
}
