import { describe, expect, it } from 'vitest';
import { basicCredentials } from '../../../src/carriers/proofs.ts';
import type { Carrier, CarrierRequest, SocketDoor } from '../../../src/carriers/carrier.ts';
import { acefone, astradial, smartflo } from '../../../src/carriers/smartflo/carrier.ts';
import { Secret } from '../../../src/config/secrets.ts';
import { openCarriers } from '../../../src/carriers/open-carriers.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { SimulatedRest } from '../../../src/sim/dialling-carrier.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { expectSurvival, jsonSink } from './fixtures.ts';
import { allowedTarget } from '../../support/open-dialling.ts';

/** docs.smartflo.tatatelebusiness.com, "Bi-Directional Audio Streaming Integration Document", with made-up ids. */
const start = {
  event: 'start',
  sequenceNumber: '1',
  start: {
    streamSid: 'st-1',
    accountSid: '5061',
    callSid: '1758782566.8131',
    from: '+919876543210',
    to: '+918047491899',
    direction: 'inbound',
    mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, bitRate: 64, bitDepth: 8 },
    customParameters: { name: 'Asha' },
  },
  streamSid: 'st-1',
};
const text = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
const config = { settings: smartflo.settings.parse({}), secrets: {} };

function started(carrier: Carrier = smartflo) {
  const codec = carrier.codec(config);
  expect(codec.read(text(start), false, jsonSink()).type).toBe('started');
  return codec;
}

describe('the media protocol of Smartflo', () => {
  it('reads a whole session', () => {
    const codec = smartflo.codec(config);
    const mulaw = { encoding: 'mulaw', rateHz: 8_000 };
    const payload = Buffer.alloc(800, 0x7f);
    const media = (timestamp: unknown) => ({
      event: 'media',
      media: { chunk: '1', timestamp, payload: payload.toString('base64') },
      streamSid: 'st-1',
    });
    const reads = [
      [{ event: 'connected' }, { type: 'connected' }],
      [
        start,
        {
          type: 'started',
          streamId: 'st-1',
          carrierCallId: '1758782566.8131',
          inbound: mulaw,
          outbound: mulaw,
          parameters: { name: 'Asha' },
          call: { from: '+919876543210', to: '+918047491899', direction: 'inbound' },
        },
      ],
      [media('0'), { type: 'audio', timestampMs: 0 }],
      [media(100), { type: 'audio', timestampMs: 100 }],
      [
        { event: 'dtmf', streamSid: 'st-1', sequenceNumber: '4', dtmf: { digit: '1' } },
        { type: 'digit', digit: '1' },
      ],
      [
        { event: 'mark', streamSid: 'st-1', mark: { name: '0.a.1' } },
        { type: 'mark', name: '0.a.1' },
      ],
      [
        { event: 'new', streamSid: 'st-1' },
        { type: 'ignored', name: 'new' },
      ],
      [
        { event: 'stop', stop: { callSid: '1758782566.8131', reason: 'hangup' } },
        { type: 'stopped', reason: 'hangup' },
      ],
    ] as const;
    for (const [message, expected] of reads) expect(codec.read(text(message), false, jsonSink())).toMatchObject(expected);
  });

  it('reads numbers at the root, and a call that went out', () => {
    const { from, to, ...rest } = start.start;
    const atRoot = { ...start, from, to, start: { ...rest, direction: 'outbound' } };
    expect(astradial.codec(config).read(text(atRoot), false, jsonSink())).toMatchObject({
      call: { from, to, direction: 'outbound' },
    });
  });

  it.each(['slin16', 'audio/x-l16'])('reads %s for linear samples', (encoding) => {
    const linear = { ...start, start: { ...start.start, mediaFormat: { encoding, sampleRate: '8000' } } };
    expect(acefone.codec(config).read(text(linear), false, jsonSink())).toMatchObject({
      inbound: { encoding: 'pcm16', rateHz: 8_000 },
    });
  });

  it('refuses another encoding, and a start without a call', () => {
    const other = { ...start, start: { ...start.start, mediaFormat: { encoding: 'audio/opus', sampleRate: 8000 } } };
    const nameless = { ...start, start: { ...start.start, callSid: undefined } };
    for (const bad of [other, nameless])
      expect(smartflo.codec(config).read(text(bad), false, jsonSink())).toMatchObject({ type: 'rejected', fatal: true });
  });

  it('sends counted audio, marks and clears, and ends the call by a message', () => {
    const codec = started();
    const to = jsonSink();
    codec.audio(Buffer.alloc(160, 1), to);
    codec.audio(Buffer.alloc(320, 2), to);
    codec.mark('0.a.1', to);
    codec.clear(to);
    expect(codec.goodbye?.('done', to)).toBe('close');
    const streamSid = 'st-1';
    expect(to.sent).toEqual([
      { event: 'media', streamSid, media: { chunk: 1, payload: Buffer.alloc(160, 1).toString('base64') } },
      { event: 'media', streamSid, media: { chunk: 2, payload: Buffer.alloc(320, 2).toString('base64') } },
      { event: 'mark', streamSid, mark: { name: '0.a.1' } },
      { event: 'clear', streamSid },
      { event: 'end', streamSid, call_sid: '1758782566.8131' },
    ]);
  });

  it('sends no end to Astradial, of which none is known', () => {
    const to = jsonSink();
    expect(started(astradial).goodbye?.('done', to)).toBe('close');
    expect(to.sent).toEqual([]);
  });

  it('never throws, whatever comes, and reads what comes after it', () =>
    expectSurvival(
      started,
      text({ event: 'media', media: { payload: '////', timestamp: '9' } }),
      false,
      'start',
      'media',
      'stop',
      'mark',
      'dtmf',
      'streamSid',
      'payload',
    ));
});

const keys = [new Secret('next'), new Secret('k e/y')];
function doorOf(carrier: Carrier, settings: Record<string, unknown> = {}): SocketDoor {
  const parts = { clock: new ManualClock(), gatewayUrl: () => '' };
  const door = carrier.door({ settings: carrier.settings.parse(settings), secrets: {} }, keys, parts);
  if (door.kind !== 'socket') throw new Error('no socket door');
  return door;
}
const asked = (query: string, more: Partial<CarrierRequest> = {}): CarrierRequest => ({
  urls: [`https://bot.example/carriers/smartflo/media/clinic${query}`],
  headers: {},
  address: '203.0.113.7',
  ...more,
});

describe('the media socket of Smartflo', () => {
  it.each([
    ['its key in the query', asked('?key=k%20e%2Fy'), 'at-start'],
    ['its key as credentials', asked('', { headers: { authorization: basicCredentials('offhook', 'k e/y') } }), 'at-start'],
    ['another key', asked('?key=other'), 401],
    ['an empty key', asked('?key='), 401],
    ['no key', asked(''), 401],
  ])('with %s', (_, request, answer) => {
    for (const carrier of [smartflo, acefone, astradial]) expect(doorOf(carrier).readCall(request, 'clinic')).toBe(answer);
  });

  it('is let in from the addresses of the setting', () => {
    const door = doorOf(smartflo, { allowedAddresses: '203.0.113.0/24' });
    expect(door.readCall(asked('?key=next'), undefined)).toBe('at-start');
    expect(door.readCall(asked('?key=next', { address: '198.51.100.1' }), undefined)).toBe(401);
    expect(smartflo.problems?.({ settings: { allowedAddresses: 'here' }, secrets: {} })).toMatchObject([
      { setting: 'allowedAddresses' },
    ]);
  });

  it('has its address told to a dynamic endpoint, by its key', () => {
    const { lookup } = doorOf(smartflo);
    const query = { callId: '1758782566.8131', fromNumber: '+919876543210', toNumber: '+918047491899' };
    expect(lookup?.readCall(asked('?key=next'), query, 'clinic')).toMatchObject({
      carrier: 'smartflo',
      carrierCallId: query.callId,
    });
    expect(lookup?.readCall(asked('?key=next'), {}, 'clinic')).toBe(400);
    expect(lookup?.readCall(asked(''), query, 'clinic')).toBe(401);
    const { text: body } = lookup?.answer({ url: 'wss://b/s', statusUrl: '', callId: 'c', carrierCallId: 'x' }) ?? { text: '' };
    expect(JSON.parse(body)).toEqual({ sucess: true, wss_url: 'wss://b/s' });
  });
});

describe('acting on calls of Smartflo', () => {
  const { signal } = new AbortController();

  async function account(answer: (path: string, body: Record<string, unknown>) => readonly [status: number, body: object]) {
    const asked: unknown[] = [];
    const rest = await SimulatedRest.start(Date.now, async (request, reply) => {
      let body = '';
      for await (const part of request.setEncoding('utf8')) body += String(part);
      asked.push({ url: request.url, authorization: request.headers.authorization, body: JSON.parse(body) as unknown });
      reply(...answer(request.url ?? '', JSON.parse(body) as Record<string, unknown>));
    });
    const logger = createLogger({ level: 'error', stream: { write: () => undefined } });
    const secrets = { streamKey: keys, apiToken: [new Secret('the-token')] };
    const configs = new Map([['smartflo', { settings: smartflo.settings.parse({ apiUrl: rest.url }), secrets }]]);
    const parts = {
      clock: new ManualClock(),
      gatewayUrl: () => '',
      configs,
      dataDir: '/nonexistent',
      logger,
      carriers: [smartflo],
    };
    const control = openCarriers(parts).get('smartflo')?.control;
    if (control === undefined) throw new Error('no control');
    return { control, asked, [Symbol.asyncDispose]: () => rest[Symbol.asyncDispose]() };
  }

  it('hangs up and passes calls on by their ids', async () => {
    await using at = await account(() => [200, { success: true }]);
    await at.control.hangUp('1.2', signal);
    await at.control.transfer('1.2', allowedTarget('+919876543210'), signal);
    const authorization = 'Bearer the-token';
    expect(at.asked).toEqual([
      { url: '/v1/call/hangup', authorization, body: { call_id: '1.2' } },
      { url: '/v1/call/options', authorization, body: { type: 4, call_id: '1.2', intercom: '919876543210' } },
    ]);
    await expect(at.control.sendDigits('1.2', '1', signal)).rejects.toMatchObject({ surelyNotDone: true });
  });

  it('fails where the carrier refuses, in whichever way, and for an address that is no number', async () => {
    await using at = await account((path) =>
      path.endsWith('hangup') ? [404, {}] : [200, { success: false, message: 'Invalid intercom' }],
    );
    await at.control.hangUp('1.2', signal);
    await expect(at.control.transfer('1.2', allowedTarget('+919876543210'), signal)).rejects.toThrow('Invalid intercom');
    await expect(at.control.transfer('1.2', allowedTarget('sip:a@b.example'), signal)).rejects.toMatchObject({
      surelyNotDone: true,
    });
    expect(at.asked).toHaveLength(2);
  });

  it('fails where a hang-up is refused in an answer with status 200', async () => {
    await using at = await account(() => [200, { success: false, message: 'Call cannot be ended' }]);
    await expect(at.control.hangUp('1.2', signal)).rejects.toThrow('Call cannot be ended');
  });

  it('is possible only with a token, and never at Astradial', () => {
    const parts = { clock: new ManualClock(), gatewayUrl: () => '' };
    for (const carrier of [smartflo, acefone, astradial]) {
      const settings = carrier.settings.parse({});
      expect(carrier.control({ settings, secrets: {} }, parts)).toBeUndefined();
      const control = carrier.control({ settings, secrets: { apiToken: keys } }, parts);
      expect(control === undefined).toBe(carrier === astradial);
      expect(control?.dialling).toBeUndefined();
    }
  });
});
