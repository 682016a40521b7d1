import { createServer, type IncomingMessage } from 'node:http';
import type { WebSocket } from 'ws';
import { onLoopback, takeSockets } from '../../support/loopback.ts';

/** One socket that a client opened, with what it sent so far. */
export interface ScriptedSocket {
  readonly socket: WebSocket;
  readonly headers: IncomingMessage['headers'];
  readonly url: string;
  readonly texts: string[];
  readonly audioBytes: () => number;
  readonly audio: Buffer[];
  closed: number | undefined;
  json(message: unknown): void;
}

export interface Script {
  /** Called for each socket once it is open. */
  readonly onOpen?: (socket: ScriptedSocket, index: number) => void;
  readonly onText?: (socket: ScriptedSocket, text: string, index: number) => void;
  readonly onAudio?: (socket: ScriptedSocket, index: number) => void;
  /** Answers the upgrade number `index` with this status in place of opening it. */
  readonly refuse?: (index: number, request: IncomingMessage) => number | undefined;
  /** The answer to the mint number `index`; a token when absent. */
  readonly mint?: (index: number) => { readonly status: number; readonly body: unknown };
  /** The answer to any other request, number `index` of its path; 404 when absent. */
  readonly answer?: (path: string, index: number) => ScriptedAnswer;
}

export interface ScriptedAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

export interface ScriptedPlatform extends AsyncDisposable {
  readonly url: string;
  readonly sockets: ScriptedSocket[];
  /** Upgrades asked for, refused ones among them. */
  readonly upgrades: () => number;
  readonly mints: () => number;
}

/** A platform that does what a test says and no more: tokens over HTTP and sockets on any path, on a free loopback port. */
export async function startScripted(script: Script): Promise<ScriptedPlatform> {
  const sockets: ScriptedSocket[] = [];
  const asked = new Map<string, number>();
  let mints = 0;
  let upgrades = 0;
  const http = createServer((request, response) => {
    request.resume();
    const path = new URL(request.url ?? '', 'http://localhost').pathname;
    if (path !== '/api/auth/token') {
      const count = asked.get(path) ?? 0;
      asked.set(path, count + 1);
      const answer = script.answer?.(path, count) ?? { status: 404, body: '' };
      response.writeHead(answer.status, answer.headers).end(answer.body);
      return;
    }
    mints += 1;
    const { status, body } = script.mint?.(mints - 1) ?? { status: 200, body: { token: `token-${mints}`, expires_in: 900 } };
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  takeSockets(
    http,
    ({ request, index }) => {
      upgrades += 1;
      const status = script.refuse?.(index, request);
      return status === undefined ? undefined : { status, body: { detail: `refused with ${status}` } };
    },
    (socket, { request }) => {
      const audio: Buffer[] = [];
      const scripted: ScriptedSocket = {
        socket,
        headers: request.headers,
        url: request.url ?? '',
        texts: [],
        audio,
        audioBytes: () => audio.reduce((bytes, part) => bytes + part.length, 0),
        closed: undefined,
        json: (message) => socket.send(JSON.stringify(message)),
      };
      const number = sockets.push(scripted) - 1;
      socket.on('message', (data: Buffer, isBinary: boolean) => {
        if (isBinary) {
          audio.push(data);
          script.onAudio?.(scripted, number);
          return;
        }
        scripted.texts.push(data.toString('utf8'));
        script.onText?.(scripted, data.toString('utf8'), number);
      });
      socket.on('close', (code) => (scripted.closed = code));
      socket.on('error', () => undefined);
      script.onOpen?.(scripted, number);
    },
  );
  return { sockets, upgrades: () => upgrades, mints: () => mints, ...(await onLoopback(http)) };
}
