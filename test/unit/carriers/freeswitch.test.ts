import { setTimeout as realSleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { endOf } from '../../../src/carriers/freeswitch/call-events.ts';
import { freeswitch } from '../../../src/carriers/freeswitch/carrier.ts';
import { FreeSwitchControl } from '../../../src/carriers/freeswitch/control.ts';
import { codecOf, type MediaModule, MODULES, startCommand } from '../../../src/carriers/freeswitch/media-module.ts';
import type { MediaCodec } from '../../../src/carriers/media-codec.ts';
import { Secret } from '../../../src/config/secrets.ts';
import { SimulatedEventSocket } from '../../../src/sim/freeswitch/event-socket-server.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { allowedTarget } from '../../support/open-dialling.ts';
import { hangs } from '../../support/patience.ts';
import { expectSurvival, sink } from './fixtures.ts';

const UUID = '8f0c2a1e-5a0a-4a4e-9d0c-0f3c9f2b7a11';
const text = (value: unknown): Buffer => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));

const discard = sink();

function started(module: MediaModule): MediaCodec {
  const codec = codecOf(module, 8_000);
  expect(codec.read(text('offhook'), false, discard).type).toBe('started');
  return codec;
}

describe.each(MODULES)('the media socket of %s', (module) => {
  it.each([
    [
      'JSON that names the call',
      { call: UUID, from: '+15550100001', to: '5000' },
      { carrierCallId: UUID, call: { from: '+15550100001' } },
    ],
    ['JSON with a rate', { sampleRate: '16000' }, { inbound: { rateHz: 16_000 } }],
    ['any text', 'offhook', { carrierCallId: undefined, inbound: { encoding: 'pcm16', rateHz: 8_000 } }],
  ])('starts with %s', (_, message, expected) => {
    expect(codecOf(module, 8_000).read(text(message), false, discard)).toMatchObject({ type: 'started', ...expected });
  });

  it('starts with sound where nothing was to be told', () => {
    const codec = codecOf(module, 16_000);
    expect(codec.read(Buffer.alloc(640), true, discard)).toMatchObject({ type: 'started', inbound: { rateHz: 16_000 } });
    expect(codec.read(Buffer.alloc(640), true, discard).type).toBe('audio');
  });

  it('hears keys that the dialplan sends', () => {
    expect(started(module).read(text({ dtmf: '7' }), false, discard)).toEqual({ type: 'digit', digit: '7' });
    expect(started(module).read(text({ dtmf: 7 }), false, discard).type).toBe('rejected');
  });

  it('hears both sides of a call that is listened to: the channel left, the other end right', () => {
    const codec = codecOf(module, 8_000);
    const start = { call: UUID, from: '+15550100001', to: '5000', mode: 'listen' };
    expect(codec.read(text(start), false, discard)).toMatchObject({
      carrierCallId: UUID,
      call: { from: '+15550100001', to: '5000', mode: 'listen' },
    });
    const read = (bytes: readonly number[]) => codec.read(Buffer.from(bytes), true, discard);
    expect(read([1, 2, 11, 12, 3, 4, 13, 14])).toMatchObject({
      type: 'audio',
      track: 'caller',
      payload: Buffer.of(1, 2, 3, 4),
      other: Buffer.of(11, 12, 13, 14),
    });
    expect(read([1, 2, 11, 12, 3, 4])).toMatchObject({ type: 'rejected' });
    expect(read([1, 2, 11, 12])).toMatchObject({ payload: Buffer.of(1, 2), other: Buffer.of(11, 12) });
  });

  it('says what it can do', () => {
    const start = codecOf(module, 8_000).read(text('offhook'), false, discard);
    const marks = module === 'mod_audio_fork' ? 'native' : 'none';
    expect(start).toMatchObject({ capabilities: { marks, clear: marks } });
  });

  it('never throws, whatever comes, and reads what comes after it', () =>
    expectSurvival(() => started(module), Buffer.alloc(320), true, 'dtmf', 'call', 'mode', 'sampleRate'));
});

describe('a hang-up right after an order', () => {
  const signal = hangs();

  /** A FreeSWITCH whose channel exists from the second `uuid_kill` on. */
  async function ordered() {
    let kills = 0;
    const far = await SimulatedEventSocket.start('secret', (command) => {
      const isKill = command.startsWith('uuid_kill');
      kills += isKill ? 1 : 0;
      return Promise.resolve(isKill && kills === 1 ? '-ERR No such channel!\n' : '+OK\n');
    });
    const clock = new ManualClock();
    const about = { module: 'mod_audio_fork', rateHz: 8_000, dialString: 'sofia/gateway/t/{number}', sipProfile: 'x' } as const;
    const settings = { host: '127.0.0.1', port: far.port, password: new Secret('secret'), ...about };
    const states: string[] = [];
    const control = new FreeSwitchControl(settings, clock, (_, { progress }) => void states.push(progress.state));
    const order = { callId: UUID, from: '+15550100001', to: allowedTarget('+15550100002'), statusUrl: '', detectMachine: false };
    await control.dialling.dial({ ...order, streamUrl: 'ws://b/t', ringTimeoutMs: 30_000, maxDurationMs: 60_000 }, signal);
    const hangUp = async (): Promise<number> => {
      const state = { isOver: false };
      const hangingUp = control.hangUp(UUID, signal).finally(() => (state.isOver = true));
      while (!state.isOver) {
        clock.advance(20);
        await realSleep(1);
      }
      await hangingUp;
      return kills;
    };
    return { far, states, hangUp, [Symbol.asyncDispose]: () => far[Symbol.asyncDispose]() };
  }

  it('is repeated once the channel exists', async () => {
    await using at = await ordered();
    expect(await at.hangUp()).toBe(2);
  });

  it('is not repeated for a channel that was there', async () => {
    await using at = await ordered();
    at.far.emit({ 'Event-Name': 'CHANNEL_PROGRESS', 'Unique-ID': UUID });
    while (at.states.length === 0) await realSleep(1);
    expect(await at.hangUp()).toBe(1);
  });
});

describe('what is sent', () => {
  it('is raw samples to mod_audio_fork and to the commercial mod_audio_stream', () => {
    for (const module of ['mod_audio_fork', 'mod_audio_stream_commercial'] as const) {
      const to = sink();
      started(module).audio(Uint8Array.of(1, 2, 3, 4), to);
      expect(to.sent).toEqual([Buffer.of(1, 2, 3, 4)]);
    }
  });

  it('is a clip in base64 to the community mod_audio_stream', () => {
    const to = sink();
    const samples = Uint8Array.from({ length: 8_000 }, (_, at) => at % 251);
    started('mod_audio_stream').audio(samples, to);
    const { type, data } = JSON.parse(String(to.sent[0])) as { type: string; data: Record<string, unknown> };
    expect([type, data['audioDataType'], data['sampleRate']]).toEqual(['streamAudio', 'raw', 8_000]);
    expect(Buffer.from(String(data['audioData']), 'base64')).toEqual(Buffer.from(samples));
  });

  it('has no marks and no clear with mod_audio_stream', () => {
    const to = sink();
    const codec = started('mod_audio_stream');
    codec.mark('m', to);
    codec.clear(to);
    expect(to.sent).toEqual([]);
  });
});

it('starts media by the command that the module has', () => {
  const about = { id: UUID, url: 'wss://bot.example/carriers/freeswitch/stream/a.b.c', rateHz: 16_000, mix: 'mono' } as const;
  expect(startCommand({ ...about, module: 'mod_audio_fork' })).toBe(
    `uuid_audio_fork ${UUID} start ${about.url} mono 16000 offhook offhook true true 16000`,
  );
  expect(startCommand({ ...about, module: 'mod_audio_stream' })).toBe(
    `uuid_audio_stream ${UUID} start ${about.url} mono 16k offhook`,
  );
  const copy = { ...about, mix: 'stereo' } as const;
  const metadata = `{"call":"${UUID}","mode":"listen"}`;
  expect(startCommand({ ...copy, module: 'mod_audio_fork' })).toBe(
    `uuid_audio_fork ${UUID} start ${about.url} stereo 16000 offhook-listen ${metadata}`,
  );
  expect(startCommand({ ...copy, module: 'mod_audio_stream' })).toBe(
    `uuid_audio_stream ${UUID} start ${about.url} stereo 16k ${metadata}`,
  );
});

it.each([
  ['USER_BUSY', undefined, 'busy', 'USER_BUSY'],
  ['CALL_REJECTED', '603', 'rejected', 'SIP 603'],
  ['NO_USER_RESPONSE', '480', 'no-answer', 'SIP 480'],
  ['NORMAL_CLEARING', undefined, 'cancelled', 'NORMAL_CLEARING'],
  ['GATEWAY_DOWN', 'odd', 'failed', 'GATEWAY_DOWN'],
])('takes %s with SIP %s for %s', (cause, sip, outcome, told) => {
  expect(endOf(cause, sip)).toEqual({ state: 'ended', outcome, cause: told });
});

describe('the upgrade of a media socket', () => {
  const config = { settings: freeswitch.settings.parse({}), secrets: {} };
  const door = freeswitch.door(config, [new Secret('one'), new Secret('two')], {
    clock: new ManualClock(),
    gatewayUrl: () => '',
  });
  const read = (query: string, credentials = 'offhook:two', bot?: string) =>
    door.kind === 'socket'
      ? door.readCall(
          {
            urls: [`https://bot.example/carriers/freeswitch/media${query}`],
            headers: { authorization: `Basic ${btoa(credentials)}` },
            address: '192.0.2.1',
          },
          bot,
        )
      : undefined;

  it('names its call, or leaves that to the first message', () => {
    expect(read(`?call=${UUID}&from=%2B15550100001&to=5000`, 'offhook:one', 'clinic')).toEqual({
      carrier: 'freeswitch',
      carrierCallId: UUID,
      from: '+15550100001',
      to: '5000',
      direction: 'inbound',
      botName: 'clinic',
    });
    expect(read('')).toBe('at-start');
  });

  it.each([
    ['another password', '', 'offhook:three', 401],
    ['another user', '', 'admin:one', 401],
    ['a call that is none', '?call=a%0Ab', 'offhook:one', 400],
  ])('is refused with %s', (_, query, credentials, status) => {
    expect(read(query, credentials)).toBe(status);
  });
});

it.each(['sofia/gateway/trunk/', '{a=b}sofia/gateway/x/{number}', 'sofia/gateway/x/{number} &park()', 'a,{number}'])(
  'takes no dial string %s',
  (dialString) => {
    expect(freeswitch.settings.safeParse({ dialString }).success).toBe(false);
  },
);
