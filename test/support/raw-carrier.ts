import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { getExpectedTwilioSignature } from 'twilio/lib/webhooks/webhooks.js';
import { WebSocket } from 'ws';
import { hangs } from './patience.ts';

const MULAW = { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 };

/** A carrier that keeps no rules: a signed webhook for one call, and whatever a test wants to send on its sockets. */
export class RawCarrier {
  readonly callSid = `CA${randomBytes(16).toString('hex')}`;
  readonly streamSid = `MZ${randomBytes(16).toString('hex')}`;
  readonly #url: string;
  readonly #authToken: string;
  #status = 'ringing';

  constructor(gateway: { readonly url: string; readonly authToken: string }) {
    this.#url = gateway.url;
    this.#authToken = gateway.authToken;
  }

  /**
   * Asks for the call's answer document: of a ringing call first, then of one in progress, as after a redirect.
   * @returns the address of its stream; undefined when it opens none
   */
  async answer(): Promise<string | undefined> {
    const document = await this.#post('/carriers/twilio/voice', this.#status);
    this.#status = 'in-progress';
    return /<Stream url="([^"]+)">/u.exec(document)?.[1];
  }

  /** The carrier's own word that the call is over. */
  async completed(): Promise<void> {
    await this.#post('/carriers/twilio/status', 'completed');
  }

  /** Opens a stream, or gives the status it was refused with. */
  async open(url: string): Promise<WebSocket | number> {
    const headers = { 'x-twilio-signature': getExpectedTwilioSignature(this.#authToken, url, {}) };
    const socket = new WebSocket(url, { headers, perMessageDeflate: false });
    const refused = once(socket, 'unexpected-response').then(([request, response]: unknown[]) => {
      (request as { destroy(): void }).destroy();
      return (response as { statusCode: number }).statusCode;
    });
    socket.on('error', () => undefined);
    return Promise.race([once(socket, 'open').then(() => socket), refused]);
  }

  /** Answers and opens in one step. @throws Error when the stream is refused */
  async connect(): Promise<WebSocket> {
    const url = await this.answer();
    if (url === undefined) throw new Error('the answer document opens no stream');
    const opened = await this.open(url);
    if (typeof opened === 'number') throw new Error(`the stream was refused with ${opened}`);
    return opened;
  }

  start(mediaFormat: object = MULAW): string {
    const { callSid, streamSid } = this;
    const start = { accountSid: 'AC0', callSid, streamSid, tracks: ['inbound'], mediaFormat, customParameters: {} };
    return JSON.stringify({ event: 'start', sequenceNumber: '1', start, streamSid });
  }

  /** One frame of caller audio. @param timestampMs ms since the stream began */
  media(payload: Uint8Array, timestampMs: number): string {
    const media = {
      track: 'inbound',
      chunk: '1',
      timestamp: String(timestampMs),
      payload: Buffer.from(payload).toString('base64'),
    };
    return JSON.stringify({ event: 'media', sequenceNumber: '2', media, streamSid: this.streamSid });
  }

  stop(): string {
    return JSON.stringify({ event: 'stop', sequenceNumber: '9', stop: { callSid: this.callSid }, streamSid: this.streamSid });
  }

  async #post(path: string, status: string): Promise<string> {
    const address = new URL(path, this.#url).href;
    const fields = { CallSid: this.callSid, CallStatus: status, From: '+15550100001', To: '+15550100002', Direction: 'inbound' };
    const response = await fetch(address, {
      method: 'POST',
      headers: { 'x-twilio-signature': getExpectedTwilioSignature(this.#authToken, address, fields) },
      body: new URLSearchParams(fields),
      signal: hangs(),
    });
    return response.text();
  }
}

/** Waits for the close of a socket. */
export async function closeOf(socket: WebSocket): Promise<{ readonly code: number; readonly reason: string }> {
  const [code, reason] = (await once(socket, 'close', { signal: hangs() })) as [number, Buffer];
  return { code, reason: reason.toString('utf8') };
}
