import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import type { Carrier } from '../../../src/carriers/carrier.ts';
import type { MediaElsewhere, MediaUpgrade } from '../../../src/http/intake.ts';
import { messages, starting } from './starting-carrier.ts';
import { authToken, closeOf, openStream, startGateway } from './gateway.ts';

const start = (media?: MediaElsewhere) => startGateway({ others: [starting], ...(media === undefined ? {} : { media }) });
const startMessage = JSON.stringify({
  event: 'start',
  start: { streamSid: 's-1', callSid: 'call-1', mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 } },
});
const audio = (byte: number): string =>
  JSON.stringify({ event: 'media', media: { payload: Buffer.alloc(160, byte).toString('base64') } });

async function open(url: string, key = authToken): Promise<WebSocket> {
  const socket = await openStream(`${url.replace('http', 'ws')}/carriers/starting/media/clinic`, { 'x-key': key });
  if (!(socket instanceof WebSocket)) throw new Error(`refused with ${socket}`);
  return socket;
}

describe('a media socket whose start says which call it is', () => {
  it('is asked for once it has started, and loses no sound that came meanwhile', async () => {
    await using gateway = await start();
    let answer: () => void = () => undefined;
    gateway.intake.delay = new Promise((resolve) => (answer = resolve));
    const socket = await open(gateway.url);
    expect(gateway.intake.answered).toEqual([]);
    socket.send(startMessage);
    for (let byte = 0; byte < 20; byte += 1) socket.send(audio(byte));
    await expect.poll(() => gateway.intake.answered.length).toBe(1);
    expect(gateway.intake.answered).toMatchObject([
      { carrier: 'starting', carrierCallId: 'call-1', from: '+1', to: '+2', direction: 'inbound', botName: 'clinic' },
    ]);
    for (let byte = 20; byte < 40; byte += 1) socket.send(audio(byte));
    answer();
    await expect.poll(() => gateway.intake.attachments[0]?.events.length).toBe(40);
    gateway.intake.attachments[0]?.attachment.sendMark('m');
    const [said] = await new Promise<[Buffer]>((resolve) => socket.once('message', (data: Buffer) => resolve([data])));
    expect(JSON.parse(said.toString())).toMatchObject({ event: 'mark' });
    socket.close();
  });

  it('goes to the process that has its call, with every byte that came before', async () => {
    let given: MediaUpgrade | undefined;
    await using gateway = await start({
      expect: () => undefined,
      abandon: () => undefined,
      async take(_grant, upgrade) {
        given = upgrade;
        upgrade.socket.destroy();
      },
    });
    const socket = await open(gateway.url);
    const closed = closeOf(socket);
    socket.send(startMessage);
    await closed;
    expect(given).toMatchObject({ answered: true, headers: { 'x-key': authToken } });
    // Masked: its length shows that all of it is there.
    expect(given?.early.length).toBe(startMessage.length + 8);
  });

  it.each([
    ['says nothing', undefined, 5_000],
    ['says something, and never starts', JSON.stringify({ event: 'connected' }), 60_000],
  ])('is closed when it %s', async (_, message, afterMs) => {
    await using gateway = await start();
    const socket = await open(gateway.url);
    const closed = closeOf(socket);
    if (message !== undefined) {
      const before = messages.read;
      socket.send(message);
      await expect.poll(() => messages.read).toBe(before + 1);
    }
    gateway.clock.advance(afterMs);
    expect((await closed).code).toBe(1008);
    expect(gateway.intake.answered).toEqual([]);
    expect(gateway.lines.join()).toContain('not-started');
  });

  it('ends with the gateway while it waits for its start', async () => {
    await using gateway = await start();
    const socket = await open(gateway.url);
    const closed = closeOf(socket);
    await gateway.app.close();
    expect((await closed).code).toBe(1006);
  });

  it('is refused before it is upgraded without its proof', async () => {
    await using gateway = await start();
    await expect(open(gateway.url, 'another')).rejects.toThrow('refused with 401');
  });

  it('is answered where it only tries the connection, and no call comes of it', async () => {
    await using gateway = await start();
    const socket = await open(gateway.url);
    const heard = new Promise<string>((resolve) => socket.once('message', (data: Buffer) => resolve(data.toString())));
    socket.send('trial');
    expect(await heard).toBe('fine');
    const closed = closeOf(socket);
    socket.send('bye');
    expect((await closed).code).toBe(1000);
    expect(gateway.intake.answered).toEqual([]);
  });

  it('is ended at a carrier that keeps calls up without a stream, where it is not taken', async () => {
    const ended: string[] = [];
    const keeps: Carrier = {
      ...starting,
      control: () => ({
        outlivesStream: true,
        hangUp: async (call) => void ended.push(call),
        transfer: async () => undefined,
        sendDigits: async () => undefined,
      }),
    };
    await using gateway = await startGateway({ others: [keeps] });
    gateway.intake.refusal = { kind: 'refuse', say: 'Busy.', language: 'en', cause: 'calls', reason: 'full' };
    const socket = await open(gateway.url);
    const closed = closeOf(socket);
    socket.send(startMessage);
    expect((await closed).code).toBe(1008);
    expect(ended).toEqual(['call-1']);
  });

  it('is closed where its call is not taken', async () => {
    await using gateway = await start();
    gateway.intake.refusal = { kind: 'refuse', say: 'Busy.', language: 'en', cause: 'calls', reason: 'full' };
    const socket = await open(gateway.url);
    const closed = closeOf(socket);
    socket.send(startMessage);
    expect((await closed).code).toBe(1008);
    expect(gateway.lines.join()).toContain('call-refused');
  });
});
