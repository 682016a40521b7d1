import { PLATFORM_RECOGNITION } from '../../../../src/speech/platform-capabilities.ts';
import { expect, it } from 'vitest';
import { MULAW_8K } from '../../../../src/audio/format.ts';
import { CallRegistry, type CallRegistryOptions } from '../../../../src/call/admission/call-registry.ts';
import { FollowedNews } from '../../../../src/call/log/followed-news.ts';
import { liveCallsOf } from '../../../../src/call/admission/live-calls.ts';
import type { OutboundCall } from '../../../../src/call/admission/outbound-calls.ts';
import { type CallServices, DEFAULT_CALL_TIMING } from '../../../../src/call/services.ts';
import { type Bot, botSettings } from '../../../../src/config/bots.ts';
import { silentSpeech } from './silent-speech.ts';
import type { DialogTurn, GreetsAhead } from '../../../../src/dialog/port.ts';
import { silentLogger } from '../../../../src/observability/logger.ts';
import type { Recogniser } from '../../../../src/speech/port.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const bot: Bot = {
  ...botSettings.parse({ name: 'reminder', voice: 'Nisha', dialog: { kind: 'module', file: 'x.js' } }),
  folder: '.',
};

function call(callId: string, changes: Partial<OutboundCall> = {}): OutboundCall {
  const numbers = { from: '+15550100', to: '+919876543210' };
  const given = { variables: { name: 'Asha' }, metadata: {}, duties: [] };
  return { callId, tenantId: 'default', carrier: 'twilio', ...numbers, botName: 'reminder', ...given, ...changes };
}

/** Says of each session that it is opened, and that it is closed. */
function recogniserOf(news: string[]): Recogniser {
  return {
    capabilities: PLATFORM_RECOGNITION,
    open: ({ language }) => {
      news.push(`recogniser ${language}`);
      return {
        send: () => undefined,
        commit: () => undefined,
        end: async () => undefined,
        abort: () => void news.push('recogniser closed'),
      };
    },
  };
}

function registry(options: Partial<CallRegistryOptions> = {}, recogniser = recogniserOf([])) {
  const leases = new Set<string>();
  const free: string[] = [];
  const givenUp: string[] = [];
  const slots = { held: 0, limit: 100 };
  const calls = new CallRegistry(
    {
      bots: [bot],
      dialogs: new Map([['reminder', { create: () => ({ respond: async function* () {} }) }]]),
      timing: DEFAULT_CALL_TIMING,
      maximum: 4,
      keepFree: 1,
      freeSpeech: () => slots.limit - slots.held,
      shedding: () => false,
      reserveSpeech() {
        let held = true;
        slots.held += 1;
        return { ...silentSpeech, recogniser, release: () => void ((slots.held -= held ? 1 : 0), (held = false)) };
      },
      speechIsUp: () => true,
      lease: (callId) => !leases.has(callId) && leases.add(callId) !== undefined,
      unlease: (callId) => void leases.delete(callId),
      onOver: (callId) => void free.push(callId),
      ...options,
    },
    Object.assign(Object.create(null) as CallServices, { clock: new ManualClock(1_000), logger: silentLogger, recogniser }),
  );
  calls.onGivenUp(({ callId }, why) => void givenUp.push(`${callId} ${why}`));
  return { calls, slots, leases, free, givenUp };
}

it('holds a place, a slot and the lease of its id for a call that is about to be dialled, and gives each back once', async () => {
  const { calls, slots, leases, free, givenUp } = registry();
  const reserved = await calls.reserve(call('call_1'));
  expect(reserved).toEqual({ kind: 'reserved', attachmentId: expect.stringMatching(/^att_/u) });
  expect([calls.active, slots.held, [...leases]]).toEqual([1, 1, ['call_1']]);
  for (const _again of [1, 2]) calls.release('call_1', 'no answer');
  calls.release('nobody', 'no answer');
  expect([calls.active, slots.held, [...leases], free, givenUp]).toEqual([0, 0, [], ['call_1'], []]);
});

it('leaves places and slots to callers', async () => {
  const { calls, slots } = registry();
  expect(calls.room).toBe(3);
  for (const id of ['call_1', 'call_2', 'call_3']) expect(await calls.reserve(call(id))).toMatchObject({ kind: 'reserved' });
  expect(calls.room).toBe(0);
  expect(await calls.reserve(call('call_4'))).toMatchObject({ kind: 'refuse', cause: 'calls' });
  const caller = { carrier: 'twilio', carrierCallId: 'CA9', from: '+1', to: '+2', direction: 'inbound' } as const;
  slots.limit = 0;
  expect(calls.answer({ ...caller, botName: 'nobody' })).toMatchObject({ cause: 'no-bot' });
  calls.release('call_1', '');
  slots.limit = slots.held + 1;
  expect(calls.room).toBe(0);
  expect(await calls.reserve(call('call_5'))).toMatchObject({ kind: 'refuse', cause: 'speech-slots' });
  slots.limit += 1;
  expect([calls.room, (await calls.reserve(call('call_5'))).kind]).toEqual([1, 'reserved']);
});

it.each([
  { note: 'a bot that is not there', options: {}, changes: { botName: 'gone' }, cause: 'no-bot' },
  { note: 'a speech platform that is down', options: { speechIsUp: () => false }, changes: {}, cause: 'speech-down' },
  { note: 'an event loop that is late', options: { shedding: () => true }, changes: {}, cause: 'loop-lag' },
  { note: 'an id that another process has', options: { lease: () => false }, changes: {}, cause: 'lease' },
])('refuses for $note, and holds nothing', async ({ options, changes, cause }) => {
  const { calls, slots } = registry(options);
  expect(await calls.reserve(call('call_1', changes))).toMatchObject({ kind: 'refuse', cause });
  expect([calls.active, slots.held]).toEqual([0, 0]);
});

it('refuses an id that it holds already, and keeps what it holds', async () => {
  const { calls, slots } = registry();
  await calls.reserve(call('call_1'));
  expect(await calls.reserve(call('call_1'))).toMatchObject({ kind: 'refuse', cause: 'lease' });
  expect([calls.active, slots.held]).toEqual([1, 1]);
});

it('holds nothing when the disk refuses the lease', async () => {
  const full = (): never => {
    throw new Error('ENOSPC: no space left on device');
  };
  const { calls, slots } = registry({ lease: full });
  await expect(calls.reserve(call('call_1'))).rejects.toThrow('ENOSPC');
  expect([calls.active, slots.held]).toEqual([0, 0]);
});

const liveOf = (calls: CallRegistry) =>
  liveCallsOf({ registry: calls, load: { lagMs: 0 }, followed: new FollowedNews(new ManualClock()) });

it.each([
  { why: 'no-media', act: async (calls: CallRegistry) => calls.abandon('call_1', 'no media within 30000 ms') },
  { why: 'stopping', act: async (calls: CallRegistry) => void calls.drain() },
  { why: 'stopping', act: async (calls: CallRegistry) => void calls.shutDown() },
  {
    why: 'hung-up',
    act: async (calls: CallRegistry) => void (await liveOf(calls).order('call_1', { type: 'hang-up' }, 'key')),
  },
])('says $why for a call that is given up before its media, so that it can be cancelled, and frees it', async ({ why, act }) => {
  const { calls, slots, leases, free, givenUp } = registry();
  await calls.reserve(call('call_1'));
  await act(calls);
  expect(givenUp).toEqual([`call_1 ${why}`]);
  expect([calls.active, slots.held, leases.size, free]).toEqual([0, 0, 0, ['call_1']]);
});

it('takes no outbound call while it drains', async () => {
  const { calls } = registry();
  await calls.drain();
  expect(calls.room).toBe(0);
  expect(await calls.reserve(call('call_1'))).toMatchObject({ kind: 'refuse', cause: 'stopping' });
});

it('frees a call that the carrier reports over before its media', async () => {
  const { calls, slots, givenUp } = registry();
  await calls.reserve(call('call_1'));
  const progress = { state: 'ended', outcome: 'busy' } as const;
  for (const _again of [1, 2]) calls.reported('call_1', { carrier: 'twilio', carrierCallId: 'CA1', progress });
  expect([calls.active, slots.held, givenUp]).toEqual([0, 0, []]);
});

it('prepares greeting and recogniser once the phone rings, and lets the dialog clean up after an unanswered call', async () => {
  const news: string[] = [];
  const hook = {
    respond: async function* (turn: DialogTurn) {
      news.push(`asked with ${JSON.stringify(turn.variables)}`);
      yield* [];
    },
    dispose: async () => void news.push('cleaned up'),
  };
  const dialogs = (greetsAhead: GreetsAhead) => new Map([['reminder', { greetsAhead, create: () => hook }]]);
  const options = { dialogs: dialogs('ringing'), speechFormatOf: () => MULAW_8K };
  const { calls } = registry(options, recogniserOf(news));
  await calls.reserve(call('call_1'));
  expect(news).toEqual([]);
  for (const _again of [1, 2])
    calls.reported('call_1', { carrier: 'twilio', carrierCallId: 'CA1', progress: { state: 'ringing' } });
  const made = ['asked with {"name":"Asha"}', 'recogniser en'];
  expect(news).toEqual(made);
  calls.reported('call_1', { carrier: 'twilio', carrierCallId: 'CA1', progress: { state: 'ended', outcome: 'no-answer' } });
  expect(news).toEqual([...made, 'cleaned up', 'recogniser closed']);
  const other = registry({ dialogs: dialogs('answered'), speechFormatOf: () => MULAW_8K });
  await other.calls.reserve(call('call_1'));
  other.calls.reported('call_1', { carrier: 'twilio', carrierCallId: 'CA1', progress: { state: 'ringing' } });
  expect(news).toHaveLength(4);
});

it('rings on where the greeting cannot be prepared', async () => {
  const broken = (): never => {
    throw new Error('no such file');
  };
  const dialogs = new Map([['reminder', { greetsAhead: 'ringing' as const, create: broken }]]);
  const { calls } = registry({ dialogs, speechFormatOf: () => MULAW_8K });
  await calls.reserve(call('call_1'));
  calls.reported('call_1', { carrier: 'twilio', carrierCallId: 'CA1', progress: { state: 'ringing' } });
  expect(calls.dialled).toMatchObject([{ ringing: true, ahead: { greeting: undefined } }]);
});

it('shows calls that are dialled and ringing among the live ones', async () => {
  const { calls } = registry();
  const live = liveOf(calls);
  await calls.reserve(call('call_1'));
  expect(await live.find('call_1')).toMatchObject({ phase: 'dialling', direction: 'outbound', to: '+919876543210', turns: 0 });
  calls.reported('call_1', { carrier: 'twilio', carrierCallId: 'CA1', progress: { state: 'ringing' } });
  calls.reported('call_1', { carrier: 'twilio', carrierCallId: 'CA1', progress: { state: 'queued' } });
  expect(await live.list()).toMatchObject([{ id: 'call_1', phase: 'ringing', startedAtWallMs: expect.any(Number) }]);
  await expect(live.order('call_1', { type: 'say', text: 'Hello' }, 'key')).rejects.toThrow('not answered yet');
  expect(calls.active).toBe(1);
});
