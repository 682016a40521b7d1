// The peer that is measured, alone in its process: its transport between a carrier's socket and a realtime service, as its
// documentation shows it. It decodes nothing, listens for nothing and records nothing.
import type { EventEmitter } from 'node:events';
import type { AddressInfo } from 'node:net';
import { pathToFileURL } from 'node:url';
import { type WebSocket, WebSocketServer } from 'ws';
import { serveOrders } from './child.ts';

/** What is used of the peer, which is not installed with this project. */
interface PeerModule {
  readonly TwilioRealtimeTransportLayer: new (options: { readonly twilioWebSocket: WebSocket }) => object;
  readonly RealtimeAgent: new (options: { readonly name: string; readonly instructions: string }) => object;
  readonly RealtimeSession: new (
    agent: object,
    options: { readonly transport: object },
  ) => Pick<EventEmitter, 'on'> & { connect(options: { readonly apiKey: string; readonly url: string }): Promise<void> };
}

export interface PeerOrder {
  /** The file that exports the peer's classes. */
  readonly module: string;
  /** Where the stand-in for its realtime service is. */
  readonly url: string;
}

serveOrders(async ({ module, url }: PeerOrder) => {
  const { TwilioRealtimeTransportLayer, RealtimeAgent, RealtimeSession } = (await import(
    pathToFileURL(module).href
  )) as PeerModule;
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
  let failures = 0;
  const failed = (error: unknown): void => {
    if (failures === 0) console.error(error);
    failures += 1;
  };
  server.on('connection', (socket: WebSocket, request) => {
    const transport = new TwilioRealtimeTransportLayer({ twilioWebSocket: socket });
    const agent = new RealtimeAgent({ name: 'talks', instructions: 'Talk without end.' });
    const session = new RealtimeSession(agent, { transport });
    session.on('error', failed);
    session.connect({ apiKey: 'stand-in-key', url: `${url}${request.url ?? ''}` }).catch(failed);
  });
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    authToken: undefined,
    facts: async () => ({ failures }),
    close: async () => {
      server.close();
    },
  };
});
