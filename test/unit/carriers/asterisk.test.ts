import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { asterisk } from '../../../src/carriers/asterisk/carrier.ts';
import { AsteriskControl } from '../../../src/carriers/asterisk/control.ts';
import { AsteriskCodec } from '../../../src/carriers/asterisk/codec.ts';
import { broughtCall, readStatus } from '../../../src/carriers/asterisk/door.ts';
import type { MessageSink } from '../../../src/carriers/media-codec.ts';
import { Secret } from '../../../src/config/secrets.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { allowedTarget } from '../../support/open-dialling.ts';
import { expectSurvival } from './fixtures.ts';

const message = z.union([z.string(), z.object({ binary: z.number() })]);
const recorded = z
  .object({ words: z.array(message), json: z.array(message) })
  .parse(JSON.parse(readFileSync(new URL('../../fixtures/wire/asterisk/session.json', import.meta.url), 'utf8')));
const words =
  'MEDIA_START connection_id:offhook channel:WebSocket/offhook/0x7f channel_id:17.1 format:ulaw optimal_frame_size:160 ptime:20';

/** What was sent, as a socket would see it. */
function sink(): MessageSink & { readonly sent: (string | number)[] } {
  const sent: (string | number)[] = [];
  return {
    sent,
    room: (length) => Buffer.alloc(length),
    send: (_kind, length) => void sent.push(length),
    sendText: (text) => void sent.push(text),
  };
}

function started(first = words): AsteriskCodec {
  const codec = new AsteriskCodec();
  expect(codec.read(Buffer.from(first), false).type).toBe('started');
  return codec;
}

function startOf(format: string, ptime: number | string): string {
  return JSON.stringify({ event: 'MEDIA_START', channel_id: '17.1', format, optimal_frame_size: 160, ptime });
}

describe('AsteriskCodec', () => {
  it.each([
    ['words', 'mulaw', 8_000, '1795439548.1'],
    ['json', 'pcm16', 16_000, '1795439561.5'],
  ] as const)('reads a recorded session of %s', (form, encoding, rateHz, streamId) => {
    const codec = new AsteriskCodec();
    const format = { encoding, rateHz };
    const events = recorded[form].map((one, index) => {
      const event = typeof one === 'string' ? codec.read(Buffer.from(one), false) : codec.read(Buffer.alloc(one.binary, 7), true);
      if (index === 0) codec.mark('3.reply-1.4800.end', sink());
      return event;
    });
    expect(events.slice(0, 7)).toMatchObject([
      { type: 'started', streamId, carrierCallId: undefined, inbound: format, outbound: format },
      { type: 'audio', timestampMs: undefined },
      { type: 'alive' },
      { type: 'mark', name: '3.reply-1.4800.end' },
      { type: 'alive' },
      { type: 'alive' },
      { type: 'digit', digit: '5' },
    ]);
    expect(events.slice(7, 9)).toEqual([{ type: 'alive' }, { type: 'alive' }]);
  });

  it.each([
    [words, ['MARK_MEDIA m1', 'FLUSH_MEDIA', 'GET_STATUS']],
    [
      startOf('alaw', 20),
      ['{"command":"MARK_MEDIA","correlation_id":"m1"}', '{"command":"FLUSH_MEDIA"}', '{"command":"GET_STATUS"}'],
    ],
  ])('commands in the form that the start has', (first, expected) => {
    const codec = started(first);
    const to = sink();
    codec.mark(`7.${'reply'.repeat(50)}`, to);
    codec.clear(to);
    codec.ping(to);
    codec.audio(new Uint8Array(1600), to);
    expect(to.sent).toEqual([...expected, 1600]);
  });

  it('gives a mark back once, and none that was never sent', () => {
    const codec = started();
    codec.mark('a', sink());
    const read = (text: string) => codec.read(Buffer.from(text), false);
    expect(read('MEDIA_MARK_PROCESSED m1')).toEqual({ type: 'mark', name: 'a' });
    for (const id of ['m1', 'm2', '', '__proto__']) expect(read(`MEDIA_MARK_PROCESSED ${id}`).type).toBe('rejected');
  });

  it.each([
    ['slin', 20, { encoding: 'pcm16', rateHz: 8_000 }],
    ['slin24', '20', { encoding: 'pcm16', rateHz: 24_000 }],
    ['alaw', 10, { encoding: 'alaw', rateHz: 8_000 }],
  ])('starts with %s in frames of %s ms', (format, ptime, inbound) => {
    const result = new AsteriskCodec().read(Buffer.from(startOf(format, ptime)), false);
    expect(result).toMatchObject({ type: 'started', inbound, outbound: inbound });
  });

  it.each([
    ['a codec that it has not', startOf('opus', 20)],
    ['a name that objects have', startOf('constructor', 20)],
    ['frames that ours do not fit', startOf('ulaw', 30)],
    ['no channel', 'MEDIA_START format:ulaw ptime:20'],
  ])('refuses %s for good, and says what is accepted', (_, text) => {
    expect(new AsteriskCodec().read(Buffer.from(text), false)).toMatchObject({ type: 'rejected', fatal: true });
  });

  it('passes over audio before its start, and refuses anything else', () => {
    const codec = new AsteriskCodec();
    expect(codec.read(Buffer.alloc(160), true)).toMatchObject({ type: 'ignored' });
    for (const text of ['DTMF_END digit:1', '{"event":"STATUS"}', 'hello', '{', '']) {
      const result = codec.read(Buffer.from(text), false);
      expect(result.type).toBe('rejected');
      expect(result).not.toMatchObject({ fatal: true });
    }
    expect(codec.read(Buffer.from(words), false).type).toBe('started');
    expect(codec.read(Buffer.from(words), false).type).toBe('rejected');
    expect(codec.read(Buffer.from('SOMETHING_NEW a:b'), false)).toEqual({ type: 'ignored', name: 'SOMETHING_NEW' });
  });

  it('never throws, whatever comes, and reads what comes after it', () =>
    expectSurvival(
      started,
      Buffer.alloc(160),
      true,
      'MEDIA_START',
      'DTMF_END',
      'MEDIA_MARK_PROCESSED',
      'STATUS',
      'ERROR',
      'digit',
      'correlation_id',
    ));
});

describe("Asterisk's door", () => {
  const door = asterisk.door({ settings: {}, secrets: {} }, [new Secret('old'), new Secret('s3cret')], {
    clock: systemClock,
    gatewayUrl: () => '',
  });
  const open = (query: string, authorization: string | undefined) => {
    if (door.kind !== 'socket') throw new TypeError('no socket door');
    const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
    return door.readCall(
      { urls: [`http://127.0.0.1:3000/carriers/asterisk/media/clinic${query}`], headers, address: '127.0.0.1' },
      'clinic',
    );
  };
  const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;
  const call = '?call=pbx1-1795440311.0&from=%2B4930123456&to=100';

  it('takes the call that the query names, with either password in force', () => {
    const expected = {
      carrierCallId: 'pbx1-1795440311.0',
      from: '+4930123456',
      to: '100',
      direction: 'inbound',
      botName: 'clinic',
    };
    for (const password of ['s3cret', 'old']) expect(open(call, basic(`offhook:${password}`))).toMatchObject(expected);
  });

  it('takes the token of a call that was dialled', () => {
    expect(open('?token=a.b.c', basic('offhook:s3cret'))).toEqual({ token: 'a.b.c' });
  });

  it.each([
    ['no proof', call, undefined, 401],
    ['a wrong password', call, basic('offhook:wrong'), 401],
    ['another user', call, basic('asterisk:s3cret'), 401],
    ['a password alone', call, basic('s3cret'), 401],
    ['another scheme', call, 'Bearer s3cret', 401],
    ['a huge header', call, basic(`offhook:${'s'.repeat(2000)}`), 401],
    ['no call', '', basic('offhook:s3cret'), 400],
    ['a call that is no id', '?call=../x', basic('offhook:s3cret'), 400],
  ])('refuses %s', (_, query, authorization, status) => {
    expect(open(query, authorization)).toBe(status);
  });

  it('never throws, whatever the query is', () => {
    fc.assert(
      fc.property(fc.string(), (query) => {
        broughtCall(
          { urls: [`http://127.0.0.1:3000/carriers/asterisk/media?${query}`], headers: {}, address: '127.0.0.1' },
          undefined,
        );
      }),
    );
  });
});

it('a call that Asterisk is to place goes to a number, and to no SIP address', async () => {
  const account = { ariUrl: 'http://127.0.0.1:1', ariUsername: 'offhook', ariPassword: new Secret('x') };
  const control = new AsteriskControl(account, 'websocket', systemClock);
  const order = { callId: 'c', from: '+15550100001', streamUrl: 'ws://b/t', statusUrl: '', detectMachine: false };
  const dialled = control.dialling.dial(
    { ...order, to: allowedTarget('sip:a@b.example'), ringTimeoutMs: 1, maxDurationMs: 1 },
    new AbortController().signal,
  );
  await expect(dialled).rejects.toThrow('only a number can be called');
});

describe('reports of the dialplan', () => {
  it.each([
    ['DIALING', '', '', { state: 'queued' }],
    ['UP', '', '', { state: 'answered' }],
    ['ANSWER', '16', 'SIP 200 OK', { state: 'ended', outcome: 'completed' }],
    ['BUSY', '17', 'SIP 486 Busy Here', { state: 'ended', outcome: 'busy', cause: 'SIP 486' }],
    ['BUSY', '21', 'SIP 603 Decline', { state: 'ended', outcome: 'rejected', cause: 'SIP 603' }],
    ['NOANSWER', '19', '', { state: 'ended', outcome: 'no-answer', cause: 'Q.850 19' }],
    ['CONGESTION', '20', 'SIP 480 Temporarily Unavailable', { state: 'ended', outcome: 'no-answer', cause: 'SIP 480' }],
    ['CHANUNAVAIL', '3', '', { state: 'ended', outcome: 'failed', cause: 'Q.850 3' }],
    ['CANCEL', '0', '', { state: 'ended', outcome: 'cancelled' }],
  ])('say %s (%s, %s)', (status, cause, tech, progress) => {
    const read = readStatus({ call: 'call_1', status, cause, tech });
    expect(read).toMatchObject({ carrierCallId: 'call_1', status, terminal: progress.state === 'ended' });
    expect(read?.progress).toEqual(progress);
  });

  it.each([
    [{}],
    [{ call: 'call_1' }],
    [{ call: ['a'], status: 'BUSY' }],
    [{ call: 'call_1', status: 'nonsense!' }],
    [undefined],
  ])('are refused as %j', (form) => {
    expect(readStatus(form)).toBeUndefined();
  });

  it('of an unknown status say nothing of its progress', () => {
    expect(readStatus({ call: 'call_1', status: 'NEWS' })).toMatchObject({ terminal: false, progress: undefined });
  });
});
