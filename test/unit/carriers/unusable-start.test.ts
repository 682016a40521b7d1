import { describe, expect, it } from 'vitest';
import type { Carrier } from '../../../src/carriers/carrier.ts';
import type { ConnectionListener, MediaConnection } from '../../../src/carriers/media-connection.ts';
import { acceptMediaSocket } from '../../../src/carriers/media-socket.ts';
import { carriers } from '../../../src/carriers/registry.ts';
import { ManualClock } from '../../support/manual-clock.ts';

/** A connection whose messages are read by a test. */
class FakeConnection implements MediaConnection {
  readyState = 1;
  readonly bufferedAmount = 0;
  readonly sent: string[] = [];
  /** What was sent, and then the code of the close. */
  readonly order: (string | number)[] = [];
  listener: ConnectionListener | undefined;
  #room = Buffer.alloc(0);
  readonly writes = {
    room: (length: number) => (this.#room = Buffer.alloc(length)),
    send: (_: string, length: number) => void this.order.push(this.#room.toString('hex', 0, length)),
    sendText: (text: string) => void this.order.push(text),
  };
  ping = (): void => undefined;
  terminate = (): void => void this.order.push('terminated');
  listen(listener: ConnectionListener): void {
    this.listener = listener;
  }
  close(code: number): void {
    this.readyState = 2;
    this.order.push(code);
  }
}

const json = (value: object): Buffer => Buffer.from(JSON.stringify(value));
const SESSION = '30b0e395-84d3-4570-ac13-9a62d8f514c0';
const open = (parameters: object, seq = 1): Buffer =>
  json({ version: '2', id: SESSION, type: 'open', seq, serverseq: 0, position: 'PT0S', parameters });
const audioSocketMessage = (kind: number, payload: Buffer): Buffer =>
  Buffer.concat([Buffer.from([kind, payload.length >> 8, payload.length & 0xff]), payload]);
const opus = { encoding: 'audio/opus', sampleRate: 48_000, channels: 2 };

interface Unusable {
  readonly messages: readonly Buffer[];
  /** Of the log: what is wrong, or what is accepted. */
  readonly says: RegExp;
  /** What the other end is told before the close; nothing where absent. */
  readonly told?: RegExp;
  /** It closes the socket then, or is closed in five seconds. */
  readonly waits?: true;
}

const twilioLike: Unusable = {
  messages: [json({ event: 'start', start: { streamSid: 's', callSid: 'c', mediaFormat: opus } })],
  says: /media format is audio\/opus at 48000 Hz, 2 channels; accepted is audio\/x-mulaw/u,
};
const smartfloLike = (told?: RegExp): Unusable => ({ ...twilioLike, ...(told && { told }) });
const plivoLike = {
  messages: [json({ event: 'start', start: { streamId: 's', callId: 'c', mediaFormat: opus } })],
  says: /accepted is/u,
};
const fork: Unusable = {
  messages: [json({ callSid: 'c', sampleRate: 11_025, mixType: 'mono' })],
  says: /sampleRate is 11025; accepted are/u,
};

/** By carrier. */
const starts: Readonly<Record<string, Unusable>> = {
  twilio: twilioLike,
  signalwire: { ...twilioLike, says: /media format is audio\/opus.*accepted is/u },
  asterisk: {
    messages: [Buffer.from('MEDIA_START connection_id:a channel_id:b format:g729 optimal_frame_size:20 ptime:20')],
    says: /g729 in frames of 20 ms; accepted are .*c\(ulaw\)/u,
  },
  audiosocket: {
    messages: [audioSocketMessage(1, Buffer.alloc(16, 7)), audioSocketMessage(0x10, Buffer.alloc(160))],
    says: /160 bytes of audio in place of 320.*c\(slin\)/u,
    told: /^000000$/u,
  },
  exotel: {
    messages: [
      json({
        event: 'start',
        start: { stream_sid: 's', call_sid: 'c', media_format: { encoding: 'raw', sample_rate: '44100' } },
      }),
    ],
    says: /44100 Hz.*accepted is/u,
  },
  plivo: plivoLike,
  vobiz: { ...plivoLike, told: /"event":"stop"/u, waits: true },
  telnyx: {
    messages: [
      json({
        event: 'start',
        stream_id: 's',
        start: { call_control_id: 'c', media_format: { encoding: 'OPUS', sample_rate: 48_000, channels: 1 } },
      }),
    ],
    says: /media format is opus.*accepted is pcmu, pcma, l16/u,
  },
  vonage: {
    messages: [json({ event: 'websocket:connected', 'content-type': 'audio/opus;rate=48000' })],
    says: /accepted is audio\/l16/u,
  },
  jambonz: { ...fork, told: /"type":"disconnect"/u, waits: true },
  freeswitch: fork,
  genesys: {
    messages: [open({ conversationId: 'c', media: [{ type: 'audio', format: 'L16', channels: ['external'], rate: 16_000 }] })],
    says: /accepted is PCMU at 8000 Hz/u,
    told: /"type":"disconnect".*"reason":"error"/u,
    waits: true,
  },
  smartflo: smartfloLike(/"event":"end"/u),
  acefone: smartfloLike(/"event":"end"/u),
  astradial: smartfloLike(),
  bandwidth: { messages: [json({ eventType: 'start', metadata: { streamId: 's' } })], says: /start has no metadata\.callId/u },
  browser: {
    messages: [json({ type: 'start', rateHz: 11_025 })],
    says: /accepted are .*48000/u,
    told: /"type":"stop"/u,
  },
};

function accept(carrier: Carrier) {
  const connection = new FakeConnection();
  const clock = new ManualClock();
  const problems: string[] = [];
  const abandoned: string[] = [];
  const config = {
    settings: carrier.settings.parse(carrier.name === 'freeswitch' ? { module: 'mod_audio_fork' } : {}),
    secrets: {},
  };
  acceptMediaSocket({
    connection,
    carrier: carrier.name,
    capabilities: carrier.capabilities,
    codec: carrier.codec(config),
    clock,
    events: { messageRejected: ({ problem }) => void problems.push(problem), messageUnknown: () => undefined },
    callId: 'call_1',
    attachmentId: 'att_1',
    carrierCallId: undefined,
    startTimeoutMs: 5_000,
    onStarted: () => expect.unreachable('the start cannot be used'),
    onAbandoned: (reason) => void abandoned.push(reason),
    onFault: (error) => {
      throw error;
    },
  });
  return { connection, clock, problems, abandoned };
}

describe.each(carriers.map((carrier) => ({ carrier, title: carrier.title })))(
  'a start of $title that cannot be used',
  ({ carrier }) => {
    const { messages, says, told, waits } = starts[carrier.name] ?? { messages: [], says: /./u };

    it('is logged with what is accepted, and the socket is closed as the protocol wants it', () => {
      const { connection, clock, problems, abandoned } = accept(carrier);
      for (const message of messages) connection.listener?.message(message, false);
      expect(problems.join('\n')).toMatch(says);
      expect(abandoned).toEqual([problems.at(-1)]);
      const texts = connection.order.filter((each) => typeof each === 'string');
      expect(texts.join('\n')).toMatch(told ?? /^$/u);
      if (waits === true) {
        expect(connection.order.some((each) => typeof each === 'number')).toBe(false);
        clock.advance(5_000);
      }
      expect(connection.order.at(-1)).toBe(1003);
      clock.advance(2_000);
      expect(connection.order.at(-1)).toBe('terminated');
    });
  },
);

it('answers the close with which Genesys answers a refusal, and nothing else', () => {
  const genesys = carriers.find(({ name }) => name === 'genesys');
  if (genesys === undefined) throw new Error('there is no genesys');
  const { connection, abandoned } = accept(genesys);
  connection.listener?.message(open({ conversationId: 'c', media: [] }), false);
  connection.listener?.message(Buffer.alloc(160), true);
  const close = {
    version: '2',
    id: SESSION,
    type: 'close',
    seq: 2,
    serverseq: 1,
    position: 'PT0S',
    parameters: { reason: 'error' },
  };
  connection.listener?.message(json(close), false);
  expect(connection.order.map((each) => (typeof each === 'string' ? (JSON.parse(each) as { type: string }).type : each))).toEqual(
    ['disconnect', 'closed', 1000],
  );
  expect(abandoned).toHaveLength(1);
});
