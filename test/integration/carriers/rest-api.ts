import { createServer, type ServerResponse } from 'node:http';
import type { DialOrder } from '../../../src/carriers/port.ts';
import { allowedTarget } from '../../support/open-dialling.ts';
import { onLoopback } from '../../support/loopback.ts';

export const signal = new AbortController().signal;

/** An order for a call, at a carrier of this name. */
export function orderAt(carrier: string): DialOrder {
  const base = 'bots.example.org/carriers';
  return {
    callId: 'call_1',
    from: '+15550100001',
    to: allowedTarget('+919812345678'),
    ringTimeoutMs: 30_500,
    maxDurationMs: 600_000,
    streamUrl: `wss://${base}/${carrier}/stream/the.secret.token`,
    statusUrl: `https://${base}/${carrier}/status/call_1`,
    detectMachine: false,
  };
}

export function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

export interface Asked {
  /** Method, path and query. */
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: string;
  /** The body as a form. */
  readonly fields: URLSearchParams;
}

/** A carrier's REST interface that answers as a test says, and notes what it was asked. */
export async function startRestApi(answer: (response: ServerResponse, number: number, asked: Asked) => void) {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (part: string) => (body += part));
    request.on('end', () => {
      const { authorization } = request.headers;
      const one = { path: `${request.method} ${request.url}`, authorization, body, fields: new URLSearchParams(body) };
      asked.push(one);
      answer(response, asked.length - 1, one);
    });
  });
  return { asked, ...(await onLoopback(server)) };
}
