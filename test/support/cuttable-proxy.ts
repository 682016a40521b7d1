import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Stands between a client and a server over TCP, and can be cut. */
export interface CuttableProxy extends AsyncDisposable {
  readonly port: number;
  /** Ends every connection and refuses new ones. */
  cut(): void;
  mend(): void;
}

/** @param target port of the server on 127.0.0.1 */
export async function startCuttableProxy(target: number): Promise<CuttableProxy> {
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((socket) => {
    if (isCut) return void socket.destroy();
    const other = connect(target, '127.0.0.1');
    for (const each of [socket, other]) {
      sockets.add(each);
      each
        .on('error', () => undefined)
        .once('close', () => {
          sockets.delete(each);
          socket.destroy();
          other.destroy();
        });
    }
    socket.pipe(other).pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = (): void => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    mend: () => {
      isCut = false;
    },
    [Symbol.asyncDispose]: async () => {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
