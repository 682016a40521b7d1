import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { audiosocket } from '../../../src/carriers/audiosocket/carrier.ts';
import type { Carrier } from '../../../src/carriers/carrier.ts';
import type { MediaElsewhere, MediaUpgrade } from '../../../src/http/intake.ts';
import { authToken, type Gateway, type GatewayOptions, startGateway } from './gateway.ts';
import { HANGS_MS } from '../../support/patience.ts';

const listening = z.object({ message: z.literal('listening for media over TCP'), port: z.number() });
const onAnyPort: Carrier = {
  ...audiosocket,
  door: (_config, proofs, parts) =>
    audiosocket.door({ settings: audiosocket.settings.parse({ port: 0 }), secrets: {} }, proofs, parts),
};

async function start(options: GatewayOptions = {}) {
  const gateway = await startGateway({ ...options, others: [onAnyPort] });
  const told = gateway.lines.map((line) => listening.safeParse(JSON.parse(line))).find(({ success }) => success);
  if (told?.data === undefined) throw new Error('no port was told');
  return { ...gateway, port: told.data.port };
}

function ask(gateway: Pick<Gateway, 'url'>, fields: Record<string, string> = {}, password = authToken): Promise<Response> {
  const authorization = `Basic ${Buffer.from(`offhook:${password}`).toString('base64')}`;
  const body = new URLSearchParams({ call: '1795440311.0', from: 'phone', to: '100', ...fields });
  return fetch(`${gateway.url}/carriers/audiosocket/voice/clinic`, { method: 'POST', headers: { authorization }, body });
}

const message = (kind: number, payload: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from([kind, payload.length >> 8, payload.length & 0xff]), payload]);
const naming = (uuid: string): Buffer => message(0x01, Buffer.from(uuid.replaceAll('-', ''), 'hex'));
const frame = message(0x10, Buffer.alloc(320, 7));

async function open(port: number): Promise<Socket & { readonly got: Buffer[] }> {
  const socket = connect({ host: '127.0.0.1', port });
  const got: Buffer[] = [];
  socket.on('data', (data: Buffer) => got.push(data)).on('error', () => undefined);
  await once(socket, 'connect');
  return Object.assign(socket, { got });
}

const closed = (socket: Socket): Promise<void> => expect.poll(() => socket.closed, { timeout: HANGS_MS }).toBe(true);

describe('a call over AudioSocket', () => {
  it('is heard and answered by whole messages, however the bytes come', async () => {
    await using gateway = await start();
    const uuid = await (await ask(gateway)).text();
    const socket = await open(gateway.port);
    // Cut anywhere: within heads, across messages.
    for (const byte of Buffer.concat([naming(uuid), frame])) socket.write(Buffer.from([byte]));
    await expect.poll(() => gateway.intake.attachments.length).toBe(1);
    expect(gateway.intake.answered).toMatchObject([
      { carrierCallId: '1795440311.0', from: 'phone', to: '100', botName: 'clinic' },
    ]);
    const [attached] = gateway.intake.attachments;
    if (attached === undefined) throw new Error('nothing attached');
    expect(attached.attachment.started).toMatchObject({ carrierCallId: '1795440311.0', streamId: uuid });
    socket.write(Buffer.concat([frame, frame, message(0x03, Buffer.from('4'))]));
    await expect.poll(() => attached.events.map(({ type }) => type)).toEqual(['audio', 'audio', 'digit']);
    // Silence came at once, before there was anything to say.
    await expect.poll(() => Buffer.concat(socket.got).length).toBe(323);
    attached.attachment.sendAudio(new Int16Array(320).fill(1000));
    await expect.poll(() => Buffer.concat(socket.got).length).toBe(3 * 323);
    expect(Buffer.concat(socket.got).subarray(323, 330).toString('hex')).toBe('100140e803e803');
    attached.attachment.close('over');
    await closed(socket);
    expect(Buffer.concat(socket.got).subarray(-3).toString('hex')).toBe('000000');
  });

  it('is of the call that we dialled where the request for its UUID brings the token of the order', async () => {
    await using gateway = await start();
    const dial = { carrier: 'audiosocket', callId: 'call_1', attachmentId: 'att_1' };
    const { streamUrl } = await gateway.streams.forDial(dial, 60_000);
    gateway.streams.placed('audiosocket', 'call_1', 'call_1');
    const uuid = await (await ask(gateway, { token: streamUrl.slice(streamUrl.lastIndexOf('/') + 1) })).text();
    const socket = await open(gateway.port);
    socket.write(Buffer.concat([naming(uuid), frame]));
    await expect.poll(() => gateway.intake.attachments.length).toBe(1);
    expect(gateway.intake.attachments[0]).toMatchObject({
      callId: 'call_1',
      attachment: { started: { carrierCallId: 'call_1' } },
    });
    expect(gateway.intake.answered).toEqual([]);
    // Asterisk hangs up by closing: the call is over, not lost.
    socket.end();
    await expect.poll(() => gateway.intake.attachments[0]?.events.map(({ type }) => type)).toEqual(['stopped', 'closed']);
  });

  it('is closed where that token is none of ours', async () => {
    await using gateway = await start();
    const uuid = await (await ask(gateway, { token: 'forged' })).text();
    const socket = await open(gateway.port);
    socket.write(Buffer.concat([naming(uuid), frame]));
    await closed(socket);
    expect(gateway.intake.attachments).toEqual([]);
  });

  it('is kept up by silence while nobody speaks', async () => {
    await using gateway = await start();
    const socket = await open(gateway.port);
    socket.write(Buffer.concat([naming(await (await ask(gateway)).text()), frame]));
    await expect.poll(() => gateway.intake.attachments.length).toBe(1);
    for (const frames of [2, 3, 4]) {
      gateway.clock.advance(1_000);
      await expect.poll(() => Buffer.concat(socket.got).length).toBe(frames * 323);
    }
    socket.destroy();
  });

  it('ends when the connection is reset', async () => {
    await using gateway = await start();
    const socket = await open(gateway.port);
    socket.write(Buffer.concat([naming(await (await ask(gateway)).text()), frame]));
    await expect.poll(() => gateway.intake.attachments.length).toBe(1);
    socket.resetAndDestroy();
    await expect.poll(() => gateway.intake.attachments[0]?.events.at(-1)?.type).toBe('closed');
  });

  it('ends when a message comes that is none', async () => {
    await using gateway = await start();
    const socket = await open(gateway.port);
    socket.write(Buffer.concat([naming(await (await ask(gateway)).text()), frame]));
    await expect.poll(() => gateway.intake.attachments.length).toBe(1);
    socket.write(Buffer.alloc(1_000, 0x47));
    await closed(socket);
    await expect.poll(() => gateway.intake.attachments[0]?.events.at(-1)?.type).toBe('closed');
  });

  it('is handed over, with all that came, where another process has it', async () => {
    const taken: MediaUpgrade[] = [];
    const media: MediaElsewhere = {
      expect: () => undefined,
      abandon: () => undefined,
      async take(_grant, upgrade) {
        taken.push(upgrade);
        upgrade.socket.end();
      },
    };
    await using gateway = await start({ media });
    const socket = await open(gateway.port);
    const sent = Buffer.concat([naming(await (await ask(gateway)).text()), frame]);
    socket.write(sent);
    await closed(socket);
    expect(taken).toMatchObject([{ transport: 'tcp', early: sent, address: '127.0.0.1' }]);
  });
});

describe('an AudioSocket connection', () => {
  it.each([
    ['a UUID that nobody was given', naming('8f6a450e-216d-46a4-baf5-cb3655f8f6dd'), 'no-call'],
    ['audio first', frame, 'no-call'],
    ['another protocol', Buffer.from('GET / HTTP/1.1\r\n\r\n'), 'not-started'],
  ])('is closed for %s', async (_, bytes, reason) => {
    await using gateway = await start();
    const socket = await open(gateway.port);
    socket.write(bytes);
    await closed(socket);
    expect(socket.got).toEqual([]);
    expect(gateway.lines.join()).toContain(reason);
  });

  it('is closed when its UUID was used before', async () => {
    await using gateway = await start();
    const first = naming(await (await ask(gateway)).text());
    const [one, two] = [await open(gateway.port), await open(gateway.port)];
    one.write(Buffer.concat([first, frame]));
    await expect.poll(() => gateway.intake.attachments.length).toBe(1);
    two.write(Buffer.concat([first, frame]));
    await closed(two);
    expect(gateway.intake.attachments.length).toBe(1);
    one.destroy();
  });

  it('is closed when it says nothing, and when too many of one address do', async () => {
    await using gateway = await start({ env: { OFFHOOK_HTTP__PENDING_STREAMS_PER_ADDRESS: '2' } });
    const silent = [await open(gateway.port), await open(gateway.port)];
    const third = await open(gateway.port);
    await closed(third);
    expect(gateway.lines.join()).toContain('too-many-pending');
    gateway.clock.advance(5_000);
    await Promise.all(silent.map(closed));
  });
});

describe('the request for a UUID', () => {
  it('is refused without the right password', async () => {
    await using gateway = await start();
    expect((await ask(gateway, {}, 'wrong')).status).toBe(403);
    expect((await fetch(`${gateway.url}/carriers/audiosocket/voice`, { method: 'POST' })).status).toBe(400);
    expect(gateway.intake.answered).toEqual([]);
  });

  it('is answered with no UUID for a call that is not taken', async () => {
    await using gateway = await start();
    gateway.intake.refusal = { kind: 'refuse', say: 'All lines are busy.', language: 'en', cause: 'calls', reason: 'full' };
    expect(await (await ask(gateway)).text()).toBe('refused');
  });
});
