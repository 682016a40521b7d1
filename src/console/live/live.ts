import { useCallback, useEffect, useSyncExternalStore } from 'react';
import { get, socketUrl } from '../api.ts';
import type { Transcript } from './transcript.ts';
import { type Connection, type LiveCallsShown, type LiveCallView, WatchClient } from './watch-client.ts';

/** One for the page; it opens its socket when a component subscribes. */
const client = new WatchClient({
  open(on) {
    const socket = new WebSocket(socketUrl('/watch'));
    socket.addEventListener('open', () => on.opened());
    socket.addEventListener('message', ({ data }) => on.message(String(data)));
    socket.addEventListener('close', () => on.closed());
    return socket;
  },
  nextFrame(then) {
    // A hidden tab draws no pictures; its title and its live region go on.
    if (document.hidden) setTimeout(then, 250);
    else requestAnimationFrame(then);
  },
  after(ms, then) {
    const timer = setTimeout(then, ms);
    return () => clearTimeout(timer);
  },
  random: Math.random,
  // A browser tells no script why a socket was refused. Any other request does, and shows the sign-in page.
  refused: () => void get('/live-calls').catch(() => undefined),
});
globalThis.addEventListener('online', () => client.reconnect());

/** All live calls of the gateway, as they change; at most once a picture. */
export function useLiveCalls(): LiveCallsShown {
  useEffect(() => client.watchCalls(), []);
  return useSyncExternalStore(client.subscribe, client.shown);
}

export interface LiveCallShown {
  /** As it was last seen, also once it is over; undefined where it was never seen. */
  readonly call: LiveCallView | undefined;
  /** It has ended, or the gateway has no such call. */
  readonly isOver: boolean;
  readonly connection: Connection;
}

/** One live call. */
export function useLiveCall(callId: string): LiveCallShown {
  const { known, connection } = useLiveCalls();
  const call = useSyncExternalStore(client.subscribe, () => client.call(callId));
  const hasEnded = useSyncExternalStore(client.subscribe, () => client.hasEnded(callId));
  return { call, isOver: hasEnded || (known && call === undefined), connection };
}

/** What happens in a call from now on, as its transcript; texts are there with the scope `calls:listen` alone. */
export function useCallNews(callId: string): Transcript {
  useEffect(() => client.follow(callId), [callId]);
  return useSyncExternalStore(
    client.subscribe,
    useCallback(() => client.transcript(callId), [callId]),
  );
}

const seconds = new Set<() => void>();
let ticking: ReturnType<typeof setInterval> | undefined;

function everySecond(changed: () => void): () => void {
  seconds.add(changed);
  ticking ??= setInterval(() => {
    for (const each of seconds) each();
  }, 1000);
  return () => {
    seconds.delete(changed);
    if (seconds.size > 0) return;
    clearInterval(ticking);
    ticking = undefined;
  };
}

/** The time in whole seconds, in ms: all ages on a page tick together. */
export function useNow(): number {
  return useSyncExternalStore(everySecond, () => Math.floor(Date.now() / 1000) * 1000);
}
