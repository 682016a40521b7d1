import { describe, expect, it } from 'vitest';
import { basicCredentials } from '../../../src/carriers/proofs.ts';
import { provenStatusUrl } from '../../../src/carriers/exotel/reports.ts';
import { exotel } from '../../../src/carriers/exotel/carrier.ts';
import { Secret } from '../../../src/config/secrets.ts';
import { SimulatedExotelStream } from '../../../src/sim/exotel/stream.ts';
import { authToken, openStream, startGateway, type Gateway } from './gateway.ts';

const headers = { authorization: basicCredentials('offhook', authToken) };
const start = () => startGateway({ others: [exotel] });
const numbers = { from: '+919876543210', to: '08047491899' };

function open({ url, clock }: Gateway, more: object = {}): Promise<SimulatedExotelStream> {
  const address = `${url.replace('http', 'ws')}/carriers/exotel/media/clinic?sample-rate=8000`;
  const target = { url: address, credentials: `offhook:${authToken}`, callSid: 'c-1', accountSid: 'acme1', ...numbers, ...more };
  return SimulatedExotelStream.open(target, clock);
}

describe('a media socket of Exotel', () => {
  it.each(['snake', 'camel'] as const)('is let in by its credentials, and its %s start is the call', async (casing) => {
    await using gateway = await start();
    const line = await open(gateway, { casing });
    await expect.poll(() => gateway.intake.attachments.length).toBe(1);
    expect(gateway.intake.answered).toMatchObject([{ carrier: 'exotel', carrierCallId: 'c-1', ...numbers, botName: 'clinic' }]);
    const [attached] = gateway.intake.attachments;
    expect(attached?.attachment.capabilities).toMatchObject({ frameMs: 20, messageMs: 200 });
    attached?.attachment.sendAudio(new Int16Array(1_600).fill(900));
    attached?.attachment.sendMark('0.a.1');
    await expect.poll(() => line.payloadBytes.get(3_200)).toBe(1);
    attached?.attachment.sendClear();
    attached?.attachment.close('done');
    expect(await line.ended).toMatchObject({ byGateway: true });
    expect(line.complaints).toEqual([]);
    expect(gateway.lines.join('\n')).not.toContain('rejected');
  });

  it.each([
    ['no credentials', {}],
    ['other credentials', { authorization: basicCredentials('offhook', 'another') }],
  ])('is refused with %s, before anything is made for it', async (_, given) => {
    await using gateway = await start();
    expect(await openStream(`${gateway.url.replace('http', 'ws')}/carriers/exotel/media/clinic`, given)).toBe(401);
    expect(gateway.intake.answered).toEqual([]);
  });

  it('logs a rate that was not asked for, and goes on at it', async () => {
    await using gateway = await start();
    const line = await open(gateway, { url: `${gateway.url.replace('http', 'ws')}/carriers/exotel/media?sample-rate=16000` });
    await expect.poll(() => gateway.intake.attachments.length).toBe(1);
    expect(gateway.intake.attachments[0]?.attachment.started.inbound).toEqual({ encoding: 'pcm16', rateHz: 16_000 });
    expect(gateway.lines.join('\n')).toContain('start has 16000 Hz, and exotel.sampleRateHz is 8000');
    line.stop();
  });
});

describe('the address of a media socket, where Exotel asks for it', () => {
  const ask = ({ url }: Gateway, query: string, given: Record<string, string> = headers) =>
    fetch(`${url}/carriers/exotel/voice/clinic?${query}`, { headers: given });

  it('has a token that opens it once, for that call', async () => {
    await using gateway = await start();
    const answer = await ask(gateway, 'CallSid=c-1&CallFrom=%2B919876543210&CallTo=08047491899&Direction=incoming');
    expect(answer.status).toBe(200);
    const { url } = (await answer.json()) as { url: string };
    expect(url).toMatch(/^ws:\/\/.*\/carriers\/exotel\/stream\/[\w.-]+\?sample-rate=8000$/u);
    expect(gateway.intake.answered).toMatchObject([
      { carrierCallId: 'c-1', ...numbers, direction: 'inbound', botName: 'clinic' },
    ]);
    const line = await open(gateway, { url, credentials: undefined });
    await expect.poll(() => gateway.intake.attachments.length).toBe(1);
    expect(await openStream(url, {})).toBe(403);
    expect(gateway.lines.join('\n')).not.toContain(url.split('/').at(-1)?.split('?')[0] ?? '');
    line.stop();
  });

  it('is kept from who has no right credentials, names no call, or has a call that is not taken', async () => {
    await using gateway = await start();
    expect((await ask(gateway, 'CallSid=c-1', {})).status).toBe(401);
    expect((await ask(gateway, 'From=1')).status).toBe(400);
    expect(gateway.intake.answered).toEqual([]);
    gateway.intake.refusal = { kind: 'refuse', say: 'All lines are busy.', language: 'en', cause: 'calls', reason: 'full' };
    expect((await ask(gateway, 'CallSid=c-1')).status).toBe(503);
  });

  it('opens for no other call', async () => {
    await using gateway = await start();
    const { url } = (await (await ask(gateway, 'CallSid=c-1')).json()) as { url: string };
    const line = await open(gateway, { url, credentials: undefined, callSid: 'c-2' });
    expect(await line.ended).toMatchObject({ byGateway: true, code: 1008 });
    expect(gateway.intake.attachments).toEqual([]);
  });
});

describe('a report of Exotel', () => {
  const body = JSON.stringify({ CallSid: 'c-1', EventType: 'terminal', Status: 'completed' });
  const post = (url: string) => fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });

  it('is believed at the address of its call alone', async () => {
    await using gateway = await start();
    const address = (callId: string) => provenStatusUrl(`${gateway.url}/carriers/exotel/status/${callId}`, new Secret(authToken));
    expect((await post(`${gateway.url}/carriers/exotel/status/call_1`)).status).toBe(400);
    expect((await post(address('call_1').replace(/proof=..../u, 'proof=AAAA'))).status).toBe(403);
    expect((await post(address('call_1').replace('call_1', 'call_2'))).status).toBe(403);
    expect(gateway.intake.reported).toEqual([]);
    expect((await post(address('call_1'))).status).toBe(204);
    expect(gateway.intake.reported).toMatchObject([
      { callId: 'call_1', carrierCallId: 'c-1', progress: { outcome: 'completed' } },
    ]);
  });
});
