import { LentWrites } from '../../../src/kernel/websocket/lent-writes.ts';
import { describe, expect, it } from 'vitest';
import { MULAW_8K } from '../../../src/audio/format.ts';
import type { MediaEvent } from '../../../src/carriers/port.ts';
import { SocketAttachment } from '../../../src/carriers/socket-attachment.ts';
import type { MediaSocket } from '../../../src/carriers/media-connection.ts';
import { decodeMulaw } from '../../../src/audio/g711.ts';
import { JsonCodec } from '../../../src/carriers/json-codec.ts';
import type { JsonDialect } from '../../../src/carriers/json-dialect.ts';
import { twilioCapabilities, twilioDialect } from '../../../src/carriers/twilio/dialect.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { outbound } from './fixtures.ts';

class FakeSocket implements MediaSocket {
  readyState = 1;
  bufferedAmount = 0;
  readonly sent: string[] = [];
  readonly calls: string[] = [];
  send = (text: string): void => void this.sent.push(text);
  ping = (): void => void this.calls.push('ping');
  terminate = (): void => void this.calls.push('terminate');
  close = (code: number, reason: string): void => void this.calls.push(`close ${code} ${reason}`);
}

function setUp(dialect: JsonDialect = twilioDialect, socket = new FakeSocket(), capabilities = twilioCapabilities) {
  const clock = new ManualClock();
  const streamId = String(outbound.clear['streamSid']);
  const codec = new JsonCodec(dialect);
  const mediaFormat = { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 };
  const started = codec.readText(JSON.stringify({ event: 'start', start: { streamSid: streamId, callSid: 'CA', mediaFormat } }));
  if (started.type !== 'started') throw new Error(`the start was ${started.type}`);
  expect(started.inbound).toEqual(MULAW_8K);
  const about = {
    id: 'att',
    carrier: 'twilio',
    capabilities,
    codec,
    started: { ...started, carrierCallId: 'CA' },
  };
  const attachment = new SocketAttachment({ ...about, socket, writes: new LentWrites(socket, undefined, false), clock });
  const heard: MediaEvent[] = [];
  return { socket, clock, attachment, heard, listen: () => attachment.listen((event) => void heard.push(event)) };
}

const audio = (byte: number) => ({ type: 'audio', payload: Uint8Array.of(byte), timestampMs: undefined }) as const;

describe('SocketAttachment', () => {
  it('sends messages with exactly the fields of the wire format', () => {
    const { attachment, socket } = setUp();
    const payload = Uint8Array.from({ length: 160 }, (_, index) => (index * 7) % 256);
    attachment.sendAudio(decodeMulaw(payload));
    attachment.sendMark('r7.3');
    attachment.sendClear();
    expect(socket.sent.map((text) => JSON.parse(text) as unknown)).toEqual([outbound.media, outbound.mark, outbound.clear]);
  });

  it('writes keys to the socket where the carrier has a message for them, and refuses elsewhere', () => {
    const { attachment, socket } = setUp();
    expect(() => attachment.sendDigits('12#')).toThrow(TypeError);
    const digits = (streamId: string, keys: string): string => JSON.stringify({ event: 'dtmf', streamId, keys });
    const dialect = { ...twilioDialect, send: { ...twilioDialect.send, digits } };
    const { started } = attachment;
    setUp(dialect, socket).attachment.sendDigits('12#');
    expect(socket.sent.map((text) => JSON.parse(text) as unknown)).toEqual([
      { event: 'dtmf', streamId: started.streamId, keys: '12#' },
    ]);
  });

  it.each([
    ['politely', 1000, ['stopped', 'closed']],
    ['without a status', 1005, ['stopped', 'closed']],
    ['by a broken connection', 1006, ['closed']],
  ])('takes a socket that is closed %s for what it is where a close ends the call', (_, code, expected) => {
    const { attachment, heard, listen } = setUp(twilioDialect, new FakeSocket(), { ...twilioCapabilities, closeEndsCall: true });
    listen();
    attachment.closed(code, '');
    expect(heard.map(({ type }) => type)).toEqual(expected);
    const elsewhere = setUp();
    elsewhere.listen();
    elsewhere.attachment.closed(code, '');
    expect(elsewhere.heard.map(({ type }) => type)).toEqual(['closed']);
  });

  it('delivers a key that the carrier reported elsewhere, until the socket is gone', () => {
    const { attachment, heard, listen } = setUp();
    listen();
    attachment.keyReported('5');
    attachment.closed(1000, 'over');
    attachment.keyReported('6');
    expect(heard).toEqual([
      { type: 'digit', digit: '5' },
      { type: 'closed', code: 1000, reason: 'over' },
    ]);
  });

  it('sends only the view it was given', () => {
    const { attachment, socket } = setUp();
    attachment.sendAudio(decodeMulaw(Uint8Array.of(1, 2, 3, 4)).subarray(1, 3));
    expect(socket.sent[0]).toContain(`"${Buffer.from([2, 3]).toString('base64')}"`);
    expect(() => attachment.sendAudio(new Int16Array())).toThrow(RangeError);
  });

  it('holds events until someone listens, and copies lent audio', () => {
    const { attachment, heard, listen } = setUp();
    const lent = Uint8Array.of(7);
    attachment.receive({ type: 'audio', payload: lent, timestampMs: 1 });
    lent[0] = 9;
    attachment.receive({ type: 'digit', digit: '1' });
    listen();
    attachment.receive({ type: 'mark', name: 'm' });
    expect(heard.map(({ type }) => type)).toEqual(['audio', 'digit', 'mark']);
    expect(heard[0]).toMatchObject({ pcm: decodeMulaw(Uint8Array.of(7)) });
    expect(listen).toThrow(TypeError);
  });

  it('keeps the first ten seconds and the end without a listener', () => {
    const { attachment, heard, listen } = setUp();
    for (let count = 0; count < 700; count++) attachment.receive(audio(count % 256));
    attachment.closed(1006, '');
    listen();
    expect(heard).toHaveLength(501);
    expect(heard.at(-1)).toEqual({ type: 'closed', code: 1006, reason: '' });
  });

  it('says closed exactly once and nothing after it', () => {
    const { attachment, heard, listen, clock } = setUp();
    listen();
    attachment.closed(1006, 'gone');
    attachment.closed(1000, 'again');
    attachment.receive({ type: 'digit', digit: '1' });
    attachment.close('late');
    expect(heard).toEqual([{ type: 'closed', code: 1006, reason: 'gone' }]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('closes once, sends nothing afterwards, and terminates a peer that does not answer', () => {
    const { attachment, socket, clock, heard, listen } = setUp();
    listen();
    attachment.close('done');
    attachment.close('done');
    attachment.sendClear();
    attachment.receive(audio(1));
    expect(socket.calls).toEqual(['close 1000 done']);
    expect(socket.sent).toEqual([]);
    expect(heard).toEqual([]);
    clock.advance(2000);
    expect(socket.calls).toEqual(['close 1000 done', 'terminate']);
    attachment.closed(1006, '');
    expect(clock.pendingTimers).toBe(0);
  });

  it('terminates a socket that is silent for two pings, and keeps one that answers', () => {
    const quiet = setUp();
    quiet.clock.advance(20_000);
    expect(quiet.socket.calls).toEqual(['ping', 'terminate']);
    const live = setUp();
    for (let count = 0; count < 10; count++) {
      live.clock.advance(9999);
      live.attachment.touch();
    }
    expect(live.socket.calls).not.toContain('terminate');
  });

  it('gives up a carrier that does not read', () => {
    const { attachment, socket } = setUp();
    socket.bufferedAmount = 2_000_000;
    expect(attachment.bufferedBytes).toBe(2_000_000);
    attachment.sendMark('m');
    expect(socket.calls).toEqual(['terminate']);
    expect(socket.sent).toEqual([]);
  });

  it('sends nothing on a socket that is not open', () => {
    const { attachment, socket } = setUp();
    socket.readyState = 2;
    attachment.sendMark('m');
    expect(socket.sent).toEqual([]);
  });
});
