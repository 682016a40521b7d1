import { createHash, randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { vonage } from '../../../src/carriers/vonage/carrier.ts';
import { authToken, closeOf, type Gateway, openStream, startGateway } from './gateway.ts';

const uuid = '63f61863-4a51-4f6b-86e1-46edebcf9356';
const call = { from: '447700900000', to: '442079460000', uuid, conversation_uuid: `CON-${uuid}` };
const start = (): ReturnType<typeof startGateway> => startGateway({ others: [vonage] });

interface Signed {
  readonly path?: string;
  readonly body?: object;
  /** What is signed, when it is not what is sent. */
  readonly signedBody?: object;
  readonly secret?: string;
  readonly issuedAtMs?: number;
  readonly claims?: Record<string, unknown>;
}

/** Posts a webhook as Vonage signs it: the hash of the body in a JWT. */
async function post(
  gateway: Gateway,
  { path = '/carriers/vonage/voice', body = call, ...signed }: Signed = {},
): Promise<Response> {
  const hash = createHash('sha256')
    .update(JSON.stringify(signed.signedBody ?? body))
    .digest('hex');
  const token = await new SignJWT({ payload_hash: hash, api_key: 'abcd1234', jti: randomUUID(), ...signed.claims })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuedAt(Math.floor((signed.issuedAtMs ?? gateway.clock.wallMs()) / 1000))
    .sign(Buffer.from(signed.secret ?? authToken));
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
  return fetch(gateway.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
}

interface Connect {
  readonly action: string;
  readonly eventUrl: readonly string[];
  readonly endpoint: readonly { readonly uri: string; readonly headers: Record<string, string> }[];
}

async function nccoOf(response: Response): Promise<Connect> {
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toContain('application/json');
  const [action, ...rest] = (await response.json()) as readonly Connect[];
  // Whatever stands behind it would run over the bot.
  expect(rest).toEqual([]);
  if (action === undefined) throw new Error('an empty NCCO');
  return action;
}

describe('the answer webhook', () => {
  it('is answered with a socket, and tells numbers as everybody writes them', async () => {
    await using gateway = await start();
    const connect = await nccoOf(await post(gateway, { path: '/carriers/vonage/voice/clinic' }));
    expect(connect).toMatchObject({
      action: 'connect',
      eventType: 'synchronous',
      eventUrl: [`${gateway.url}/carriers/vonage/status`],
      endpoint: [{ type: 'websocket', 'content-type': 'audio/l16;rate=16000', headers: { 'call-uuid': uuid } }],
    });
    expect(connect.endpoint[0]?.uri).toMatch(/^ws:\/\/127\.0\.0\.1:\d+\/carriers\/vonage\/stream\/[\w.-]+$/u);
    expect(JSON.stringify(connect.endpoint[0]?.headers).length).toBeLessThan(512);
    const expected = { carrier: 'vonage', from: '+447700900000', to: '+442079460000', carrierCallId: uuid, botName: 'clinic' };
    expect(gateway.intake.answered).toMatchObject([expected]);
  });

  it.each([
    ['by another secret', { secret: 'another' }],
    ['for another body', { signedBody: { ...call, uuid: 'another' } }],
    ['six minutes ago', { issuedAtMs: 0 }],
    ['without the hash of a body', { claims: { payload_hash: undefined } }],
  ])('is refused where it was signed %s', async (_, signed: Signed) => {
    await using gateway = await start();
    const issuedAtMs = signed.issuedAtMs === undefined ? {} : { issuedAtMs: gateway.clock.wallMs() - 360_000 };
    expect((await post(gateway, { ...signed, ...issuedAtMs })).status).toBe(403);
    expect(gateway.intake.answered).toEqual([]);
  });

  it('is refused without a token, and as GET with a word on what to set', async () => {
    await using gateway = await start();
    const url = `${gateway.url}/carriers/vonage/voice`;
    expect((await fetch(url, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } })).status).toBe(400);
    const asGet = await fetch(`${url}?uuid=${uuid}`, { headers: { authorization: 'Bearer a.b.c' } });
    expect(asGet.status).toBe(405);
    expect(await asGet.text()).toContain("Set this webhook's method to POST");
  });

  it('is answered with a sentence where no call is taken', async () => {
    await using gateway = await start();
    gateway.intake.refusal = { kind: 'refuse', say: 'All lines are busy.', language: 'en', cause: 'calls', reason: 'full' };
    const refused = await post(gateway);
    expect(await refused.json()).toEqual([{ action: 'talk', text: 'All lines are busy.', language: 'en-US' }]);
  });
});

describe('events', () => {
  it('end a call, and are answered with a sentence where its socket could not be opened', async () => {
    await using gateway = await start();
    const path = '/carriers/vonage/status';
    expect((await post(gateway, { path, body: { uuid, status: 'answered' } })).status).toBe(204);
    expect((await post(gateway, { path, body: { uuid, status: 'completed' } })).status).toBe(204);
    expect(gateway.intake.statuses).toEqual([`${uuid} answered false`, `${uuid} completed true`]);
    const failed = await post(gateway, { path, body: { uuid: 'leg', status: 'failed', detail: 'cannot connect' } });
    expect(await failed.json()).toMatchObject([{ action: 'talk' }]);
    expect((await post(gateway, { path, body: { type: 'audio:record' } })).status).toBe(400);
  });
});

describe('the socket', () => {
  it('carries samples both ways, once for each token, and names its call', async () => {
    await using gateway = await start();
    const { endpoint } = await nccoOf(await post(gateway));
    const [{ uri, headers } = { uri: '', headers: {} }] = endpoint;
    const socket = await openStream(uri, {});
    if (!(socket instanceof WebSocket)) throw new Error(`refused with ${socket}`);
    const got: Buffer[] = [];
    socket.on('message', (data: Buffer) => got.push(data));
    socket.send(JSON.stringify({ event: 'websocket:connected', 'content-type': 'audio/l16;rate=16000', ...headers }));
    await expect.poll(() => gateway.intake.attachments.length).toBe(1);
    const [attached] = gateway.intake.attachments;
    if (attached === undefined) throw new Error('nothing attached');
    for (let frame = 0; frame < 3; frame += 1) socket.send(Buffer.alloc(640));
    await expect.poll(() => attached.events.length).toBe(3);
    for (const event of attached.events) expect(event.type === 'audio' && event.pcm.length).toBe(320);
    expect(attached.attachment).toMatchObject({ rateHz: 16_000, speechFormat: { encoding: 'pcm16', rateHz: 16_000 } });
    expect(() => attached.attachment.sendAudio(new Int16Array(150))).toThrow(RangeError);
    attached.attachment.sendAudio(new Int16Array(1_600));
    attached.attachment.sendMark('m');
    await expect.poll(() => got.length).toBe(6);
    expect(got.map(({ length }) => length).slice(0, 5)).toEqual([640, 640, 640, 640, 640]);
    expect(await openStream(uri, {})).toBe(403);
    socket.close();
  });

  it.each([
    ['is the end of the call where Vonage closes it', (socket: WebSocket) => socket.close(1000), ['stopped', 'closed']],
    ['is lost where its connection breaks', (socket: WebSocket) => socket.terminate(), ['closed']],
  ])('%s', async (_, end, expected) => {
    await using gateway = await start();
    const { endpoint } = await nccoOf(await post(gateway));
    const [{ uri, headers } = { uri: '', headers: {} }] = endpoint;
    const socket = await openStream(uri, {});
    if (!(socket instanceof WebSocket)) throw new Error(`refused with ${socket}`);
    socket.send(JSON.stringify({ event: 'websocket:connected', 'content-type': 'audio/l16;rate=16000', ...headers }));
    await expect.poll(() => gateway.intake.attachments.length).toBe(1);
    end(socket);
    await expect.poll(() => gateway.intake.attachments[0]?.events.map(({ type }) => type)).toEqual(expected);
  });

  it('is closed where its start names another call', async () => {
    await using gateway = await start();
    const { endpoint } = await nccoOf(await post(gateway));
    const socket = await openStream(endpoint[0]?.uri ?? '', {});
    if (!(socket instanceof WebSocket)) throw new Error(`refused with ${socket}`);
    const closed = closeOf(socket);
    socket.send(JSON.stringify({ event: 'websocket:connected', 'content-type': 'audio/l16;rate=16000', 'call-uuid': 'another' }));
    expect((await closed).code).toBe(1008);
  });
});

describe('the socket of a dialled call', () => {
  const dial = { carrier: 'vonage', callId: 'call_1', attachmentId: 'att_dial' };
  const started = { event: 'websocket:connected', 'content-type': 'audio/l16;rate=16000', 'call-id': 'call_1' };

  it('names no call, and is of the one that the carrier reported', async () => {
    await using gateway = await start();
    const { streamUrl, statusUrl } = await gateway.streams.forDial(dial, 60_000);
    const event = { uuid, status: 'ringing', from: '442079460000', to: '447700900000', direction: 'outbound' };
    expect((await post(gateway, { path: new URL(statusUrl).pathname, body: event })).status).toBe(204);
    expect(gateway.intake.reported).toMatchObject([{ callId: 'call_1', carrierCallId: uuid, progress: { state: 'ringing' } }]);
    const socket = await openStream(streamUrl, {});
    if (!(socket instanceof WebSocket)) throw new Error(`refused with ${socket}`);
    socket.send(JSON.stringify(started));
    await expect.poll(() => gateway.intake.attachments.length).toBe(1);
    expect(gateway.intake.attachments[0]?.attachment.started).toMatchObject({ carrierCallId: uuid, streamId: 'call_1' });
    socket.close();
  });

  it('is closed where nobody knows which call of the carrier it is', async () => {
    await using gateway = await start();
    const { streamUrl } = await gateway.streams.forDial(dial, 60_000);
    const socket = await openStream(streamUrl, {});
    if (!(socket instanceof WebSocket)) throw new Error(`refused with ${socket}`);
    const closed = closeOf(socket);
    socket.send(JSON.stringify(started));
    expect((await closed).reason).toBe('start names no call');
    expect(gateway.intake.abandoned).toMatchObject([{ callId: 'call_1', attachmentId: 'att_dial' }]);
  });

  it('is no matter of an event that is replayed under the address of another dial', async () => {
    await using gateway = await start();
    for (const callId of ['call_1', 'call_2']) await gateway.streams.forDial({ ...dial, callId }, 60_000);
    gateway.streams.placed('vonage', 'call_1', uuid);
    gateway.streams.placed('vonage', 'call_2', 'another');
    const body = { uuid, status: 'completed', to: '447700900000' };
    await post(gateway, { path: '/carriers/vonage/status/call_2', body });
    expect(gateway.intake.reported).toEqual([]);
  });
});
