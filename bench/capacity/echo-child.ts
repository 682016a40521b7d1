// The baseline: a bare `ws` server that sends each media message back, and does nothing else.
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { serveOrders } from './child.ts';

serveOrders(async () => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
  server.on('connection', (socket: WebSocket) => {
    socket.on('message', (data: Buffer) => {
      const { event, streamSid, media } = JSON.parse(data.toString()) as {
        event: string;
        streamSid: string;
        media: { payload: string };
      };
      if (event === 'media') socket.send(JSON.stringify({ event, streamSid, media: { payload: media.payload } }));
    });
  });
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    authToken: undefined,
    facts: async () => ({}),
    close: async () => {
      server.close();
    },
  };
});
