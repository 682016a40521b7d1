import { connect, createServer, type Socket } from 'node:net';
import { type Loopback, onLoopback } from './loopback.ts';

/** Stands between a client and a server over TCP, and can be cut. */
export interface CuttableProxy extends Loopback {
  /** Ends every connection and refuses new ones. */
  cut(): void;
  mend(): void;
  /** From now on nothing arrives on either side, and no connection is closed: neither side is told. */
  freeze(): void;
}

/** @param target port of the server on 127.0.0.1 */
export async function startCuttableProxy(target: number): Promise<CuttableProxy> {
  const sockets = new Set<Socket>();
  let state: 'whole' | 'cut' | 'frozen' = 'whole';
  const keep = (socket: Socket, onClose: () => void): void => {
    sockets.add(socket);
    socket
      .on('error', () => undefined)
      .once('close', () => {
        sockets.delete(socket);
        if (state !== 'frozen') onClose();
      });
  };
  const server = createServer((socket) => {
    if (state === 'cut') return void socket.destroy();
    if (state === 'frozen') return keep(socket.pause(), () => undefined);
    const other = connect(target, '127.0.0.1');
    keep(socket, () => other.destroy());
    keep(other, () => socket.destroySoon());
    socket.pipe(other).pipe(socket);
  });
  const loopback = await onLoopback(server);
  const cut = (): void => {
    state = 'cut';
    for (const socket of sockets) socket.destroy();
  };
  return {
    ...loopback,
    cut,
    mend: () => void (state = 'whole'),
    freeze() {
      state = 'frozen';
      for (const socket of sockets) socket.unpipe().pause();
    },
    async [Symbol.asyncDispose]() {
      cut();
      await loopback[Symbol.asyncDispose]();
    },
  };
}
