import { describe, expect, it } from 'vitest';
import { decodeMulaw } from '../../../src/audio/g711.ts';
import { closeText } from '../../../src/carriers/socket-attachment.ts';
import { message, outbound } from '../../unit/carriers/fixtures.ts';
import {
  answer,
  authToken,
  callFields,
  closeOf,
  type Gateway,
  openSocket,
  openStream,
  post,
  startGateway,
  streamUrlOf,
  upgradeHeader,
} from './gateway.ts';
import { untilPasses } from '../../support/eventually.ts';

const json = (value: unknown): string => JSON.stringify(value);

async function startedCall(gateway: Gateway) {
  const socket = await openSocket(await answer(gateway));
  socket.send(json(message('connected')));
  socket.send(json(message('start')));
  await untilPasses(() => expect(gateway.intake.attachments).toHaveLength(1));
  const { attachment, events, callId } = gateway.intake.attachments[0]!;
  return { socket, attachment, events, callId };
}

describe('the voice webhook', () => {
  it('is answered with a stream in both directions, and behind it the address that says what comes next', async () => {
    await using gateway = await startGateway();
    const response = await post(gateway);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toContain('text/xml');
    const callId = `call_${callFields.CallSid}`;
    const port = new URL(gateway.url).port;
    expect(await response.text()).toMatch(
      new RegExp(
        `^<\\?xml [^>]+><Response><Connect><Stream url="ws://127\\.0\\.0\\.1:${port}/carriers/twilio/stream/[\\w.-]+"><Parameter name="callId" value="${callId}"/></Stream></Connect><Redirect method="POST">http://127\\.0\\.0\\.1:${port}/carriers/twilio/next/${callId}</Redirect></Response>$`,
      ),
    );
    expect(gateway.intake.answered[0]).toEqual({
      carrier: 'twilio',
      carrierCallId: callFields.CallSid,
      from: '+15550100',
      to: '+15550200',
      direction: 'inbound',
      botName: undefined,
    });
  });

  it('uses the configured public address, with its port or without, for signatures and streams', async () => {
    await using gateway = await startGateway({ env: { OFFHOOK_PUBLIC_URL: 'https://voice.test/' } });
    for (const base of ['https://voice.test', 'https://voice.test:443']) {
      const response = await post(gateway, { signedUrl: `${base}/carriers/twilio/voice` });
      expect(streamUrlOf(await response.text())).toMatch(/^wss:\/\/voice\.test\/carriers\/twilio\/stream\//);
    }
    expect((await post(gateway)).status).toBe(403);
    expect((await post(gateway, { headers: { host: 'voice.test', 'x-forwarded-proto': 'https' } })).status).toBe(403);
  });

  it.each([
    ['/carriers/twilio/voice/clinic', 'clinic'],
    ['/carriers/twilio/voice?bot=clinic', 'clinic'],
    ['/carriers/twilio/voice/clinic?bot=other', 'clinic'],
    ['/carriers/twilio/voice/', undefined],
  ])('names the bot of %s', async (path, botName) => {
    await using gateway = await startGateway();
    expect((await post(gateway, { path })).status).toBe(200);
    expect(gateway.intake.answered[0]?.botName).toBe(botName);
  });

  it('is refused with 400 without a signature and 403 with a wrong one, and reaches no call', async () => {
    await using gateway = await startGateway();
    const cases = [
      await post(gateway, { unsigned: true }),
      await post(gateway, { token: 'another-token' }),
      await post(gateway, { signedUrl: 'https://evil.test/carriers/twilio/voice' }),
      await post(gateway, { unsigned: true, headers: { 'x-twilio-signature': 'x' } }),
    ];
    expect(cases.map(({ status }) => status)).toEqual([400, 403, 403, 403]);
    for (const response of cases) {
      expect(response.headers.get('content-type')).toContain('application/problem+json');
      expect(await response.json()).toMatchObject({ status: response.status, requestId: response.headers.get('x-request-id') });
    }
    expect(gateway.intake.answered).toEqual([]);
    const { body } = await gateway.metrics.render();
    expect(body).toContain('offhook_webhooks_refused_total{carrier="twilio",reason="signature"} 3');
  });

  it('is refused when one field was changed on the way', async () => {
    await using gateway = await startGateway();
    const headers = upgradeHeader(`${gateway.url}/carriers/twilio/voice`);
    const response = await post(gateway, { unsigned: true, headers });
    expect(response.status).toBe(403);
  });

  it('accepts any of several tokens during a rotation', async () => {
    await using gateway = await startGateway({ tokens: ['new-token', authToken] });
    expect((await post(gateway)).status).toBe(200);
    expect((await post(gateway, { token: 'new-token' })).status).toBe(200);
    expect((await post(gateway, { token: 'old-token' })).status).toBe(403);
  });

  it('accepts the development secret from this machine alone', async () => {
    await using gateway = await startGateway({ loopbackOnly: true });
    expect((await post(gateway)).status).toBe(200);
    expect((await post(gateway, { headers: { 'x-forwarded-for': '8.8.8.8' } })).status).toBe(403);
    const url = await answer(gateway);
    expect(await openStream(url, { 'x-forwarded-for': '8.8.8.8' })).toBe(403);
  });

  it('says a sentence and hangs up when the call is refused, or when answering it fails', async () => {
    await using gateway = await startGateway();
    gateway.intake.refusal = { kind: 'refuse', say: 'No bot & no luck', language: 'en', cause: 'no-bot', reason: 'no bot' };
    expect(await (await post(gateway)).text()).toContain(
      '<Response><Say language="en-US">No bot &amp; no luck</Say><Hangup/></Response>',
    );
    gateway.intake.refusal = new Error('broken inside');
    const failed = await post(gateway);
    expect(failed.status).toBe(200);
    expect(await failed.text()).toMatch(/<Say language="en-US">Sorry.*<Hangup\/>/);
    expect(gateway.lines.join()).toContain('no-bot');
    expect(gateway.lines.join()).not.toContain('+15550100');
  });

  it('is refused without a call id, with another content type, and above the body limit', async () => {
    await using gateway = await startGateway();
    expect((await post(gateway, { fields: { From: '+1' } })).status).toBe(400);
    const url = `${gateway.url}/carriers/twilio/voice`;
    expect(
      (
        await fetch(url, {
          method: 'POST',
          headers: { 'x-twilio-signature': `${'A'.repeat(27)}=`, 'content-type': 'application/json' },
          body: '{}',
        })
      ).status,
    ).toBe(415);
    expect((await post(gateway, { fields: { ...callFields, More: 'x'.repeat(70_000) } })).status).toBe(413);
    expect((await fetch(url)).status).toBe(404);
  });

  it('gives a second answer for one call another single-use stream', async () => {
    await using gateway = await startGateway();
    const [one, two] = [await answer(gateway), await answer(gateway)];
    expect(one).not.toBe(two);
    for (const url of [one, two]) (await openSocket(url)).send(json(message('start')));
    await untilPasses(() => expect(gateway.intake.attachments).toHaveLength(2));
    const ids = gateway.intake.attachments.map(({ callId, attachment }) => [callId, attachment.id]);
    expect(new Set(ids.map(([callId]) => callId)).size).toBe(1);
    expect(new Set(ids.map(([, id]) => id)).size).toBe(2);
  });

  it('is answered with an apology when admission takes too long, and gives back what is admitted late', async () => {
    await using gateway = await startGateway();
    let release = (): void => undefined;
    gateway.intake.delay = new Promise((resolve) => {
      release = resolve;
    });
    const response = post(gateway);
    await untilPasses(() => expect(gateway.clock.pendingTimers).toBe(1));
    gateway.clock.advance(8000);
    expect(await (await response).text()).toMatch(/<Say.*<Hangup\/>/);
    release();
    await untilPasses(() =>
      expect(gateway.intake.abandoned).toMatchObject([{ attachmentId: 'att_1', reason: 'answered too late' }]),
    );
  });

  it('gives up an answer whose stream never comes', async () => {
    await using gateway = await startGateway();
    await answer(gateway);
    gateway.clock.advance(70_000);
    expect(gateway.intake.abandoned).toEqual([
      { callId: `call_${callFields.CallSid}`, attachmentId: 'att_1', reason: expect.stringContaining('no media') },
    ]);
  });
});

describe('the media socket', () => {
  it('carries a call both ways', async () => {
    await using gateway = await startGateway();
    const { socket, attachment, events, callId } = await startedCall(gateway);
    expect(callId).toBe(`call_${callFields.CallSid}`);
    expect(attachment).toMatchObject({
      id: 'att_1',
      carrier: 'twilio',
      started: { carrierCallId: callFields.CallSid, inbound: { encoding: 'mulaw', rateHz: 8000 } },
    });
    const got: unknown[] = [];
    socket.on('message', (data: Buffer, isBinary) => got.push(isBinary ? data : (JSON.parse(data.toString('utf8')) as unknown)));
    for (const event of ['media', 'dtmf', 'mark']) socket.send(json(message(event)));
    attachment.sendAudio(decodeMulaw(Uint8Array.from({ length: 160 }, (_, index) => (index * 7) % 256)));
    attachment.sendMark('r7.3');
    attachment.sendClear();
    await untilPasses(() => expect([got.length, events.length]).toEqual([3, 3]));
    expect(got).toEqual([outbound.media, outbound.mark, outbound.clear]);
    expect(events).toMatchObject([
      { type: 'audio', timestampMs: 155 },
      { type: 'digit', digit: '1' },
      { type: 'mark', name: 'my label' },
    ]);
    expect(events[0]?.type === 'audio' && events[0].pcm.length).toBe(160);
    socket.send(json(message('stop')));
    socket.close();
    await untilPasses(() => expect(events.map(({ type }) => type).slice(3)).toEqual(['stopped', 'closed']));
  });

  it('closes when the call says so', async () => {
    await using gateway = await startGateway();
    const { socket, attachment, events } = await startedCall(gateway);
    attachment.close('the bot hung up');
    expect(await closeOf(socket)).toEqual({ code: 1000, reason: 'the bot hung up' });
    await untilPasses(() => expect(events).toEqual([{ type: 'closed', code: 1000, reason: closeText('the bot hung up') }]));
  });

  it('says closed exactly once when the carrier vanishes in mid-word', async () => {
    await using gateway = await startGateway();
    const { socket, events } = await startedCall(gateway);
    socket.send(json(message('media')));
    await untilPasses(() => expect(events).toHaveLength(1));
    socket.terminate();
    await untilPasses(() => expect(events).toHaveLength(2));
    expect(events[1]).toEqual({ type: 'closed', code: 1006, reason: '' });
    gateway.clock.advance(60_000);
    expect(events).toHaveLength(2);
  });

  it('goes on after messages that cannot be used', async () => {
    await using gateway = await startGateway();
    const { socket, events } = await startedCall(gateway);
    socket.send('{"event":');
    socket.send(Buffer.from(json(message('media'))));
    socket.send(json(message('start')));
    socket.send(json({ event: 'speech' }));
    socket.send(json(message('media')));
    await untilPasses(() => expect(events.map(({ type }) => type)).toEqual(['rejected', 'rejected', 'rejected', 'audio']));
    const { body } = await gateway.metrics.render();
    expect(body).toContain('offhook_media_messages_rejected_total{carrier="twilio"} 3');
    expect(body).toContain('offhook_media_messages_unknown_total{carrier="twilio"} 1');
    socket.terminate();
  });

  it('does not believe a timestamp that is far ahead of the stream', async () => {
    await using gateway = await startGateway();
    const { socket, events } = await startedCall(gateway);
    const media = message('media');
    socket.send(json(media));
    socket.send(json({ ...media, media: { ...(media['media'] as object), timestamp: '99999999999999' } }));
    socket.send(json(media));
    await untilPasses(() => expect(events).toHaveLength(3));
    expect(events.map((event) => event.type === 'audio' && event.timestampMs)).toEqual([155, undefined, 155]);
    socket.terminate();
  });

  it('says why, and then that it closed, when a message is above 64 KB', async () => {
    await using gateway = await startGateway();
    const { socket, events } = await startedCall(gateway);
    socket.send('x'.repeat(65_537));
    expect((await closeOf(socket)).code).toBe(1009);
    await untilPasses(() => expect(events.map(({ type }) => type)).toEqual(['rejected', 'closed']));
    expect(events[0]).toMatchObject({ problem: expect.stringContaining('65536 bytes') });
  });

  it('waits five seconds for a start', async () => {
    await using gateway = await startGateway();
    const socket = await openSocket(await answer(gateway));
    socket.send(json(message('connected')));
    socket.send(json(message('media')));
    await untilPasses(() => expect(gateway.lines.join()).toContain('audio before start'));
    gateway.clock.advance(4999);
    expect(gateway.intake.abandoned).toEqual([]);
    gateway.clock.advance(1);
    expect(await closeOf(socket)).toEqual({ code: 1008, reason: 'no start within 5000 ms' });
    expect(gateway.intake.abandoned).toHaveLength(1);
    expect(gateway.intake.attachments).toEqual([]);
  });

  it.each([
    ['another codec', { mediaFormat: { encoding: 'audio/x-l16', sampleRate: 16_000 } }, 1003],
    ['another call', { callSid: `CA${'9'.repeat(32)}` }, 1008],
  ])('is closed when its start names %s', async (_note, change, code) => {
    await using gateway = await startGateway();
    const socket = await openSocket(await answer(gateway));
    const start = message('start');
    socket.send(json({ ...start, start: { ...(start['start'] as object), ...change } }));
    expect((await closeOf(socket)).code).toBe(code);
    expect(gateway.intake.abandoned).toHaveLength(1);
    expect(gateway.intake.attachments).toEqual([]);
  });

  it('gives up a call whose socket closes before its start', async () => {
    await using gateway = await startGateway();
    (await openSocket(await answer(gateway))).close();
    await untilPasses(() =>
      expect(gateway.intake.abandoned).toMatchObject([
        { attachmentId: 'att_1', reason: expect.stringContaining('before start') },
      ]),
    );
  });

  it('ends one call alone when its listener throws', async () => {
    await using gateway = await startGateway();
    const { socket, events } = await startedCall(gateway);
    gateway.intake.onEvent = (event) => {
      if (event.type === 'digit') throw new Error('a fault in the call');
    };
    socket.send(json(message('dtmf')));
    expect(await closeOf(socket)).toEqual({ code: 1011, reason: 'internal fault' });
    await untilPasses(() => expect(events.map(({ type }) => type)).toEqual(['closed']));
    expect(gateway.lines.join()).toContain('a fault in the call');
    expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);
  });

  it('is closed with 1001 when the gateway stops', async () => {
    const gateway = await startGateway();
    const { socket, events } = await startedCall(gateway);
    const closed = closeOf(socket);
    await gateway.app.close();
    expect(await closed).toEqual({ code: 1001, reason: 'gateway stops' });
    expect(events.at(-1)).toMatchObject({ type: 'closed' });
  });
});

describe('a flood of refused webhooks', () => {
  const refused = (gateway: Gateway, body: string, path = '/carriers/twilio/voice') =>
    fetch(gateway.url + path, {
      method: 'POST',
      headers: { 'x-twilio-signature': `${'A'.repeat(27)}=`, 'content-type': 'application/x-www-form-urlencoded' },
      body,
    });

  it('costs no signature for a form of thousands of fields, or an address of thousands of characters', async () => {
    await using gateway = await startGateway();
    const many = await refused(gateway, Array.from({ length: 4000 }, (_, at) => `f${at}`).join('&'));
    expect([many.status, await many.json()]).toMatchObject([400, { detail: 'The form has more than 200 fields.' }]);
    expect((await refused(gateway, `a=${'y'.repeat(33_000)}`)).status).toBe(413);
    expect((await refused(gateway, 'a=1', `/carriers/twilio/voice?${'y'.repeat(2100)}`)).status).toBe(414);
    expect((await gateway.metrics.render()).body).toContain('offhook_webhooks_refused_total{carrier="twilio",reason="fields"} 1');
    const fields = Object.fromEntries(Array.from({ length: 190 }, (_, at) => [`SipHeader_${at}`, 'x']));
    expect((await post(gateway, { fields: { ...callFields, ...fields } })).status).toBe(200);
  });

  it('is answered with 429 past a pace, its large bodies unread, and closes the line to nobody who signs', async () => {
    await using gateway = await startGateway();
    const statuses: number[] = [];
    for (let at = 0; at < 22; at += 1) statuses.push((await refused(gateway, 'a=1')).status);
    expect(statuses).toEqual([...Array.from({ length: 20 }, () => 403), 429, 429]);
    const large = await refused(gateway, `a=${'y'.repeat(9000)}`);
    expect([large.status, large.headers.get('retry-after'), await large.json()]).toMatchObject([
      429,
      '1',
      { detail: expect.stringContaining('up to 8192 bytes') },
    ]);
    expect((await post(gateway)).status).toBe(200);
    gateway.clock.advance(1000);
    expect((await refused(gateway, 'a=1')).status).toBe(403);
  });

  it('writes one line in ten seconds, and says how many it left out; of refused upgrades too', async () => {
    await using gateway = await startGateway();
    const url = `${gateway.url.replace('http', 'ws')}/carriers/twilio/stream/x`;
    const flood = async () => {
      for (let at = 0; at < 30; at += 1) await Promise.all([refused(gateway, 'a=1'), openStream(url, {})]);
    };
    const told = () => gateway.lines.filter((line) => /(?:webhook|media socket) refused/u.test(line));
    await flood();
    expect(told()).toHaveLength(2);
    gateway.clock.advance(10_000);
    await flood();
    expect(told()).toHaveLength(4);
    expect(told().filter((line) => line.includes('"unsaid":29'))).toHaveLength(2);
  });
});

describe('a voice webhook that is replayed', () => {
  it('gets no stream while the media of its call goes on, and a new one when the carrier has stopped that', async () => {
    await using gateway = await startGateway();
    gateway.intake.refusal = undefined;
    expect((await post(gateway)).status).toBe(200);
    gateway.intake.refusal = { kind: 'attached' };
    const replayed = post(gateway);
    for (let at = 0; at < 100; at += 1) {
      await untilPasses(() => expect(gateway.clock.pendingTimers).toBe(3));
      gateway.clock.advance(20);
    }
    expect((await replayed).status).toBe(409);
    expect(gateway.intake.answered.map(({ isRepeat }) => isRepeat)).toEqual([
      undefined,
      ...Array.from({ length: 101 }, () => true),
    ]);
    expect((await gateway.metrics.render()).body).toContain(
      'offhook_webhooks_refused_total{carrier="twilio",reason="repeated"} 1',
    );
    const redirected = post(gateway);
    await untilPasses(() => expect(gateway.clock.pendingTimers).toBe(3));
    gateway.intake.refusal = undefined;
    gateway.clock.advance(100);
    expect(streamUrlOf(await (await redirected).text())).toContain('/stream/');
  });

  it('opens no unsigned socket of a call whose first socket was signed', async () => {
    await using gateway = await startGateway();
    const [first, second, third] = [await answer(gateway), await answer(gateway), await answer(gateway)] as const;
    const sockets = [await openSocket(first)];
    expect([await openStream(second, {}), gateway.intake.abandoned.length]).toEqual([403, 1]);
    sockets.push(await openSocket(third));
    for (const socket of sockets) socket.terminate();
  });
});

describe('the token of a stream', () => {
  it('lets in one socket', async () => {
    await using gateway = await startGateway();
    const url = await answer(gateway);
    const first = await openSocket(url);
    expect(await openStream(url)).toBe(403);
    expect(first.readyState).toBe(first.OPEN);
    expect(gateway.lines.join()).toContain('replayed');
    expect((await gateway.metrics.render()).body).toContain(
      'offhook_streams_refused_total{carrier="twilio",reason="replayed"} 1',
    );
  });

  it('is refused when forged, cut, expired or from another gateway, and is in no log line', async () => {
    await using gateway = await startGateway();
    await using other = await startGateway();
    const [fresh, old] = [await answer(gateway), await answer(gateway)];
    const foreign = (await answer(other)).replace(new URL(other.url).host, new URL(gateway.url).host);
    for (const url of [foreign, fresh.slice(0, -4), `${fresh}AAAA`, fresh.replace(/stream\/.*/, 'stream/x')])
      expect(await openStream(url)).toBe(403);
    expect(await openStream(`${fresh}?token=1`, {})).not.toBe(403);
    gateway.clock.advance(61_000);
    expect(await openStream(old)).toBe(403);
    expect(gateway.intake.attachments).toEqual([]);
    const log = gateway.lines.join('\n');
    for (const reason of ['forged', 'expired']) expect(log).toContain(`"reason":"${reason}"`);
    expect(log).not.toContain(old.split('/').at(-1)!.slice(-20));
    expect(log).toContain('/carriers/twilio/stream/[token]');
  });

  it('is not spent by a request that is no upgrade', async () => {
    await using gateway = await startGateway();
    const url = await answer(gateway);
    expect((await fetch(url.replace('ws:', 'http:'))).status).toBe(404);
    (await openSocket(url)).terminate();
  });

  it('is enough when the upgrade is not signed or signed wrongly, unless a signature is required', async () => {
    await using lenient = await startGateway();
    (await openSocket(await answer(lenient), {})).terminate();
    (await openSocket(await answer(lenient), { 'x-twilio-signature': 'x' })).terminate();
    expect(lenient.lines.join()).toContain('upgrade signature does not match');
    await using strict = await startGateway({ env: { OFFHOOK_TWILIO__REQUIRE_UPGRADE_SIGNATURE: 'true' } });
    const url = await answer(strict);
    expect(await openStream(url, {})).toBe(403);
    expect(await openStream(url, { 'x-twilio-signature': 'x' })).toBe(403);
    (await openSocket(url, upgradeHeader(`${url}/`))).terminate();
  });
});

describe('sockets that do not start', () => {
  it('are capped for each address, and make room when they start or end', async () => {
    await using gateway = await startGateway({ env: { OFFHOOK_HTTP__PENDING_STREAMS_PER_ADDRESS: '2' } });
    const urls = [await answer(gateway), await answer(gateway), await answer(gateway), await answer(gateway)] as const;
    const [one, two] = [await openSocket(urls[0]), await openSocket(urls[1])];
    expect(await openStream(urls[2])).toBe(429);
    one.send(json(message('start')));
    await untilPasses(() => expect(gateway.intake.attachments).toHaveLength(1));
    const three = await openSocket(urls[2]);
    two.terminate();
    await untilPasses(() => expect(gateway.intake.abandoned).toHaveLength(1));
    const four = await openSocket(urls[3]);
    for (const socket of [one, three, four]) socket.terminate();
  });
});

describe('the status callback', () => {
  const path = '/carriers/twilio/status';

  it('passes on signed states and says which one is the end', async () => {
    await using gateway = await startGateway();
    for (const CallStatus of ['in-progress', 'completed']) {
      expect((await post(gateway, { path, fields: { CallSid: 'CA1', CallStatus } })).status).toBe(204);
    }
    expect(
      (await post(gateway, { path, fields: { CallSid: 'CA1', StreamEvent: 'stream-error', StreamError: '31921' } })).status,
    ).toBe(204);
    expect(gateway.intake.statuses).toEqual(['CA1 in-progress false', 'CA1 completed true', 'CA1 stream-error false']);
  });

  it('is refused unsigned, signed wrongly, or without a state', async () => {
    await using gateway = await startGateway();
    const fields = { CallSid: 'CA1', CallStatus: 'completed' };
    expect((await post(gateway, { path, fields, unsigned: true })).status).toBe(400);
    expect((await post(gateway, { path, fields, token: 'x' })).status).toBe(403);
    expect((await post(gateway, { path, fields: { CallSid: 'CA1' } })).status).toBe(400);
    expect(gateway.intake.statuses).toEqual([]);
  });
});
