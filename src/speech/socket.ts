import { WebSocket } from 'ws';
import { SpeechAuthError, SpeechUnavailableError, type SpeechError, errorOfAnswer } from './errors.ts';

export interface SocketListener {
  text(text: string): void;
  binary(bytes: Uint8Array): void;
  closed(code: number, reason: string): void;
}

const HANDSHAKE_TIMEOUT_MS = 5_000;
/** Longest message that is read: a second of 48 kHz PCM is far below it. */
const MAX_PAYLOAD_BYTES = 4 * 1024 * 1024;
const MOST_REFUSAL_BYTES = 4_096;

/**
 * Opens a WebSocket to the platform, without compression.
 * @returns the open socket; its listener hears everything from here on, `closed` exactly once
 * @throws SpeechAuthError for a refused upgrade (401, 403), SpeechUnavailableError when it cannot be reached
 */
export function openSocket(
  url: URL,
  headers: Readonly<Record<string, string>>,
  listener: SocketListener,
  signal?: AbortSignal,
): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, {
      headers,
      perMessageDeflate: false,
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      maxPayload: MAX_PAYLOAD_BYTES,
      followRedirects: false,
    });
    let opened = false;
    const fail = (error: SpeechError | Error): void => {
      signal?.removeEventListener('abort', onAbort);
      reject(error);
    };
    const onAbort = (): void => {
      fail(signal?.reason as Error);
      socket.terminate();
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    if (signal?.aborted === true) onAbort();
    socket.on('unexpected-response', (_request, response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        if (text.length < MOST_REFUSAL_BYTES) text += part;
      });
      response.on('end', () => {
        fail(errorOfAnswer('socket upgrade', response.statusCode ?? 0, text, undefined));
        socket.terminate();
      });
    });
    socket.on('error', (cause) => {
      if (!opened) fail(new SpeechUnavailableError('the speech platform cannot be reached', { cause }));
    });
    socket.once('open', () => {
      opened = true;
      signal?.removeEventListener('abort', onAbort);
      resolve(socket);
    });
    socket.on('message', (data: Buffer, isBinary: boolean) => {
      if (isBinary) listener.binary(data);
      else listener.text(data.toString('utf8'));
    });
    socket.once('close', (code, reason) => {
      if (opened) listener.closed(code, reason.toString('utf8'));
      else fail(new SpeechUnavailableError(`the socket closed before it was open (${code})`));
    });
  });
}

/** Whether a fresh token may help. */
export function isAuthFailure(error: unknown): boolean {
  return error instanceof SpeechAuthError;
}
