import { expect, it } from 'vitest';
import { type LiveCallView, WatchClient, type WatchPorts } from '../../../../src/console/live/watch-client.ts';
import type { NewsView, WatchMessage } from '../../../../src/http/api/calls/watch-messages.ts';

type Told = Parameters<WatchPorts['open']>[0];

/** A browser whose pictures, timers and sockets come when the test says so. */
function browser() {
  const sockets: { readonly on: Told; readonly sent: unknown[]; closed: boolean }[] = [];
  const frames: (() => void)[] = [];
  const timers = new Map<() => void, number>();
  let refusals = 0;
  const client = new WatchClient({
    open(on) {
      const socket = { on, sent: [] as unknown[], closed: false };
      sockets.push(socket);
      return { send: (text) => void socket.sent.push(JSON.parse(text)), close: () => void (socket.closed = true) };
    },
    nextFrame: (then) => void frames.push(then),
    after(ms, then) {
      timers.set(then, ms);
      return () => void timers.delete(then);
    },
    random: () => 1,
    refused: () => void (refusals += 1),
  });
  const last = () => {
    const socket = sockets.at(-1);
    if (socket === undefined) throw new Error('no socket was opened');
    return socket;
  };
  return {
    client,
    sockets,
    frames,
    last,
    refusals: () => refusals,
    /** Waits of timers that are set. */
    waits: () => [...timers.values()],
    draw: () => frames.splice(0).forEach((frame) => frame()),
    tell: (...messages: WatchMessage[]) => messages.forEach((message) => last().on.message(JSON.stringify(message))),
    passTimers: () => {
      const due = [...timers.keys()];
      timers.clear();
      due.forEach((then) => then());
    },
  };
}

function call(id: string, turns = 0): LiveCallView {
  return { id, turns } as LiveCallView;
}

function news(callId: string, item: NewsView): WatchMessage {
  return { type: 'news', callId, at: '2026-01-01T00:00:00.000Z', news: item };
}

/** All live calls. */
function whole(...calls: LiveCallView[]): WatchMessage {
  return { type: 'calls', whole: true, calls, over: [] };
}

function changed(calls: LiveCallView[], over: string[] = []): WatchMessage {
  return { type: 'calls', whole: false, calls, over };
}

it('tells its readers once a picture, whatever came in between', () => {
  const page = browser();
  let times = 0;
  page.client.subscribe(() => void (times += 1));
  page.client.watchCalls();
  page.last().on.opened();
  page.tell(whole(...Array.from({ length: 200 }, (_, index) => call(`c${index}`))));
  for (let turns = 1; turns <= 10; turns += 1) page.tell(changed([call('c7', turns)], ['c9']));
  expect(times).toBe(0);
  expect(page.frames).toHaveLength(1);
  page.draw();
  expect(times).toBe(1);
  expect(page.client.shown()).toMatchObject({ known: true, connection: 'open' });
  expect(page.client.shown().calls).toHaveLength(199);
  expect(page.client.call('c7')?.turns).toBe(10);
});

it('leaves a call that did not change the same object, so that its row is not drawn again', () => {
  const page = browser();
  page.client.watchCalls();
  page.last().on.opened();
  page.tell(whole(call('a'), call('b')));
  page.draw();
  const [a, b] = page.client.shown().calls;
  page.tell(changed([call('a', 1)]));
  page.draw();
  expect(page.client.shown().calls[0]).not.toBe(a);
  expect(page.client.shown().calls[1]).toBe(b);
});

it('asks once for what several readers want, and closes the socket after the last', () => {
  const page = browser();
  const ends = [page.client.watchCalls(), page.client.watchCalls(), page.client.follow('a'), page.client.follow('a')];
  expect(page.sockets).toHaveLength(1);
  page.last().on.opened();
  expect(page.last().sent).toEqual([{ type: 'calls' }, { type: 'follow', callId: 'a' }]);
  for (const end of ends) end();
  expect(page.last().sent.slice(2)).toEqual([{ type: 'unfollow', callId: 'a' }]);
  expect(page.last().closed).toBe(false);
  page.passTimers();
  expect(page.last().closed).toBe(true);
  expect(page.client.shown()).toEqual({ calls: [], known: false, connection: 'connecting' });
});

it('keeps its socket for a page that opens right after another', () => {
  const page = browser();
  page.client.watchCalls()();
  page.client.follow('a');
  page.passTimers();
  expect(page.sockets).toHaveLength(1);
  expect(page.last().closed).toBe(false);
});

it('opens a lost socket again with back-off, and asks for the same again', () => {
  const page = browser();
  page.client.watchCalls();
  page.client.follow('a');
  page.last().on.opened();
  page.tell(whole(call('a'), call('b')), news('a', { type: 'turn', turn: 1, kind: 'spoken', callerText: 'yes' }));
  page.last().on.closed();
  page.draw();
  expect(page.client.shown()).toMatchObject({ known: true, connection: 'lost' });
  expect(page.client.shown().calls).toHaveLength(2);
  const waits: number[] = [];
  for (let attempt = 0; attempt < 6; attempt += 1) {
    waits.push(...page.waits());
    page.passTimers();
    page.last().on.closed();
  }
  expect(waits).toEqual([500, 1_000, 2_000, 4_000, 8_000, 10_000]);
  expect(page.refusals()).toBe(5);
  page.client.reconnect();
  expect(page.waits()).toEqual([]);
  page.last().on.opened();
  expect(page.last().sent).toEqual([{ type: 'calls' }, { type: 'follow', callId: 'a' }]);
  // `b` ended while nobody told, and what happened in `a` is told again.
  page.tell(whole(call('a'), call('c')));
  page.draw();
  expect(page.client.shown().calls.map(({ id }) => id)).toEqual(['a', 'c']);
  expect(page.client.hasEnded('b')).toBe(true);
  expect(page.client.transcript('a').lines).toMatchObject([{ text: 'yes' }]);
  page.tell(
    { ...news('a', { type: 'turn', turn: 1, kind: 'spoken', callerText: 'yes' }), past: true } as WatchMessage,
    news('a', { type: 'turn', turn: 2, kind: 'spoken', callerText: 'no' }),
  );
  page.draw();
  expect(page.client.transcript('a').lines).toMatchObject([{ text: 'yes' }, { text: 'no' }]);
});

it('is told nothing by a socket that it gave up', () => {
  const page = browser();
  const end = page.client.watchCalls();
  const old = page.last();
  old.on.opened();
  end();
  page.passTimers();
  page.client.watchCalls();
  old.on.closed();
  expect(page.sockets).toHaveLength(2);
  expect(page.waits()).toEqual([]);
});

it('keeps updates that were left out, refusals and the end of a followed call', () => {
  const page = browser();
  page.client.follow('a');
  page.last().on.opened();
  page.tell({ type: 'missed', callId: 'a', count: 7 }, { type: 'refused', callId: 'a', why: 'no-such-call' });
  page.draw();
  expect(page.client.transcript('a')).toMatchObject({
    lines: [{ type: 'missed', count: 7 }],
    refused: 'no-such-call',
  });
  page.tell(news('a', { type: 'ended', reason: 'caller-hangup' }), news('other', { type: 'digit', digit: '1' }));
  page.draw();
  expect(page.client.hasEnded('a')).toBe(true);
  expect(page.client.transcript('other').lines).toEqual([]);
});

it('does not pile up news while no picture is drawn', () => {
  const page = browser();
  page.client.follow('a');
  page.last().on.opened();
  for (let index = 0; index < 10_000; index += 1)
    page.tell(news('a', { type: 'turn', turn: index, kind: 'spoken', callerText: 'yes' }));
  expect(page.frames).toHaveLength(1);
  page.draw();
  expect(page.client.transcript('a').lines).toHaveLength(2_000);
});
