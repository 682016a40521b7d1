import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { SimulatedCall } from './twilio-carrier.ts';
import { readTwiml } from './twiml.ts';

const CALL_PATH = /^\/2010-04-01\/Accounts\/([^/]+)\/Calls\/([^/]+)\.json$/u;
const MOST_BODY_BYTES = 100_000;

/**
 * The part of the carrier's REST interface that acts on live calls (its page "Call resource", "Update a Call"), for
 * simulated calls: `Status=completed` ends one, `Twiml` gives it another document.
 */
export class SimulatedTwilioApi implements AsyncDisposable {
  readonly #server: Server;
  readonly #authorization: string;
  readonly #accountSid: string;
  readonly #calls = new Map<string, SimulatedCall>();

  private constructor(accountSid: string, authToken: string) {
    this.#accountSid = accountSid;
    this.#authorization = `Basic ${Buffer.from(`${accountSid}:${authToken}`).toString('base64')}`;
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  /** Listens on a free loopback port. */
  static async start(accountSid: string, authToken: string): Promise<SimulatedTwilioApi> {
    const api = new SimulatedTwilioApi(accountSid, authToken);
    await new Promise<void>((resolve) => api.#server.listen(0, '127.0.0.1', resolve));
    return api;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Makes a call known to the interface. */
  register(call: SimulatedCall): void {
    this.#calls.set(call.callSid, call);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const answer = (status: number, body: object): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    if (request.headers.authorization !== this.#authorization) return answer(401, { code: 20_003, message: 'Authenticate' });
    const [, accountSid, callSid] = CALL_PATH.exec(request.url ?? '') ?? [];
    const call = accountSid === this.#accountSid ? this.#calls.get(decodeURIComponent(callSid ?? '')) : undefined;
    if (request.method !== 'POST' || call === undefined) return answer(404, { code: 20_404, message: 'was not found' });
    const fields = new URLSearchParams(await bodyOf(request));
    try {
      const document =
        fields.get('Status') === 'completed' ? [{ verb: 'hang-up' as const }] : readTwiml(fields.get('Twiml') ?? '');
      void call.update(document);
    } catch (error) {
      return answer(400, { code: 12_100, message: error instanceof Error ? error.message : 'Document parse failure' });
    }
    return answer(200, { sid: call.callSid, status: 'in-progress' });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const part of request.setEncoding('utf8')) {
    body += part as string;
    if (body.length > MOST_BODY_BYTES) throw new RangeError('the body is too large');
  }
  return body;
}
