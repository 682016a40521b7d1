import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { RawData, WebSocket } from 'ws';
import { encodeAudio } from '../../../src/audio/codec.ts';
import { type Loopback, onLoopback, takeSockets } from '../loopback.ts';
import type { SimulatedRecognition, VendorEngines } from './engines.ts';

export interface AzureFaults {
  /** Ends the next sockets with this after so many audio messages. */
  readonly cutAfterMessages?: number;
  /** How many sockets are cut. */
  readonly cuts?: number;
  /** Status of every upgrade and request. */
  readonly refuse?: number;
  /** Never finalises a turn. */
  readonly mute?: boolean;
  /** Sends a frame that no protocol knows before each answer. */
  readonly garbage?: boolean;
}

const KEY_HEADER = 'ocp-apim-subscription-key';

/**
 * Azure's speech service from the other side: its recognition socket (messages with headers, written after what the Speech SDK's
 * published source sends and reads) and its synthesis endpoint.
 * @see https://learn.microsoft.com/azure/ai-services/speech-service/rest-text-to-speech
 */
export class SimulatedAzure {
  faults: AzureFaults = {};
  /** Paths of the sockets that were opened, with their query. */
  readonly upgrades: string[] = [];
  /** `Path` of each message that came, in order. */
  readonly messages: string[] = [];
  readonly hints: string[][] = [];
  readonly spoken: { readonly format: string; readonly ssml: string }[] = [];
  readonly #engines: VendorEngines;
  readonly #key: string;
  readonly #server: Server;
  #cuts = 0;

  private constructor(engines: VendorEngines, key: string) {
    this.#engines = engines;
    this.#key = key;
    this.#server = createServer((request, response) => void this.#speak(request, response));
    takeSockets(
      this.#server,
      ({ request }) => {
        const status = this.faults.refuse ?? (request.headers[KEY_HEADER] === this.#key ? undefined : 401);
        if (status !== undefined) return { status };
        this.upgrades.push(request.url ?? '');
        return undefined;
      },
      (socket, { url }) => this.#serve(socket, url),
    );
  }

  static async start(engines: VendorEngines, key: string): Promise<SimulatedAzure & Loopback> {
    const azure = new SimulatedAzure(engines, key);
    return Object.assign(azure, await onLoopback(azure.#server));
  }

  #serve(socket: WebSocket, url: URL): void {
    let recognition: SimulatedRecognition | undefined;
    let requestId = '';
    let audioMessages = 0;
    let ended = false;
    let hints: string[] = [];
    const send = (path: string, body: object): void => {
      if (this.faults.garbage === true) socket.send('neither headers nor a body');
      socket.send(
        `X-RequestId:${requestId}\r\nContent-Type:application/json; charset=utf-8\r\nPath:${path}\r\n\r\n${JSON.stringify(body)}`,
      );
    };
    const hear = ({ type, text }: { type: 'partial' | 'final'; text: string }): void => {
      if (this.faults.mute === true) return;
      if (type === 'partial') send('speech.hypothesis', { Text: text, Offset: 0, Duration: 0 });
      else {
        const status = text === '' ? 'NoMatch' : 'Success';
        send('speech.phrase', { RecognitionStatus: status, DisplayText: text, Offset: 0, Duration: 0 });
        if (ended) send('turn.end', {});
      }
    };
    socket.on('close', () => recognition?.close());
    socket.on('message', (data, isBinary) => {
      const { headers, body } = isBinary ? readBinary(data) : readText(data);
      const path = headers.get('path') ?? '';
      if (path !== 'audio' || audioMessages === 0) this.messages.push(path);
      if (path === 'speech.context') hints = phrasesOf(body);
      if (path !== 'audio') return;
      audioMessages += 1;
      requestId = headers.get('x-requestid') ?? requestId;
      if (this.#isCut(audioMessages)) {
        socket.terminate();
        return;
      }
      let pcm = body;
      if (recognition === undefined) {
        const rateHz = body.readUInt32LE(24);
        // The first message begins with the header of a WAV file.
        pcm = body.subarray(44);
        this.hints.push(hints);
        send('turn.start', { context: { serviceTag: 'simulated' } });
        recognition = this.#engines.recognise({ language: url.searchParams.get('language') ?? '', rateHz, hints }, hear);
      }
      if (pcm.length > 0) recognition.push(samplesOf(pcm));
      else if (body.length === 0 && !ended) {
        ended = true;
        recognition.commit();
      }
    });
  }

  #isCut(messages: number): boolean {
    const { cutAfterMessages, cuts = 1 } = this.faults;
    if (cutAfterMessages === undefined || messages < cutAfterMessages || this.#cuts >= cuts) return false;
    this.#cuts += 1;
    return true;
  }

  async #speak(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const ssml = Buffer.concat(await request.toArray()).toString();
    const status = this.faults.refuse ?? (request.headers[KEY_HEADER] === this.#key ? 200 : 401);
    const format = String(request.headers['x-microsoft-outputformat']);
    const voice = /<voice name="([^"]+)"/u.exec(ssml)?.[1] ?? '';
    const text = /<prosody[^>]*>([^<]*)</u.exec(ssml)?.[1] ?? '';
    const known = /^raw-(\d+)khz-(?:16bit-mono-pcm|8bit-mono-(mulaw|alaw))$/u.exec(format);
    if (status !== 200 || voice === '' || known === null) {
      response.writeHead(status === 200 ? 400 : status).end();
      return;
    }
    this.spoken.push({ format, ssml });
    const [, khz, law = 'pcm16'] = known;
    response.writeHead(200, { 'content-type': 'audio/basic' });
    for await (const pcm of this.#engines.speak({ text, language: 'en', voice, rateHz: Number(khz) * 1000 })) {
      const bytes = encodeAudio(law === 'mulaw' || law === 'alaw' ? law : 'pcm16', pcm);
      // Chunks end anywhere, also within a sample.
      response.write(bytes.subarray(0, 333));
      response.write(bytes.subarray(333));
    }
    response.end();
  }
}

interface Message {
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
}

/** Header lines, an empty line, the body. */
function readText(data: RawData): Message {
  const [head = '', body = ''] = bytesOf(data).toString().split('\r\n\r\n', 2);
  return { headers: headersOf(head), body: Buffer.from(body) };
}

/** The length of the header lines in two bytes, big-endian, those lines, the body. */
function readBinary(data: RawData): Message {
  const bytes = bytesOf(data);
  const end = 2 + bytes.readUInt16BE(0);
  return { headers: headersOf(bytes.subarray(2, end).toString()), body: bytes.subarray(end) };
}

function headersOf(text: string): ReadonlyMap<string, string> {
  const lines = text.split('\r\n').filter((line) => line.includes(':'));
  return new Map(lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]));
}

/** The phrases of a phrase list in a `speech.context` message. */
function phrasesOf(body: Buffer): string[] {
  const context = JSON.parse(body.toString()) as { dgi?: { groups?: { items?: { text?: string }[] }[] } };
  return (context.dgi?.groups ?? []).flatMap(({ items = [] }) => items.flatMap(({ text }) => text ?? []));
}

function samplesOf(pcm: Buffer): Int16Array {
  return new Int16Array(Uint8Array.from(pcm).buffer, 0, Math.floor(pcm.length / 2));
}

/** The sockets of these tests get each message as one buffer. */
function bytesOf(data: RawData): Buffer {
  if (!Buffer.isBuffer(data)) throw new TypeError('a message that is no buffer');
  return data;
}
