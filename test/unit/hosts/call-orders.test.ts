import { Socket } from 'node:net';
import { expect, it } from 'vitest';
import type { LocalCalls } from '../../../src/hosts/call-host.ts';
import { callsBehind, callsOf, type CallOrders, ordersOn } from '../../../src/hosts/call-orders.ts';
import { type CallOrderName, obey } from '../../../src/hosts/protocol.ts';

function isUpgrade(given: unknown): given is { readonly socket: Socket } {
  return typeof given === 'object' && given !== null && 'socket' in given;
}

/** Calls that write down what reaches them. */
function notedCalls(): { readonly calls: LocalCalls; readonly noted: unknown[] } {
  const noted: unknown[] = [];
  const note =
    (name: string, answer: () => unknown = () => undefined) =>
    (...given: unknown[]): never => {
      noted.push([name, ...given.map((each) => (isUpgrade(each) ? { ...each, socket: 'socket' } : each))]);
      return answer() as never;
    };
  const { intake, live, media, audio } = {
    intake: {
      answer: note('answer', () => ({ kind: 'attached' })),
      attach: note('attach'),
      abandon: note('abandon'),
      carrierStatus: note('carrierStatus'),
      keyReported: note('keyReported'),
      dialReported: note('dialReported'),
    },
    live: {
      list: note('list', async () => []),
      find: note('find', async () => undefined),
      order: note('order', () => Promise.reject(new Error('no such call'))),
      follow: note('follow', async () => undefined),
      unfollow: note('unfollow'),
      onNews: note('onNews'),
    },
    media: { expect: note('expect'), abandon: note('abandon media'), take: note('take', async () => undefined) },
    audio: { listen: note('listen', async () => ({ heardMs: 5, tookOverMs: 0 })), dismiss: note('dismiss') },
  };
  const redeem = note('redeem', () => 'the value');
  return { calls: { intake, live, media, audio, redeem } as unknown as LocalCalls, noted };
}

/** The same calls from the other end of a channel, which carries JSON and sockets. */
function behindAChannel(orders: CallOrders) {
  const asked: Promise<unknown>[] = [];
  const names = Object.keys(orders) as CallOrderName[];
  const channel = Object.fromEntries(
    names.map((name) => [
      name,
      (what: unknown, socket?: Socket) => {
        const answer = obey(orders, name, JSON.parse(JSON.stringify(what)), socket);
        asked.push(answer.catch(() => undefined));
        return answer;
      },
    ]),
  ) as unknown as CallOrders;
  return { calls: callsBehind(channel, () => undefined), settled: () => Promise.all(asked) };
}

const inbound = {
  carrier: 'twilio',
  carrierCallId: 'CA1',
  from: '+1',
  to: '+2',
  direction: 'inbound',
  botName: undefined,
} as const;
const grant = { carrier: 'twilio', callId: 'call_1', attachmentId: 'att_1' };
const listener = { listenerId: 'lis_1', callId: 'call_1', by: 'key_1', mayControl: true };

it('brings everything that concerns a call to its holder as it was meant, through a channel', async () => {
  const { calls, noted } = notedCalls();
  const { calls: far, settled } = behindAChannel(ordersOn(calls));
  const socket = new Socket();
  const [headers, early] = [{ upgrade: 'websocket' }, Buffer.from('early')];
  expect(await far.intake.answer(inbound)).toEqual({ kind: 'attached' });
  far.intake.abandon('call_1', 'att_1', 'no media');
  far.intake.carrierStatus({ carrier: 'twilio', carrierCallId: 'CA1' }, 'ringing', false);
  far.intake.carrierStatus({ carrier: 'twilio', carrierCallId: 'CA1' }, 'completed', true);
  far.intake.keyReported({ carrier: 'twilio', carrierCallId: 'CA1' }, '5');
  far.intake.dialReported('call_1', { carrier: 'twilio', carrierCallId: 'CA1', progress: { state: 'ringing' } });
  far.media.expect('call_1', 'att_1', 100);
  far.media.abandon('att_1', 'closed');
  await far.media.take(grant, { socket, headers, early, address: '127.0.0.1' });
  expect(await far.live.list()).toEqual([]);
  expect([await far.live.find('call_1'), await far.live.follow('call_1')]).toEqual([undefined, undefined]);
  await expect(far.live.order('call_1', { type: 'hang-up' }, 'key_1')).rejects.toThrow('no such call');
  far.live.unfollow('call_1');
  expect(await far.audio.listen(listener, { socket, headers, early })).toEqual({ heardMs: 5, tookOverMs: 0 });
  far.audio.dismiss('lis_1');
  expect(await far.redeem(['echo'], 'token')).toBe('the value');
  await settled();
  expect(noted).toEqual([
    ['answer', inbound],
    ['abandon', 'call_1', 'att_1', 'no media'],
    ['carrierStatus', { carrier: 'twilio', carrierCallId: 'CA1' }, 'completed', true],
    ['keyReported', { carrier: 'twilio', carrierCallId: 'CA1' }, '5'],
    ['dialReported', 'call_1', { carrier: 'twilio', carrierCallId: 'CA1', progress: { state: 'ringing' } }],
    ['expect', 'call_1', 'att_1', 100],
    ['abandon media', 'att_1', 'closed'],
    ['take', grant, { socket: 'socket', transport: 'websocket', headers, early, answered: false, address: '127.0.0.1' }],
    ['list'],
    ['find', 'call_1'],
    ['follow', 'call_1'],
    ['order', 'call_1', { type: 'hang-up' }, 'key_1'],
    ['unfollow', 'call_1'],
    ['listen', listener, { socket: 'socket', headers, early }],
    ['dismiss', 'lis_1'],
    ['redeem', ['echo'], 'token'],
  ]);
});

it('says which calls something told is about', () => {
  const call = { carrier: 'twilio', carrierCallId: 'CA1' };
  expect(callsOf('expect', { callId: 'call_1', attachmentId: 'att_1', withinMs: 1 })).toEqual([{ callId: 'call_1' }]);
  expect(callsOf('abandon', { attachmentId: 'att_1', reason: 'closed' })).toEqual([]);
  expect(callsOf('key-reported', { ...call, digit: '1' })).toEqual([{ carrierKey: 'twilio CA1' }]);
  expect(callsOf('carrier-ended', call)).toEqual([{ carrierKey: 'twilio CA1' }, { carrierKey: 'listen twilio CA1' }]);
});
