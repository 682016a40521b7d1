import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CarrierDoor, WebhookDoor } from '../../../src/carriers/carrier.ts';
import { jambonz } from '../../../src/carriers/jambonz/carrier.ts';
import { AudioForkCodec } from '../../../src/carriers/jambonz/codec.ts';
import { dialProgress, isSignedBody, readCallWebhook, readStatusWebhook } from '../../../src/carriers/jambonz/webhook.ts';
import { Secret } from '../../../src/config/secrets.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { expectSurvival, sink } from './fixtures.ts';

const CALL = 'ac5c697a-bfae-4335-ad8a-1d3f0c5f4c11';
/** As jambonz-feature-server's lib/tasks/listen.js puts it together. */
const metadata = {
  sampleRate: 8000,
  mixType: 'mono',
  callSid: CALL,
  direction: 'inbound',
  from: '+447777777777',
  to: '+441234567890',
  callStatus: 'in-progress',
  sipStatus: 200,
  offhookCallId: 'call_1',
  note: 'said \\"hello\\"\\nand left',
};
const text = (value: unknown): Buffer => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));

function started(): AudioForkCodec {
  const codec = new AudioForkCodec();
  expect(codec.read(text(metadata), false).type).toBe('started');
  return codec;
}

describe('the media socket of listen', () => {
  it('reads a whole session', () => {
    const codec = new AudioForkCodec();
    const format = { encoding: 'pcm16', rateHz: 8000 };
    const frame = Buffer.alloc(640, 3);
    const reads = [
      [frame, true, { type: 'ignored' }],
      [text(metadata), false, { type: 'started', carrierCallId: CALL, inbound: format, outbound: format }],
      [frame, true, { type: 'audio', payload: frame, timestampMs: undefined }],
      [text({ event: 'dtmf', dtmf: '5', duration: '1600' }), false, { type: 'digit', digit: '5' }],
      [text({ type: 'mark', data: { name: '0.a.160.end', event: 'playout' } }), false, { type: 'mark', name: '0.a.160.end' }],
      [text({ type: 'mark', data: { name: '0.a.320', event: 'cleared' } }), false, { type: 'alive' }],
      [text({ type: 'playDone', data: { id: 'x' } }), false, { type: 'ignored', name: 'playDone' }],
    ] as const;
    for (const [message, isBinary, expected] of reads) expect(codec.read(message, isBinary)).toMatchObject(expected);
  });

  it('takes back what jambonz escapes in the texts of its metadata', () => {
    const result = new AudioForkCodec().read(text(metadata), false);
    expect(result).toMatchObject({ parameters: { offhookCallId: 'call_1', note: 'said "hello"\nand left' } });
  });

  it.each([
    ['a rate given as text', { ...metadata, sampleRate: '16000' }, 16_000],
    ['both sides mixed', { ...metadata, mixType: 'mixed' }, 8000],
  ])('starts with %s', (_, message, rateHz) => {
    expect(new AudioForkCodec().read(text(message), false)).toMatchObject({ type: 'started', inbound: { rateHz } });
  });

  it.each([
    ['a rate that it has not', { ...metadata, sampleRate: 11_025 }],
    ['no rate', { callSid: CALL }],
    ['two channels', { ...metadata, mixType: 'stereo' }],
    ['a call that is no text', { ...metadata, callSid: 7 }],
  ])('refuses a start with %s for good', (_, message) => {
    expect(new AudioForkCodec().read(text(message), false)).toMatchObject({ type: 'rejected', fatal: true });
  });

  it('never sends a sample of -1, which jambonz takes for a mark', () => {
    const codec = started();
    const to = sink();
    codec.audio(Buffer.from(Int16Array.from([5, -1, -2, 0, -1, 255, -256]).buffer), to);
    const [sent] = to.sent;
    if (!(sent instanceof Buffer)) throw new Error('nothing was sent');
    expect(Array.from({ length: 7 }, (_, at) => sent.readInt16LE(at * 2))).toEqual([5, -2, -2, 0, -2, 255, -256]);
  });

  it('has no more than thirty marks out, and marks again when they come back or are cleared', () => {
    const codec = started();
    const to = sink();
    for (let index = 0; index < 40; index += 1) codec.mark(`m${index}`, to);
    expect(to.sent).toHaveLength(30);
    codec.read(text({ type: 'mark', data: { name: 'm0', event: 'playout' } }), false);
    codec.mark('next', to);
    expect(to.sent).toHaveLength(31);
    codec.clear(to);
    codec.mark('after', to);
    expect(to.sent.slice(31)).toEqual(['{"type":"killAudio"}', '{"type":"mark","data":{"name":"after"}}']);
  });

  it('says goodbye by a message, and waits for the socket to be closed', () => {
    const to = sink();
    expect(started().goodbye('over', to)).toBe('wait');
    expect(to.sent).toEqual(['{"type":"disconnect"}']);
  });

  it('never throws, whatever comes, and reads what comes after it', () =>
    expectSurvival(started, Buffer.alloc(320), true, 'type', 'mark', 'playDone', 'data', 'dtmf'));
});

const secrets = [new Secret('wh_new'), new Secret('wh_old')];
const body = JSON.stringify({ call_sid: CALL, direction: 'inbound', from: '447777777777', to: '+441234567890' });
const signed = (raw: string, secret: string, t: number): string =>
  `t=${t},v1=${createHmac('sha256', secret).update(`${t}.${raw}`).digest('hex')}`;

describe('the signature of a webhook', () => {
  it('is what the reference signs: the moment, a point and the body', () => {
    // Made with `printf '1700000000.{"a":1}' | openssl dgst -sha256 -hmac wh_new`.
    const header = 't=1700000000,v1=c58560a0aa6f7511e98c2660bd2aa3853272f847b2155206459cd7528abc99bb';
    expect(isSignedBody(header, '{"a":1}', secrets, 1_700_000_000_000)).toBe(true);
  });

  it.each([
    ['the secret in force', 'wh_new', 0, true],
    ['the one before it', 'wh_old', 0, true],
    ['another secret', 'wh_other', 0, false],
    ['six minutes ago', 'wh_new', -360, false],
    ['six minutes ahead', 'wh_new', 360, false],
  ])('by %s counts: %s %i s', (_, secret, offsetS, expected) => {
    const nowMs = 1_700_000_000_000;
    expect(isSignedBody(signed(body, secret, nowMs / 1000 + offsetS), body, secrets, nowMs)).toBe(expected);
  });

  it('does not hold for another body, or in another form', () => {
    const header = signed(body, 'wh_new', 1_700_000_000);
    expect(isSignedBody(header, `${body} `, secrets, 1_700_000_000_000)).toBe(false);
    for (const odd of ['', 't=1', `${header}0`, header.replace('v1', 'v0'), header.toUpperCase()])
      expect(isSignedBody(odd, body, secrets, 1_700_000_000_000)).toBe(false);
  });
});

describe('webhooks', () => {
  it('name a call, its numbers with their plus', () => {
    expect(readCallWebhook(JSON.parse(body), 'clinic')).toEqual({
      carrier: 'jambonz',
      carrierCallId: CALL,
      from: '+447777777777',
      to: '+441234567890',
      direction: 'inbound',
      botName: 'clinic',
    });
    for (const none of [undefined, 7, [], {}, { call_sid: '' }]) expect(readCallWebhook(none, undefined)).toBeUndefined();
  });

  it.each([
    [{ call_status: 'trying', sip_status: 100 }, { state: 'queued' }],
    [{ call_status: 'early-media', sip_status: 183 }, { state: 'ringing' }],
    [{ call_status: 'in-progress', sip_status: 200 }, { state: 'answered' }],
    [
      { call_status: 'completed', sip_status: 200 },
      { state: 'ended', outcome: 'completed' },
    ],
    [
      { call_status: 'busy', sip_status: 486 },
      { state: 'ended', outcome: 'busy', cause: 'SIP 486' },
    ],
    [
      { call_status: 'busy', sip_status: '603' },
      { state: 'ended', outcome: 'rejected', cause: 'SIP 603' },
    ],
    [
      { call_status: 'failed', sip_status: 480 },
      { state: 'ended', outcome: 'no-answer', cause: 'SIP 480' },
    ],
    [
      { call_status: 'no-answer', sip_status: 487 },
      { state: 'ended', outcome: 'no-answer', cause: 'SIP 487' },
    ],
  ])('report %o', (report, progress) => {
    expect(readStatusWebhook({ call_sid: CALL, ...report })?.progress).toEqual(progress);
    expect(dialProgress('something new')).toBeUndefined();
  });

  it('say who answered, and then nothing of how far the call is', () => {
    const report = { call_sid: CALL, call_status: 'in-progress', sip_status: 200, type: 'amd_machine_detected', reason: 'hint' };
    expect(readStatusWebhook(report)).toMatchObject({ witness: 'machine', progress: undefined, terminal: false });
    expect(readStatusWebhook({ ...report, type: 'amd_tone_detected' })?.witness).toBe('machine-done');
    expect(readStatusWebhook({ ...report, type: 'amd_stopped' })?.witness).toBeUndefined();
  });

  it('never throw', () => {
    fc.assert(
      fc.property(fc.anything(), (anything) => {
        readStatusWebhook(anything);
        readCallWebhook(anything, undefined);
      }),
    );
  });
});

const parts = { clock: new ManualClock(), gatewayUrl: () => 'https://bot.example' };
function doorWith(settings: Readonly<Record<string, unknown>> = {}): WebhookDoor {
  const door: CarrierDoor = jambonz.door({ settings: jambonz.settings.parse(settings), secrets: {} }, secrets, parts);
  if (door.kind !== 'webhook') throw new Error('no webhook door');
  return door;
}
const answer = { url: 'wss://bot.example/carriers/jambonz/stream/a.b.c', statusUrl: '', callId: 'call_1', carrierCallId: CALL };
interface Listen {
  readonly verb: string;
  readonly wsAuth: { readonly username: string; readonly password: string };
}

describe('the answer', () => {
  it('opens a socket in both directions at the rate of the settings, and asks behind it what comes next', () => {
    const { answers } = doorWith({ sampleRateHz: 16_000 });
    if (answers.by !== 'document') throw new Error('no document');
    const verbs = JSON.parse(answers.stream(answer)) as readonly unknown[];
    expect(verbs).toMatchObject([
      {
        verb: 'listen',
        url: answer.url,
        mixType: 'mono',
        sampleRate: 16_000,
        bidirectionalAudio: { enabled: true, streaming: true, sampleRate: 16_000 },
        passDtmf: true,
        metadata: { offhookCallId: 'call_1' },
      },
      { verb: 'redirect', actionHook: expect.stringMatching(/\/carriers\/jambonz\/next\/call_1$/u) },
    ]);
    expect(answers.over?.()).toBe('[{"verb":"hangup"}]');
    expect(JSON.parse(answers.say('All <lines> are busy.', 'en'))).toEqual([
      { verb: 'say', text: 'All  lines  are busy.' },
      { verb: 'hangup' },
    ]);
  });

  it('has a password that opens its own socket alone', () => {
    const { answers, upgrade } = doorWith();
    if (answers.by !== 'document') throw new Error('no document');
    const [{ wsAuth }] = JSON.parse(answers.stream(answer)) as readonly [Listen];
    const check = (url: string, password = wsAuth.password) =>
      upgrade?.check({
        urls: [url],
        headers: { authorization: `Basic ${btoa(`${wsAuth.username}:${password}`)}` },
        address: '192.0.2.1',
      });
    expect(check('https://bot.example/carriers/jambonz/stream/a.b.c')).toBe('good');
    expect(check('https://bot.example/carriers/jambonz/stream/a.b.d')).toBe('wrong');
    expect(check('https://bot.example/carriers/jambonz/stream/a.b.c', 'guess')).toBe('wrong');
    expect(upgrade?.check({ urls: [answer.url], headers: {}, address: '192.0.2.1' })).toBe('missing');
    expect([upgrade?.required, doorWith({ requireSocketAuth: true }).upgrade?.required]).toEqual([false, true]);
  });
});

describe('a document that a redirected call fetches', () => {
  const verbsFor = (kind: string, value: string): unknown => {
    const { answers } = doorWith();
    const document = answers.by === 'document' ? answers.fetched?.({ kind, value, callId: undefined }) : undefined;
    return document === undefined ? undefined : (JSON.parse(document) as unknown);
  };

  it.each([
    ['dial', '+442079460000', { verb: 'dial', target: [{ type: 'phone', number: '+442079460000' }] }],
    ['dial', 'sip:desk@example.com', { verb: 'dial', target: [{ type: 'sip', sipUri: 'sip:desk@example.com' }] }],
    ['conference', 'offhook-1', { verb: 'conference', name: 'offhook-1', endConferenceOnExit: true }],
    ['stream', `call_1 ${answer.url}`, { verb: 'listen', url: answer.url, metadata: { offhookCallId: 'call_1' } }, 'redirect'],
  ])('of the kind %s for %s', (kind, value, first, last = 'hangup') => {
    expect(verbsFor(kind, value)).toMatchObject([first, { verb: last }]);
  });

  it.each([
    ['dial', '911 & more'],
    ['dial', 'sip:a b'],
    ['conference', '../x'],
    ['stream', 'call_1 http://elsewhere'],
    ['say', 'hello'],
  ])('is none for %s %s', (kind, value) => {
    expect(verbsFor(kind, value)).toBeUndefined();
  });
});

it('says what is missing between its settings', () => {
  const config = { settings: jambonz.settings.parse({ accountSid: '0a9d4c11-6f4e-4f0b-8a7e-2d8b7f1f5c10' }), secrets: {} };
  expect(jambonz.problems?.(config)).toMatchObject([{ setting: 'apiKey' }]);
  expect(jambonz.control(config, parts)).toBeUndefined();
});
