import { createServer } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { onLoopback } from './loopback.ts';

export interface Received {
  readonly id: string;
  readonly body: { readonly type: string; readonly timestamp: string; readonly data: Readonly<Record<string, unknown>> };
}

export interface WebhookReceiver extends AsyncDisposable {
  readonly url: string;
  /** Deliveries whose signature the format's own library found to be right, in order; those answered with an error too. */
  readonly received: Received[];
  /** Why others were not believed. */
  readonly unbelieved: string[];
  /** What the next deliveries are answered with; 204 when it is empty. 0 hangs up without an answer. */
  readonly answers: number[];
}

/** Somebody's server that takes webhooks, and believes what is signed with this secret. */
export async function startReceiver(secret: string): Promise<WebhookReceiver> {
  const webhook = new Webhook(secret);
  const [received, unbelieved, answers]: [Received[], string[], number[]] = [[], [], []];
  const server = createServer((request, response) => {
    void (async () => {
      const pieces: Buffer[] = [];
      for await (const piece of request) pieces.push(piece as Buffer);
      const text = Buffer.concat(pieces).toString('utf8');
      try {
        const headers = request.headers as Record<string, string>;
        const body = webhook.verify(text, headers) as Received['body'];
        received.push({ id: headers['webhook-id']!, body });
      } catch (error) {
        unbelieved.push(String(error));
      }
      const status = answers.shift() ?? 204;
      if (status === 0) request.socket.destroy();
      else response.writeHead(status, status === 302 ? { location: '/elsewhere' } : {}).end();
    })().catch(() => response.destroy());
  });
  const loopback = await onLoopback(server);
  return { ...loopback, url: `${loopback.url}/hook`, received, unbelieved, answers };
}
