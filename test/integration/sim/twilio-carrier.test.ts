import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { encodeMulaw } from '../../../src/audio/g711.ts';
import { sine } from '../../../src/audio/tone.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { CallRefused } from '../../../src/sim/errors.ts';
import { dialTwilio, type DialOptions, SimulatedCall } from '../../../src/sim/twilio/carrier.ts';
import type { SimulatedStream } from '../../../src/sim/twilio/stream.ts';
import { authToken, type CarrierMessage, type GatewaySocket, StandIn } from './stand-in.ts';

const options = (standIn: StandIn, more: Partial<DialOptions> = {}): DialOptions => ({
  url: standIn.url,
  authToken,
  clock: systemClock,
  ...more,
});
const tone = (ms: number): string => Buffer.from(encodeMulaw(sine(300, ms, 8000, 0.3))).toString('base64');
const is =
  (event: string) =>
  (message: CarrierMessage): boolean =>
    message.event === event;

/** Resolves when this holds after some 20 ms of the stream; the test's own limit is the deadline. */
function until(stream: SimulatedStream, holds: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const stop = stream.watch(() => {
      if (!holds()) return;
      stop();
      resolve();
    });
  });
}

async function connected(
  standIn: StandIn,
  more: Partial<DialOptions> = {},
): Promise<{ call: SimulatedCall; socket: GatewaySocket; streamSid: string }> {
  const call = await dialTwilio(options(standIn, more));
  const socket = standIn.sockets.at(-1)!;
  await socket.next(is('start'));
  return { call, socket, streamSid: call.stream.streamSid };
}

describe('placing a call', () => {
  it('signs the webhook, the upgrade and the status callback as Twilio does', async () => {
    await using standIn = await StandIn.start();
    const { call, socket } = await connected(standIn, { bot: 'clinic', from: '+15550100011' });
    await call.hangUp();
    await expect(call.ended).resolves.toEqual({ by: 'caller', problem: undefined });
    expect(standIn.webhooks.map(({ path, signed }) => ({ path, signed }))).toEqual([
      { path: '/carriers/twilio/voice/clinic', signed: true },
      { path: '/carriers/twilio/status', signed: true },
    ]);
    expect(standIn.webhooks[0]!.fields).toMatchObject({ CallSid: call.callSid, From: '+15550100011', CallStatus: 'ringing' });
    expect(standIn.webhooks[1]!.fields).toMatchObject({ CallSid: call.callSid, CallStatus: 'completed' });
    expect(socket).toMatchObject({ path: '/stream/one', signed: true });
  });

  it('signs with the token it was given, and no other', async () => {
    await using standIn = await StandIn.start();
    const call = await dialTwilio(options(standIn, { authToken: 'another' }));
    await call.hangUp();
    expect(standIn.webhooks.map(({ signed }) => signed)).toEqual([false, false]);
    expect(standIn.sockets[0]!.signed).toBe(false);
  });

  it('says connected, then start, then media without end, numbered as text', async () => {
    await using standIn = await StandIn.start();
    const { call, socket, streamSid } = await connected(standIn);
    await until(call.stream, () => socket.messages.length > 16);
    await call.hangUp();
    if (socket.socket.readyState !== socket.socket.CLOSED) await once(socket.socket, 'close');
    const [first, start, ...rest] = socket.messages;
    expect(first).toEqual({ event: 'connected', protocol: 'Call', version: '1.0.0' });
    expect(start).toEqual({
      event: 'start',
      sequenceNumber: '1',
      streamSid,
      start: {
        accountSid: call.accountSid,
        callSid: call.callSid,
        streamSid,
        tracks: ['inbound'],
        mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 },
        customParameters: { bot: 'clinic' },
      },
    });
    const media = rest.slice(0, -1);
    expect(media.length).toBeGreaterThanOrEqual(15);
    for (const [index, message] of media.entries()) {
      expect(message).toMatchObject({
        event: 'media',
        sequenceNumber: String(index + 2),
        media: { track: 'inbound', chunk: String(index + 1), timestamp: String(102 + 20 * index) },
      });
      expect(payloadOf(message)).toHaveLength(160);
    }
    expect(rest.at(-1)).toEqual({
      event: 'stop',
      sequenceNumber: String(media.length + 2),
      streamSid,
      stop: { accountSid: call.accountSid, callSid: call.callSid },
    });
  });

  it.each([
    { note: 'a webhook that fails', twiml: null, said: [] },
    { note: 'a document that is no TwiML', twiml: '<html>', said: [] },
    { note: 'a sentence and a hang-up', twiml: '<Response><Say>Sorry.</Say><Hangup/></Response>', said: ['Sorry.'] },
  ])('is refused by $note, and the call is over', async ({ twiml, said }) => {
    await using standIn = await StandIn.start();
    standIn.twiml = () => twiml;
    const call = new SimulatedCall(options(standIn));
    await expect(call.connect()).rejects.toThrow(CallRefused);
    expect(call.said).toEqual(said);
    expect((await call.ended).by).toBe('gateway');
    expect(standIn.webhooks.at(-1)!.path).toBe('/carriers/twilio/status');
  });

  it('is refused by a gateway that refuses its socket (31920)', async () => {
    await using standIn = await StandIn.start();
    standIn.refuseUpgrade = true;
    await expect(dialTwilio(options(standIn))).rejects.toThrow(/31920.*403/u);
  });

  it('follows a redirect', async () => {
    await using standIn = await StandIn.start();
    standIn.twiml = (path) =>
      path === '/next' ? standIn.streamDocument() : '<Response><Play digits="12"/><Redirect>/next</Redirect></Response>';
    const { call } = await connected(standIn);
    expect(call.playedDigits).toEqual(['12']);
    await call.hangUp();
  });
});

function payloadOf(message: CarrierMessage): Buffer {
  const media: unknown = message['media'];
  if (typeof media !== 'object' || media === null || !('payload' in media)) throw new TypeError('no media');
  return Buffer.from(String(media.payload), 'base64');
}

describe('what the caller does', () => {
  it('keeps pace with the clock and not with its timers', async () => {
    await using standIn = await StandIn.start();
    const { call } = await connected(standIn);
    await until(call.stream, () => call.stream.nowMs > 200);
    // The event loop stalls; what was due meanwhile is sent at once.
    const untilMs = systemClock.nowMs() + 150;
    while (systemClock.nowMs() < untilMs);
    await until(call.stream, () => true);
    expect(call.stream.nowMs - call.stream.spoken.length / 8).toBeLessThan(100);
    await call.hangUp();
  });

  it('does not wrap round where it shouts over the noise of the line', async () => {
    await using standIn = await StandIn.start();
    const { call } = await connected(standIn, { stream: { lineNoise: 0.3 } });
    const atMs = call.stream.say(new Int16Array(1600).fill(32_767));
    await until(call.stream, () => call.stream.silent);
    expect(Math.min(...call.stream.spoken.subarray(atMs * 8, atMs * 8 + 1600))).toBeGreaterThan(20_000);
    await call.hangUp();
  });
});

it('what the gateway sends is told apart from what Twilio would refuse, which changes nothing', async () => {
  await using standIn = await StandIn.start();
  const { call, socket, streamSid } = await connected(standIn);
  socket.socket.send(Buffer.from([1, 2, 3]));
  socket.send({ event: 'clear', streamSid, sequenceNumber: '1' });
  socket.send({ event: 'media', streamSid: 'MZother', media: { payload: tone(100) } });
  socket.send({ event: 'mark', streamSid, mark: { name: 'after' } });
  await socket.next(is('mark'));
  expect(call.stream.complaints.map((complaint) => complaint.slice(0, 5))).toEqual(['31950', '31951', '31951']);
  expect(call.stream.buffer.heard.every((sample) => sample === 0)).toBe(true);
  await call.hangUp();
});

describe('the end', () => {
  it('comes when the gateway closes the stream and no verb follows', async () => {
    await using standIn = await StandIn.start();
    const { call, socket } = await connected(standIn);
    socket.socket.close(1000);
    await expect(call.ended).resolves.toEqual({ by: 'gateway', problem: undefined });
    expect(call.stream.open).toBe(false);
    expect(standIn.webhooks.at(-1)).toMatchObject({ path: '/carriers/twilio/status', fields: { CallStatus: 'completed' } });
  });

  it('comes after the verbs that follow', async () => {
    await using standIn = await StandIn.start();
    standIn.twiml = () => standIn.streamDocument('<Say>Goodbye.</Say><Hangup/>');
    const { call, socket } = await connected(standIn);
    socket.socket.close(1000);
    await call.ended;
    expect(call.said).toEqual(['Goodbye.']);
  });

  it('does not come when the socket dies: the same call attaches again', async () => {
    await using standIn = await StandIn.start();
    const { call, socket } = await connected(standIn);
    call.stream.drop();
    await once(socket.socket, 'close');
    expect(socket.messages.some(is('stop'))).toBe(false);
    const again = await call.connect();
    const start = await standIn.sockets[1]!.next(is('start'));
    expect(start).toMatchObject({ streamSid: again.streamSid, start: { callSid: call.callSid } });
    expect(standIn.webhooks.map(({ path }) => path)).toEqual(['/carriers/twilio/voice', '/carriers/twilio/voice']);
    expect(call.streams).toHaveLength(2);
    await call.hangUp();
    expect((await call.ended).by).toBe('caller');
  });

  it('leaves no timer and no socket behind', async () => {
    await using standIn = await StandIn.start();
    const { call, socket } = await connected(standIn, { stream: { toGatewayDelayMs: () => 30 } });
    await call.hangUp();
    await once(socket.socket, 'close');
    const { length } = call.stream.spoken;
    await call.stream.ended;
    expect(call.stream.spoken).toHaveLength(length);
  });
});
