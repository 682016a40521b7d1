// The messages of a carrier's media socket, as the generator of calls sends and reads them.
import { signedWebhook } from '../../src/sim/voice-webhook.ts';
import { FRAME_MS } from './sounds.ts';

export type WireName = 'twilio' | 'asterisk';

/** What the gateway of a run believes Asterisk by. */
export const ASTERISK_PASSWORD = 'of-the-capacity-bench';

/** One frame of a caller, in both forms that wires want. */
export interface CallerAudio {
  readonly base64: string;
  readonly bytes: Uint8Array;
}

/** What a message of the gateway says. */
export interface Told {
  readonly audio?: Buffer;
  readonly mark?: string;
  readonly clear?: true;
}

export interface MediaWire {
  /** Marks that wait come back when the carrier clears. */
  readonly returnsMarks: boolean;
  readonly protocols: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  /** Where the media socket of a call is. @throws Error when the call is refused */
  socketUrl(gatewayUrl: string, authToken: string, call: number): Promise<string>;
  /** What is sent first. */
  start(call: number): readonly string[];
  frame(call: number, frame: number, audio: CallerAudio): string | Uint8Array;
  read(data: Buffer, isBinary: boolean): Told;
  mark(call: number, name: string): string;
  /** What is sent before the socket is closed, if anything. */
  stop(call: number): string | undefined;
}

const callSidOf = (call: number): string => `CA${call.toString(16).padStart(32, '0')}`;
const streamSidOf = (call: number): string => `MZ${call.toString(16).padStart(32, '0')}`;
const numberOf = (call: number): string => `+1555${String(call).padStart(7, '0')}`;
const ACCOUNT = `AC${'0'.repeat(32)}`;

const twilio: MediaWire = {
  returnsMarks: true,
  protocols: [],
  headers: {},
  async socketUrl(gatewayUrl, authToken, call) {
    const address = `${gatewayUrl}/carriers/twilio/voice`;
    const about = { callSid: callSidOf(call), accountSid: ACCOUNT, from: numberOf(call), to: '+15550100002' };
    const answer = await fetch(address, signedWebhook(address, authToken, about, { CallStatus: 'ringing' }));
    const document = await answer.text();
    const stream = /<Stream url="([^"]+)"/u.exec(document)?.[1];
    if (stream === undefined) throw new Error(`call ${call} was refused: ${document}`);
    return stream;
  },
  start(call) {
    const streamSid = streamSidOf(call);
    const mediaFormat = { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 };
    const ids = { streamSid, accountSid: ACCOUNT, callSid: callSidOf(call) };
    const start = { ...ids, tracks: ['inbound'], mediaFormat, customParameters: {} };
    return [
      '{"event":"connected","protocol":"Call","version":"1.0.0"}',
      JSON.stringify({ event: 'start', sequenceNumber: '1', start, streamSid }),
    ];
  },
  frame: (call, frame, { base64 }) =>
    `{"event":"media","sequenceNumber":"${frame + 2}","media":{"track":"inbound","chunk":"${frame + 1}","timestamp":"${frame * FRAME_MS}","payload":"${base64}"},"streamSid":"${streamSidOf(call)}"}`,
  read(data) {
    const message = JSON.parse(data.toString('latin1')) as {
      event: string;
      media?: { payload: string };
      mark?: { name: string };
    };
    if (message.media !== undefined) return { audio: Buffer.from(message.media.payload, 'base64') };
    if (message.mark !== undefined) return { mark: message.mark.name };
    return message.event === 'clear' ? { clear: true } : {};
  },
  mark: (call, name) => JSON.stringify({ event: 'mark', sequenceNumber: '0', streamSid: streamSidOf(call), mark: { name } }),
  stop: (call) => JSON.stringify({ event: 'stop', sequenceNumber: '0', streamSid: streamSidOf(call), stop: {} }),
};

/** chan_websocket with lines of words: audio in binary messages, and a password in place of a webhook. */
const asterisk: MediaWire = {
  // They are gone without a word.
  returnsMarks: false,
  protocols: ['media'],
  headers: { authorization: `Basic ${Buffer.from(`offhook:${ASTERISK_PASSWORD}`).toString('base64')}` },
  async socketUrl(gatewayUrl, _authToken, call) {
    const query = new URLSearchParams({ call: `bench.${call}`, from: numberOf(call), to: '+15550100002' });
    return `${gatewayUrl.replace(/^http/u, 'ws')}/carriers/asterisk/media?${query.toString()}`;
  },
  start: (call) => [
    `MEDIA_START connection_id:bench channel:WebSocket/bench/${call} channel_id:bench.${call} format:ulaw optimal_frame_size:160 ptime:20`,
  ],
  frame: (_call, _frame, { bytes }) => bytes,
  read(data, isBinary) {
    if (isBinary) return { audio: data };
    const [name, id] = data.toString('latin1').split(' ');
    if (name === 'MARK_MEDIA') return { mark: id ?? '' };
    return name === 'FLUSH_MEDIA' ? { clear: true } : {};
  },
  mark: (_call, name) => `MEDIA_MARK_PROCESSED ${name}`,
  stop: () => undefined,
};

export const WIRES: Readonly<Record<WireName, MediaWire>> = { twilio, asterisk };
