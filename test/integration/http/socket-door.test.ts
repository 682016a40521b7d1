import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { decodeAudio } from '../../../src/audio/codec.ts';
import type { Carrier } from '../../../src/carriers/carrier.ts';
import { JsonCodec } from '../../../src/carriers/json-codec.ts';
import { twilio } from '../../../src/carriers/twilio/carrier.ts';
import { twilioDialect } from '../../../src/carriers/twilio/dialect.ts';
import type { MediaElsewhere } from '../../../src/http/intake.ts';
import { authToken, closeOf, openStream, startGateway } from './gateway.ts';

const every = Uint8Array.from({ length: 256 }, (_, code) => code);

/** A carrier without a webhook: its socket brings a key and the call in headers, and A-law both ways. */
const exchange: Carrier = {
  ...twilio,
  name: 'exchange',
  capabilities: { ...twilio.capabilities, frameMs: 0 },
  codec: () => new JsonCodec({ ...twilioDialect, start: { ...twilioDialect.start, encodings: { 'audio/x-alaw': 'alaw' } } }),
  door: (_config, proofs) => ({
    kind: 'socket',
    readCall({ headers }, botName) {
      if (!proofs.some((proof) => proof.equals(headers['x-key'] ?? ''))) return 401;
      const carrierCallId = headers['x-call'];
      if (carrierCallId === undefined) return 400;
      return { carrier: 'exchange', carrierCallId, from: headers['x-from'] ?? '', to: '', direction: 'inbound', botName };
    },
  }),
};

const start = () => startGateway({ others: [exchange] });
const headers = { 'x-key': authToken, 'x-call': 'call-1', 'x-from': '+15550100' };
const started = {
  event: 'start',
  start: { streamSid: 's-1', callSid: 'call-1', mediaFormat: { encoding: 'audio/x-alaw', sampleRate: 8000, channels: 1 } },
};

async function open(url: string, given: Record<string, string> = headers): Promise<WebSocket> {
  const socket = await openStream(`${url.replace('http', 'ws')}/carriers/exchange/media/clinic`, given);
  if (!(socket instanceof WebSocket)) throw new Error(`refused with ${socket}`);
  return socket;
}

describe('a media socket that is all that comes of a call', () => {
  it('is admitted by its own proof, and hears and sends every A-law code as it is', async () => {
    await using gateway = await start();
    const socket = await open(gateway.url);
    const got: { media?: { payload: string } }[] = [];
    socket.on('message', (data: Buffer) => got.push(JSON.parse(data.toString()) as { media?: { payload: string } }));
    expect(gateway.intake.answered).toMatchObject([
      { carrier: 'exchange', carrierCallId: 'call-1', from: '+15550100', botName: 'clinic' },
    ]);
    socket.send(JSON.stringify(started));
    await expect.poll(() => gateway.intake.attachments.length).toBe(1);
    const [attached] = gateway.intake.attachments;
    if (attached === undefined) throw new Error('nothing attached');
    socket.send(JSON.stringify({ event: 'media', media: { payload: Buffer.from(every).toString('base64') } }));
    await expect.poll(() => attached.events.length).toBe(1);
    const [heard] = attached.events;
    expect(heard?.type === 'audio' && heard.pcm).toEqual(decodeAudio('alaw', every));
    attached.attachment.sendAudio(decodeAudio('alaw', every));
    await expect.poll(() => got.length).toBe(1);
    expect(Buffer.from(got[0]?.media?.payload ?? '', 'base64')).toEqual(Buffer.from(every));
    expect(attached.attachment.speechFormat).toEqual({ encoding: 'alaw', rateHz: 8000 });
    socket.close();
  });

  it.each([
    [401, 'without its key', { 'x-call': 'call-1' }],
    [401, 'with another key', { ...headers, 'x-key': 'another' }],
    [400, 'that names no call', { 'x-key': authToken }],
  ])('is refused with %i %s, before anything is made for it', async (status, _, given: Record<string, string>) => {
    await using gateway = await start();
    await expect(open(gateway.url, given)).rejects.toThrow(`refused with ${status}`);
    expect(gateway.intake.answered).toEqual([]);
  });

  it('is refused with 503 where no call is taken, and told as a refused call', async () => {
    await using gateway = await start();
    gateway.intake.refusal = { kind: 'refuse', say: 'All lines are busy.', language: 'en', cause: 'calls', reason: 'full' };
    await expect(open(gateway.url)).rejects.toThrow('refused with 503');
    expect(gateway.lines.join()).toContain('call refused');
  });

  it('is handed over, not upgraded, where another process has its call', async () => {
    const told: unknown[] = [];
    const media: MediaElsewhere = {
      expect: (callId, attachmentId) => void told.push(['expect', callId, attachmentId]),
      abandon: () => undefined,
      async take(grant, { socket, headers: sent }) {
        told.push(['take', grant.callId, grant.attachmentId, sent['x-call']]);
        socket.end('HTTP/1.1 418 Taken\r\ncontent-length: 0\r\n\r\n');
      },
    };
    await using gateway = await startGateway({ others: [exchange], media });
    await expect(open(gateway.url)).rejects.toThrow('refused with 418');
    expect(told).toEqual([
      ['expect', 'call_call-1', 'att_1'],
      ['take', 'call_call-1', 'att_1', 'call-1'],
    ]);
  });

  it('is given up with its call when it says nothing', async () => {
    await using gateway = await start();
    const socket = await open(gateway.url);
    const closed = closeOf(socket);
    gateway.clock.advance(5_000);
    expect((await closed).code).toBe(1008);
    expect(gateway.intake.abandoned).toMatchObject([{ callId: 'call_call-1' }]);
  });

  it('has its law refused where the carrier has another', async () => {
    await using gateway = await start();
    const socket = await open(gateway.url);
    const closed = closeOf(socket);
    const mediaFormat = { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 };
    socket.send(JSON.stringify({ ...started, start: { ...started.start, mediaFormat } }));
    expect(await closed).toMatchObject({ code: 1003, reason: expect.stringContaining('audio/x-mulaw') });
  });
});
