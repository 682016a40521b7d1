// The baseline: a bare `ws` server that sends each media message back, and does nothing else.
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { answerRequests, meterUsage, type Usage } from '../../src/cli/bench/bench-child.ts';

let finish: (() => Usage) | undefined;
const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });

async function start() {
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
  return { url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const report = () => ({ ...(finish ?? meterUsage())(), live: server.clients.size, starved: 0 });

answerRequests({ start, measure: () => void (finish = meterUsage()), report }, async () => {
  server.close();
});
