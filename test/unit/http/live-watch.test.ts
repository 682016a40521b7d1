import { EventEmitter } from 'node:events';
import { expect, it } from 'vitest';
import type { LiveCall } from '../../../src/call/admission/live-calls.ts';
import type { CallNews } from '../../../src/call/log/call-news.ts';
import { FollowedNews } from '../../../src/call/log/followed-news.ts';
import type { ApiScope } from '../../../src/http/api/system/api-keys.ts';
import { LiveWatch, type WatchSocket } from '../../../src/http/api/calls/live-watch.ts';
import { type WatchMessage, watchMessage, type WatchRequest } from '../../../src/http/api/calls/watch-messages.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';

/** A watcher's socket without a network. */
class TestSocket extends EventEmitter {
  bufferedAmount = 0;
  closed: number | undefined;
  pings = 0;
  readonly told: WatchMessage[] = [];

  send(text: string): void {
    this.told.push(watchMessage.parse(JSON.parse(text)));
  }
  close(code: number): void {
    this.closed = code;
    this.emit('close');
  }
  terminate(): void {
    this.close(1006);
  }
  ping(): void {
    this.pings += 1;
  }
  ask(request: WatchRequest): void {
    this.emit('message', Buffer.from(JSON.stringify(request)), false);
  }
  get news(): string[] {
    return this.told.flatMap((each) => (each.type === 'news' ? [JSON.stringify(each.news)] : []));
  }
  ofType<Type extends WatchMessage['type']>(type: Type): (WatchMessage & { readonly type: Type })[] {
    return this.told.filter((each): each is WatchMessage & { readonly type: Type } => each.type === type);
  }
}

const EVERYTHING: readonly ApiScope[] = ['calls:read', 'calls:listen', 'numbers:read'];
const call = (id: string, more: Partial<LiveCall> = {}): LiveCall => ({
  id,
  tenantId: 'default',
  bot: 'clinic',
  carrier: 'twilio',
  from: '+15550100001',
  to: '+15550100002',
  direction: 'inbound',
  startedAtWallMs: 0,
  phase: 'listening',
  muted: false,
  turns: 1,
  callerText: 'secret words',
  botText: 'an answer',
  health: { holesMs: 0, lateMs: 3 },
  ...more,
});
const said = (callId: string, text: string): CallNews => ({ type: 'saying', callId, turn: 0, text });

function bench() {
  const clock = new ManualClock();
  const followed = new FollowedNews(clock);
  let list: LiveCall[] = [];
  let lists = 0;
  let passes = true;
  const asked: string[] = [];
  const past: CallNews[] = [];
  const watch = new LiveWatch({
    clock,
    logger: silentLogger,
    calls: {
      async list() {
        lists += 1;
        return list;
      },
      find: async (callId) => list.find(({ id }) => id === callId),
      async follow(callId) {
        asked.push(`follow ${callId}`);
        return { number: followed.follow(callId), soFar: past.map((news) => ({ atWallMs: 1, news })) };
      },
      unfollow(callId) {
        asked.push(`unfollow ${callId}`);
        followed.unfollow(callId);
      },
      onNews: (listener) => followed.onNews((news) => passes && listener(news)),
    },
  });
  let allowed = true;
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  };
  return {
    clock,
    watch,
    followed,
    asked,
    past,
    lists: () => lists,
    pass: (on: boolean) => void (passes = on),
    show: (calls: LiveCall[]) => void (list = calls),
    forbid: () => void (allowed = false),
    advance: async (ms: number): Promise<void> => {
      for (let passed = 0; passed < ms; passed += 100) {
        clock.advance(100);
        await settle();
      }
    },
    settle,
    watcher: (scopes: readonly ApiScope[] = EVERYTHING, tenantId = 'default', id = 'key_1'): TestSocket => {
      const socket = new TestSocket();
      watch.watch(socket as unknown as WatchSocket, { id, tenantId, scopes: [...scopes] }, async () => allowed);
      return socket;
    },
  };
}

it('tells the whole list first, and then what changed and what is over', async () => {
  const { watcher, show, advance, settle } = bench();
  show([call('call_1'), call('call_2')]);
  const socket = watcher();
  socket.ask({ type: 'calls' });
  await settle();
  expect(socket.told).toMatchObject([{ type: 'calls', whole: true, over: [], calls: [{ id: 'call_1' }, { id: 'call_2' }] }]);
  await advance(2_000);
  expect(socket.told).toHaveLength(1);
  show([call('call_2', { phase: 'thinking' })]);
  await advance(600);
  expect(socket.told.slice(1)).toMatchObject([
    { type: 'calls', whole: false, over: ['call_1'], calls: [{ id: 'call_2', phase: 'thinking' }] },
  ]);
});

it('tells a call anew when its health or its agent changes, and not when what changed is hidden from who watches', async () => {
  const { watcher, show, advance, settle } = bench();
  show([call('call_1')]);
  const [bare, full] = [watcher(['calls:read']), watcher()];
  for (const socket of [bare, full]) socket.ask({ type: 'calls' });
  await settle();
  const counts = (): number[] => [bare.told.length, full.told.length];
  show([call('call_1', { callerText: 'other words' })]);
  await advance(600);
  expect(counts()).toEqual([1, 2]);
  const health = { holesMs: 0, lateMs: 50 };
  show([call('call_1', { callerText: 'other words', health })]);
  await advance(600);
  expect(counts()).toEqual([2, 3]);
  const transfer = { to: '+15550100003', state: 'ringing', sinceWallMs: 1 } as const;
  show([call('call_1', { callerText: 'other words', health, transfer })]);
  await advance(600);
  expect(counts()).toEqual([3, 4]);
  show([call('call_1', { callerText: 'other words', health, transfer: { ...transfer, state: 'connected' } })]);
  await advance(600);
  expect(full.ofType('calls').at(-1)).toMatchObject({ calls: [{ health, transfer: { state: 'connected' } }] });
});

it('makes the list at most twice a second for any number of watchers, and never without one', async () => {
  const { watcher, lists, advance, settle } = bench();
  await advance(2_000);
  expect(lists()).toBe(0);
  const sockets = Array.from({ length: 10 }, (_, at) => watcher(EVERYTHING, 'default', `key_${at}`));
  for (const socket of sockets) socket.ask({ type: 'calls' });
  await settle();
  const before = lists();
  await advance(5_000);
  expect(lists() - before).toBeLessThanOrEqual(11);
  for (const socket of sockets) socket.close(1000);
  const after = lists();
  await advance(3_000);
  expect(lists() - after).toBeLessThanOrEqual(1);
});

it('shows no tenant the calls of another one, in the list or by their id', async () => {
  const { watcher, show, settle, asked, followed } = bench();
  show([call('call_1')]);
  const other = watcher(EVERYTHING, 'other');
  other.ask({ type: 'calls' });
  other.ask({ type: 'follow', callId: 'call_1' });
  await settle();
  followed.follow('call_1');
  followed.tell(said('call_1', 'Hello.'));
  expect(other.told).toMatchObject([
    { type: 'calls', calls: [] },
    { type: 'refused', callId: 'call_1', why: 'no-such-call' },
  ]);
  expect(asked).toEqual([]);
});

it('hides words and numbers from who lacks the scopes for them', async () => {
  const { watcher, show, settle, followed } = bench();
  show([call('call_1')]);
  const bare = watcher(['calls:read']);
  bare.ask({ type: 'calls' });
  bare.ask({ type: 'follow', callId: 'call_1' });
  const listener = watcher(['calls:read', 'calls:listen']);
  listener.ask({ type: 'follow', callId: 'call_1' });
  await settle();
  followed.tell({ type: 'partial', callId: 'call_1', text: 'secret words' });
  followed.tell({ type: 'turn', callId: 'call_1', turn: 1, kind: 'spoken', callerText: 'secret words' });
  followed.tell({ type: 'heard', callId: 'call_1', turn: 1, text: 'secret words', heard: 'secret' });
  followed.tell({ type: 'digit', callId: 'call_1', digit: '7' });
  followed.tell({ type: 'state', callId: 'call_1', step: 'ask', slots: { phone: '+15550100001' } });
  expect(JSON.stringify(bare.told)).not.toMatch(/secret|15550100001|"7"/u);
  expect(bare.news.map((news) => (JSON.parse(news) as CallNews).type)).toEqual(['turn', 'heard', 'digit', 'state']);
  expect(listener.news).toHaveLength(5);
  expect(listener.news.join('')).toContain('secret words');
  expect(listener.news.at(-1)).toContain('*');
  expect(listener.news.join('')).not.toContain('+15550100001');
});

it('hides the digits of a half-spoken card number from watchers', async () => {
  const { watcher, show, settle, followed } = bench();
  show([call('call_1')]);
  const socket = watcher();
  socket.ask({ type: 'follow', callId: 'call_1' });
  await settle();
  followed.tell({ type: 'partial', callId: 'call_1', text: 'it is 4111 1111 111' });
  expect(socket.ofType('news').map(({ news }) => news)).toEqual([{ type: 'partial', text: 'it is ***********' }]);
});

it('begins a call that is followed in its middle with what happened so far, and misses nothing between', async () => {
  const { watcher, show, settle, followed, past, asked } = bench();
  show([call('call_1')]);
  past.push(said('call_1', 'so far'));
  const first = watcher();
  first.ask({ type: 'follow', callId: 'call_1' });
  await settle();
  const second = watcher(EVERYTHING, 'default', 'key_2');
  second.ask({ type: 'follow', callId: 'call_1' });
  // Told while the beginning is on its way to the second one.
  followed.tell(said('call_1', 'meanwhile'));
  await settle();
  followed.tell(said('call_1', 'then'));
  for (const socket of [first, second]) expect(socket.ofType('news')[0]).toMatchObject({ past: true, news: { text: 'so far' } });
  expect(first.news.map((news) => (JSON.parse(news) as { text: string }).text)).toEqual(['so far', 'meanwhile', 'then']);
  const texts = second.news.map((news) => (JSON.parse(news) as { text: string }).text);
  expect(texts.at(-1)).toBe('then');
  expect(new Set(texts).size).toBe(texts.length);
  first.ask({ type: 'unfollow', callId: 'call_1' });
  expect(asked.filter((each) => each.startsWith('unfollow'))).toEqual([]);
  second.close(1000);
  expect(asked.at(-1)).toBe('unfollow call_1');
  expect(followed.has('call_1')).toBe(false);
});

it('drops and counts the news of a slow watcher without delaying others', async () => {
  const { watcher, show, settle, followed, advance } = bench();
  show([call('call_1')]);
  const [slow, quick] = [watcher(), watcher(EVERYTHING, 'default', 'key_2')];
  for (const socket of [slow, quick]) {
    socket.ask({ type: 'calls' });
    socket.ask({ type: 'follow', callId: 'call_1' });
  }
  await settle();
  slow.bufferedAmount = 10_000_000;
  for (let at = 0; at < 5; at += 1) followed.tell(said('call_1', `${at}`));
  show([call('call_1', { turns: 2 })]);
  await advance(700);
  expect([slow.news.length, quick.news.length]).toEqual([0, 5]);
  expect(slow.ofType('calls')).toHaveLength(1);
  slow.bufferedAmount = 0;
  await advance(1_000);
  expect(slow.ofType('missed')).toEqual([{ type: 'missed', callId: 'call_1', count: 5 }]);
  expect(slow.ofType('calls').at(-1)).toMatchObject({ whole: true, calls: [{ turns: 2 }] });
  slow.bufferedAmount = 10_000_000;
  await advance(17_000);
  expect(slow.closed).toBe(4408);
});

it('tells how much was lost on the way from the process that has the call', async () => {
  const { watcher, show, settle, followed, pass } = bench();
  show([call('call_1')]);
  const socket = watcher();
  socket.ask({ type: 'follow', callId: 'call_1' });
  await settle();
  followed.tell(said('call_1', 'one'));
  pass(false);
  for (let at = 0; at < 3; at += 1) followed.tell(said('call_1', 'lost'));
  pass(true);
  followed.tell(said('call_1', 'two'));
  expect(socket.told.slice(-2)).toMatchObject([
    { type: 'missed', callId: 'call_1', count: 3 },
    { type: 'news', news: { text: 'two' } },
  ]);
});

it('frees the place of a followed call that is gone without having told its end', async () => {
  const { watcher, show, settle, advance, asked } = bench();
  const others = Array.from({ length: 20 }, (_, at) => call(`call_${at}`));
  show(others);
  const socket = watcher();
  for (const { id } of others) socket.ask({ type: 'follow', callId: id });
  await settle();
  // Its process has died.
  show([...others.slice(1), call('call_20')]);
  await advance(11_000);
  expect(socket.ofType('refused')).toEqual([{ type: 'refused', callId: 'call_0', why: 'no-such-call' }]);
  expect(asked.filter((each) => each.startsWith('unfollow'))).toEqual(['unfollow call_0']);
  socket.ask({ type: 'follow', callId: 'call_20' });
  await settle();
  expect(socket.ofType('refused')).toHaveLength(1);
  expect(asked.at(-1)).toBe('follow call_20');
});

it('refuses more calls than a watcher may follow, more watchers than there may be, and what it does not understand', async () => {
  const { watcher, show, settle } = bench();
  show(Array.from({ length: 30 }, (_, at) => call(`call_${at}`)));
  const socket = watcher();
  for (let at = 0; at < 21; at += 1) socket.ask({ type: 'follow', callId: `call_${at}` });
  socket.emit('message', Buffer.from('{"type":"shout"}'), false);
  socket.emit('message', Buffer.alloc(100_000, 'x'), false);
  socket.emit('message', Buffer.from([1, 2, 3]), true);
  await settle();
  expect(socket.ofType('refused').filter(({ why }) => why === 'too-many')).toMatchObject([{ callId: 'call_20' }]);
  expect(socket.ofType('refused').filter(({ why }) => why === 'not-understood')).toHaveLength(3);
  for (let at = 0; at < 19; at += 1) watcher();
  expect(watcher().closed).toBe(1013);
  for (let at = 0; at < 200; at += 1) socket.ask({ type: 'unfollow', callId: 'none' });
  expect(socket.closed).toBe(1008);
});

it('closes for who has lost their rights, and for who answers no ping', async () => {
  const { watcher, advance, forbid } = bench();
  const [one, deaf] = [watcher(), watcher(EVERYTHING, 'default', 'key_2')];
  one.on('close', () => undefined);
  await advance(25_000);
  one.emit('pong');
  expect([one.pings, deaf.pings]).toEqual([1, 1]);
  await advance(20_000);
  expect([one.closed, deaf.closed]).toEqual([undefined, 1006]);
  forbid();
  await advance(11_000);
  expect(one.closed).toBe(4401);
});
