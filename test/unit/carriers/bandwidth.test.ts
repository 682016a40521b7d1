import { describe, expect, it, test } from 'vitest';
import { AccountTokens, bandwidthAccount } from '../../../src/carriers/bandwidth/account.ts';
import { bridgeBxml, keysBxml, sayBxml, streamBxml, transferBxml, waitBxml } from '../../../src/carriers/bandwidth/bxml.ts';
import { bandwidth, bandwidthDialect, type StreamAudio } from '../../../src/carriers/bandwidth/carrier.ts';
import { readEvent, readInitiate } from '../../../src/carriers/bandwidth/webhook.ts';
import { JsonCodec } from '../../../src/carriers/json-codec.ts';
import { defaultPhrases } from '../../../src/config/bot-phrases.ts';
import { Secret } from '../../../src/config/secrets.ts';
import { readAnswerXml } from '../../../src/sim/answer-xml.ts';
import { SimulatedRest } from '../../../src/sim/dialling-carrier.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { expectSurvival, jsonSink } from './fixtures.ts';

const text = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
const start = { eventType: 'start', metadata: { accountId: '55555555', callId: 'c-1', streamId: 's-1', streamName: 'offhook' } };

describe('the token of a Bandwidth account', () => {
  async function account(answer: (path: string, given: number) => Promise<number> | number) {
    let given = 0;
    const rest = await SimulatedRest.start(Date.now, async (request, reply) => {
      const isToken = request.url === '/token';
      if (isToken) given += 1;
      reply(await answer(request.url ?? '', given), isToken ? { access_token: `token-${given}`, expires_in: 3600 } : {});
    });
    const about = {
      apiUrl: rest.url,
      tokenUrl: `${rest.url}/token`,
      accountId: 'a',
      clientId: 'c',
      clientSecret: new Secret('s'),
    };
    const tokens = new AccountTokens(about, new ManualClock());
    const one = bandwidthAccount(about, new ManualClock(), tokens);
    const authorization = async (signal: AbortSignal) => (await tokens.headers(signal))['authorization'];
    return { one, tokens, authorization, [Symbol.asyncDispose]: () => rest[Symbol.asyncDispose]() };
  }
  const { signal } = new AbortController();

  it('is given to those who still wait when the first who asked has left', async () => {
    let asked = (): void => undefined;
    const isAsked = new Promise<void>((resolve) => (asked = resolve));
    let grant = (_status: number): void => undefined;
    const answer = new Promise<number>((resolve) => (grant = resolve));
    await using at = await account(() => {
      asked();
      return answer;
    });
    const leaving = new AbortController();
    const first = at.authorization(leaving.signal);
    const second = at.authorization(signal);
    await isAsked;
    leaving.abort(new Error('left'));
    await expect(first).rejects.toThrow('left');
    grant(200);
    expect(await second).toBe('Bearer token-1');
  });

  it('is asked for anew once the carrier refused it', async () => {
    await using at = await account((path) => (path === '/token' ? 200 : 401));
    const first = await at.tokens.headers(signal);
    expect(first).toEqual({ authorization: 'Bearer token-1' });
    await expect(at.one.end({ method: 'GET', path: '/x' }, signal)).rejects.toMatchObject({ facts: { status: 401 } });
    expect(await at.authorization(signal)).toBe('Bearer token-2');
    // Late news of the first token leaves the second.
    at.tokens.forget(first);
    expect(await at.authorization(signal)).toBe('Bearer token-2');
  });
});

describe('the media stream of Bandwidth', () => {
  const started = (): JsonCodec => {
    const codec = new JsonCodec(bandwidthDialect('pcm-16k'));
    codec.read(text(start), false);
    return codec;
  };

  it('reads a whole session, whose audio is at the top level and has no time', () => {
    const codec = new JsonCodec(bandwidthDialect('mulaw-8k'));
    const format = { encoding: 'mulaw', rateHz: 8000 };
    const reads = [
      [start, { type: 'started', streamId: 's-1', carrierCallId: 'c-1', inbound: format, outbound: format }],
      [
        { eventType: 'media', track: 'inbound', sequenceNumber: 1, payload: '/////w==' },
        { type: 'audio', payload: Buffer.alloc(4, 0xff), timestampMs: undefined },
      ],
      [{ eventType: 'media', track: 'outbound', payload: 'AAAA' }, { type: 'ignored' }],
      [{ eventType: 'other' }, { type: 'ignored', name: 'other' }],
      [{ eventType: 'stop' }, { type: 'stopped' }],
    ] as const;
    for (const [message, expected] of reads) expect(codec.read(text(message), false)).toMatchObject(expected);
  });

  it.each([
    ['no call', { ...start, metadata: { streamId: 's-1' } }],
    ['no stream', { ...start, metadata: { callId: 'c-1' } }],
  ])('refuses a start with %s for good', (_, message) => {
    expect(new JsonCodec(bandwidthDialect('mulaw-8k')).read(text(message), false)).toMatchObject({ fatal: true });
  });

  test.each([
    ['mulaw-8k', 'audio/pcmu', 'mulaw', 8000],
    ['pcm-8k', 'audio/pcm;rate=8000;channels=1;bit-depth=16;endian=little;encoding=signed', 'pcm16', 8000],
    ['pcm-24k', 'audio/pcm;rate=24000;channels=1;bit-depth=16;endian=little;encoding=signed', 'pcm16', 24_000],
  ] satisfies [StreamAudio, string, string, number][])(
    'sends audio as %s, and clears',
    (audio, contentType, encoding, rateHz) => {
      const codec = new JsonCodec(bandwidthDialect(audio));
      expect(codec.read(text(start), false)).toMatchObject({ inbound: { encoding: 'mulaw' }, outbound: { encoding, rateHz } });
      const to = jsonSink();
      codec.audio(Buffer.alloc(3), to);
      codec.clear(to);
      expect(to.sent).toEqual([{ eventType: 'playAudio', media: { contentType, payload: 'AAAA' } }, { eventType: 'clear' }]);
      expect(() => codec.mark('m', to)).toThrow(TypeError);
      expect(bandwidth.capabilities).toMatchObject({ marks: 'none', clear: 'native', dtmfOut: 'rest' });
    },
  );

  it('never throws, whatever comes, and reads what comes after it', () =>
    expectSurvival(
      started,
      text({ eventType: 'media', payload: 'AAAA' }),
      false,
      'eventType',
      'start',
      'media',
      'stop',
      'metadata',
      'payload',
    ));
});

describe('webhooks', () => {
  const about = { callId: 'c-1', from: '+15550100001', to: '+15550100002', direction: 'inbound' };
  const answerTime = '2026-01-01T00:00:00Z';

  it('reads a call that comes in, and no other event as one', () => {
    expect(readInitiate({ ...about, eventType: 'initiate' }, 'desk')).toEqual({
      carrier: 'bandwidth',
      carrierCallId: 'c-1',
      from: '+15550100001',
      to: '+15550100002',
      direction: 'inbound',
      botName: 'desk',
    });
    for (const body of [{ ...about, eventType: 'disconnect' }, { eventType: 'initiate' }, 'text', undefined])
      expect(readInitiate(body, undefined)).toBeUndefined();
  });

  test.each([
    ['an answer', { eventType: 'answer' }, { terminal: false, progress: { state: 'answered' } }],
    ['an end', { eventType: 'disconnect', cause: 'hangup', answerTime }, { terminal: true, progress: { outcome: 'completed' } }],
    [
      'an error in an answered call',
      { eventType: 'disconnect', cause: 'error', answerTime },
      { progress: { outcome: 'completed' } },
    ],
    ['a busy line', { eventType: 'disconnect', cause: 'busy' }, { progress: { outcome: 'busy', cause: 'busy' } }],
    ['nobody', { eventType: 'disconnect', cause: 'timeout' }, { progress: { outcome: 'no-answer' } }],
    ['a phone that declines', { eventType: 'disconnect', cause: 'rejected' }, { progress: { outcome: 'rejected' } }],
    ['a cancelled call', { eventType: 'disconnect', cause: 'cancel' }, { progress: { outcome: 'cancelled' } }],
    [
      'a cause that is new',
      { eventType: 'disconnect', cause: 'toString' },
      { progress: { outcome: 'failed', cause: 'toString' } },
    ],
    ['no cause', { eventType: 'disconnect' }, { progress: { outcome: 'failed' } }],
    ['a machine', { eventType: 'machineDetectionComplete', machineDetectionResult: 'answering-machine' }, { witness: 'machine' }],
    ['a person', { eventType: 'machineDetectionComplete', machineDetectionResult: 'human' }, { witness: 'person' }],
    ['a beep', { eventType: 'machineDetectionComplete', machineDetectionResult: 'tone-detected' }, { witness: 'machine-done' }],
    ['silence', { eventType: 'machineDetectionComplete', machineDetectionResult: 'silence' }, { witness: 'unknown' }],
    ['a key', { eventType: 'dtmf', digit: '#' }, { digit: '#', terminal: false }],
    ['a key that is none', { eventType: 'dtmf', digit: '12' }, { digit: undefined }],
    ['a lost stream', { eventType: 'mediaStreamStopped', cause: 'connection-error' }, { streamError: 'connection-error' }],
    ['a stream that ended', { eventType: 'mediaStreamStopped', cause: 'closed' }, { streamError: undefined }],
    ['a stream that was refused', { eventType: 'mediaStreamRejected' }, { streamError: 'mediaStreamRejected' }],
  ])('reads a report of %s', (_, event, expected) => {
    expect(readEvent({ ...about, ...event })).toMatchObject({ carrierCallId: 'c-1', ...expected });
  });

  it('reads no report without a call or an event', () => {
    for (const body of [{}, { callId: 'c-1' }, { eventType: 'answer', callId: '' }, [], null])
      expect(readEvent(body)).toBeUndefined();
  });

  it('asks for the credentials that are configured, and takes no others', async () => {
    const config = { settings: { webhookUser: 'bw' }, secrets: {} };
    const door = bandwidth.door(config, [new Secret('old'), new Secret('new')], {
      clock: undefined as never,
      gatewayUrl: () => '',
    });
    if (door.kind !== 'webhook') throw new TypeError('bandwidth has no webhooks');
    const signed = async (credentials: string | undefined): Promise<boolean> => {
      const proof = credentials === undefined ? '' : `Basic ${Buffer.from(credentials).toString('base64')}`;
      return door.isSigned({ urls: [], headers: { authorization: proof }, address: '' }, { raw: '', parsed: {} });
    };
    const given = ['bw:old', 'bw:new', 'bw:other', 'other:new', undefined];
    expect(await Promise.all(given.map(signed))).toEqual([true, true, false, false, false]);
    expect(door.challenge).toMatch(/^Basic /u);
    expect([`Basic ${Buffer.from('a:b').toString('base64')}`, 'Bearer x', ''].map((header) => door.isProof(header))).toEqual([
      true,
      false,
      false,
    ]);
  });

  it('says which value of an account is missing', () => {
    const problems = (settings: object, secrets: object) =>
      bandwidth.problems?.({ settings, secrets } as never)?.map(({ setting }) => setting);
    expect(problems({}, {})).toEqual([]);
    expect(problems({ clientId: 'x' }, {})).toEqual(['accountId', 'applicationId', 'clientSecret']);
    expect(problems({ clientId: 'x', accountId: '1', applicationId: 'a' }, { clientSecret: [new Secret('s')] })).toEqual([]);
  });
});

describe('documents', () => {
  it('keeps the call until the stream ends, has keys reported, and sends its credentials along', () => {
    const about = { url: 'wss://v.test/stream/t', statusUrl: 'https://v.test/status', user: 'bw', password: 'a&"b' };
    const proof = { username: 'bw', password: 'a&"b' };
    expect(readAnswerXml(streamBxml(about))).toMatchObject([
      { name: 'StartGather', attributes: { dtmfUrl: about.statusUrl, ...proof } },
      {
        name: 'StartStream',
        attributes: { name: 'offhook', mode: 'bidirectional', destination: about.url, streamEventUrl: about.statusUrl, ...proof },
      },
      { name: 'StopStream', attributes: { name: 'offhook', wait: 'true' } },
    ]);
  });

  it('gives a live call another document', () => {
    const names = (document: string) => readAnswerXml(document, 'Bxml').map(({ name }) => name);
    expect(readAnswerXml(transferBxml('+15550100'), 'Bxml').at(-1)?.children).toMatchObject([
      { name: 'PhoneNumber', text: '+15550100' },
    ]);
    expect(readAnswerXml(transferBxml('sip:a@b'), 'Bxml').at(-1)?.children).toMatchObject([{ name: 'SipUri', text: 'sip:a@b' }]);
    expect(names(keysBxml('1w2'))).toEqual(['SendDtmf', 'StopStream']);
    expect(names(waitBxml(30))).toEqual(['StopGather', 'StopStream', 'Pause']);
    expect(readAnswerXml(bridgeBxml('c-2'), 'Bxml').at(-1)).toMatchObject({ name: 'Bridge', text: 'c-2' });
  });

  it.each([
    ['Guten Tag', 'de', 'de_DE', 'Guten Tag'],
    ['Hola', 'es-MX', 'es_MX', 'Hola'],
    ['नमस्ते', 'hi', 'en_US', defaultPhrases('en').apology],
    ['Dia duit', 'ga', undefined, 'Dia duit'],
  ])('says %j of a bot in %s', (sentence, language, locale, said) => {
    const [speak, hangUp] = readAnswerXml(sayBxml(sentence, language));
    expect(speak).toMatchObject({ name: 'SpeakSentence', text: said });
    expect(speak?.attributes['locale']).toBe(locale);
    expect(hangUp?.name).toBe('Hangup');
  });
});
