import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { jwtVerify } from 'jose';
import type { SimulatedVonageCall } from './vonage-carrier.ts';

const CALL_PATH = /^\/v1\/calls\/([^/]+)(\/dtmf)?$/u;

/** The part of Vonage's REST interface that acts on live calls: `PUT /v1/calls/{uuid}` and its `/dtmf`, for simulated calls. */
export class SimulatedVonageApi implements AsyncDisposable {
  /** Of the application, in PEM: what a gateway is configured with. */
  readonly privateKey: string;
  readonly applicationId: string;
  readonly #publicKey: KeyObject;
  readonly #server: Server;
  readonly #calls = new Map<string, SimulatedVonageCall>();

  private constructor(applicationId: string) {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    this.applicationId = applicationId;
    this.privateKey = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    this.#publicKey = createPublicKey(privateKey);
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  /** Listens on a free loopback port. */
  static async start(applicationId: string): Promise<SimulatedVonageApi> {
    const api = new SimulatedVonageApi(applicationId);
    await new Promise<void>((resolve) => api.#server.listen(0, '127.0.0.1', resolve));
    return api;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Makes a call known to the interface. */
  register(call: SimulatedVonageCall): void {
    this.#calls.set(call.uuid, call);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const answer = (status: number, title?: string): void => {
      response
        .writeHead(status, { 'content-type': 'application/json' })
        .end(title === undefined ? '' : JSON.stringify({ title }));
    };
    const token = /^Bearer (\S+)$/u.exec(request.headers.authorization ?? '')?.[1] ?? '';
    const claims = await jwtVerify(token, this.#publicKey, { algorithms: ['RS256'] }).catch(() => undefined);
    if (claims?.payload['application_id'] !== this.applicationId) return answer(401, 'Unauthorized');
    const [, uuid = '', dtmf] = CALL_PATH.exec(request.url ?? '') ?? [];
    const call = this.#calls.get(uuid);
    if (request.method !== 'PUT' || call === undefined) return answer(404, 'Not Found');
    let text = '';
    for await (const part of request.setEncoding('utf8')) text += part as string;
    const body = JSON.parse(text) as { action?: string; digits?: string; destination?: { ncco: { action: string }[] } };
    if (dtmf !== undefined) call.digits.push(body.digits ?? '');
    else if (body.action === 'hangup') void call.hangUp();
    else if (body.action === 'transfer') void call.transfer(body.destination?.ncco ?? []);
    else return answer(400, 'Bad Request');
    return answer(dtmf === undefined ? 204 : 200);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
