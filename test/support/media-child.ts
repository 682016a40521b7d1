import { FrontChannel, type OrderHandlers } from '../../src/hosts/front-channel.ts';
import { GivenSockets } from '../../src/http/given-sockets.ts';

/* A process that upgrades the sockets it is given, and sends back whatever they bring, with its own number before it. */

const channel = new FrontChannel(process);
const sockets = new GivenSockets();
const media: OrderHandlers['media'] = ({ headers, early, answered }, given) =>
  new Promise((resolve) => {
    sockets.upgrade(
      given!,
      { headers, early: Buffer.from(early, 'base64'), answered },
      (socket) => {
        socket.on('message', (data: Buffer) => socket.send(`${process.pid} ${data.toString()}`));
        resolve(null);
      },
      () => resolve(null),
    );
  });
channel.serve({ media } as unknown as OrderHandlers);
channel.report({ type: 'up' });
process.once('disconnect', () => process.exit());
