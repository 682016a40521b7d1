import type { WebSocket } from 'ws';
import { liveCall, type LiveCall, type LiveCalls } from '../../../call/admission/live-calls.ts';
import type { TimedNews } from '../../../call/log/call-news.ts';
import type { NumberedNews } from '../../../call/log/followed-news.ts';
import type { Clock, Timer } from '../../../kernel/clock.ts';
import { parseJson } from '../../../kernel/json.ts';
import type { Logger } from '../../../observability/logger.ts';
import type { Principal } from '../system/api-keys.ts';
import { liveView } from './call-views.ts';
import { newsFor, type WatchMessage, watchRequest } from './watch-messages.ts';

/** The part of a `ws` WebSocket that a watcher uses. */
export type WatchSocket = Pick<WebSocket, 'send' | 'close' | 'terminate' | 'ping' | 'on' | 'bufferedAmount'>;

export interface LiveWatchParts {
  readonly calls: Pick<LiveCalls, 'list' | 'find' | 'follow' | 'unfollow' | 'onNews'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

const PLAIN_FIELDS = liveCall.omit({ health: true, transfer: true }).keyof().options;
const HEALTH_FIELDS = liveCall.shape.health.keyof().options;
const TRANSFER_FIELDS = liveCall.shape.transfer.unwrap().keyof().options;

/** Least interval between list updates. */
const LIST_EVERY_MS = 500;
/** Interval of watcher checks, … */
const LOOK_EVERY_MS = 1_000;
/** … how many of them apart watchers are pinged (and dropped without an answer by the next), and their access is checked. */
const PING_LOOKS = 20;
const RIGHTS_LOOKS = 10;
/** How many of them apart followed calls are looked up: a call that died with its process, or was never answered, sends no end. */
const GONE_LOOKS = 5;
/** Backlog at which a watcher loses updates until it has caught up; it is dropped if that takes too long. */
const MOST_WAITING_BYTES = 256 * 1024;
const MOST_SLOW_LOOKS = 15;
const MOST_WATCHERS = 200;
const MOST_WATCHERS_EACH = 20;
const MOST_FOLLOWS = 20;
/** Most news held while a call's earlier news are requested. */
const MOST_HELD = 1_000;
const MOST_REQUEST_BYTES = 2_000;
/** Most requests of a watcher between two checks. */
const MOST_REQUESTS = 40;
const CLOSED = { full: 1013, rights: 4401, slow: 4408, misuse: 1008 } as const;

/** A watcher's view of one followed call. */
interface Follow {
  /** News held while the earlier ones are requested; undefined once those were sent. */
  held: NumberedNews[] | undefined;
  missed: number;
}

interface Watcher {
  readonly socket: WatchSocket;
  readonly principal: Principal;
  readonly view: View;
  readonly stillAllowed: () => Promise<boolean>;
  readonly onFollow: (callId: string) => void;
  readonly follows: Map<string, Follow>;
  list: 'none' | 'whole' | 'changes';
  answered: boolean;
  slowLooks: number;
  requests: number;
}

/** A call, and the JSON that these watchers see of it. */
interface Shown {
  readonly call: LiveCall;
  readonly json: string;
}

/** The list as seen by watchers of one tenant with equal access. */
interface View {
  readonly principal: Principal;
  readonly watchers: Set<Watcher>;
  /** Last sent state, by call. */
  shown: ReadonlyMap<string, Shown>;
}

interface Followed {
  readonly call: LiveCall;
  readonly watchers: Set<Watcher>;
  /** Number of the last sent news; undefined before the first. */
  number: number | undefined;
  /** Consecutive failed lookups. */
  misses: number;
  isSought: boolean;
}

/**
 * Sends watchers news of this gateway's calls. The list is made at most twice a second, once for all watchers with the same view; news is gathered
 * only for followed calls. A slow watcher loses updates, which are counted and reported, and delays no other.
 */
export class LiveWatch implements Disposable {
  readonly #parts: LiveWatchParts;
  readonly #watchers = new Set<Watcher>();
  readonly #views = new Map<string, View>();
  readonly #followed = new Map<string, Followed>();
  #listTimer: Timer | undefined;
  #isListing = false;
  #lookTimer: Timer | undefined;
  #looks = 0;

  constructor(parts: LiveWatchParts) {
    this.#parts = parts;
    parts.calls.onNews((news) => this.#onNews(news));
  }

  /**
   * Serves one watcher until its socket is closed.
   * @param stillAllowed called regularly: whether its key, token or session is still valid
   * @param onFollow called for each call that it follows
   */
  watch(
    socket: WatchSocket,
    principal: Principal,
    stillAllowed: () => Promise<boolean>,
    onFollow: (callId: string) => void = () => undefined,
  ): void {
    const mine = [...this.#watchers].filter((other) => other.principal.id === principal.id).length;
    if (this.#watchers.size >= MOST_WATCHERS || mine >= MOST_WATCHERS_EACH) {
      socket.close(CLOSED.full, 'too many watchers');
      return;
    }
    const view = this.#viewOf(principal);
    const watcher: Watcher = {
      socket,
      principal,
      view,
      stillAllowed,
      onFollow,
      follows: new Map(),
      list: 'none',
      answered: true,
      slowLooks: 0,
      requests: 0,
    };
    this.#watchers.add(watcher);
    view.watchers.add(watcher);
    socket.on('message', (data, isBinary) => this.#onMessage(watcher, data, isBinary));
    socket.on('pong', () => (watcher.answered = true));
    socket.on('close', () => this.#gone(watcher));
    // An unreadable frame closes the socket by itself.
    socket.on('error', () => undefined);
    if (this.#lookTimer === undefined) this.#lookLater();
  }

  [Symbol.dispose](): void {
    this.#listTimer?.cancel();
    this.#lookTimer?.cancel();
    for (const { socket } of this.#watchers) socket.close(1001, 'gateway stops');
  }

  #viewOf(principal: Principal): View {
    const rights = ['numbers:read', 'calls:listen'].filter((scope) => principal.scopes.some((held) => held === scope));
    const key = JSON.stringify([principal.tenantId, ...rights]);
    const view = this.#views.get(key) ?? { principal, watchers: new Set(), shown: new Map<string, Shown>() };
    this.#views.set(key, view);
    return view;
  }

  #gone(watcher: Watcher): void {
    if (!this.#watchers.delete(watcher)) return;
    for (const callId of watcher.follows.keys()) this.#unfollow(watcher, callId);
    const { view } = watcher;
    view.watchers.delete(watcher);
    if (view.watchers.size > 0) return;
    for (const [key, each] of this.#views) if (each === view) this.#views.delete(key);
  }

  #onMessage(watcher: Watcher, data: unknown, isBinary: boolean): void {
    watcher.requests += 1;
    const text = isBinary || !Buffer.isBuffer(data) || data.length > MOST_REQUEST_BYTES ? '' : data.toString('utf8');
    const { data: request } = watchRequest.safeParse(parseJson(text));
    if (watcher.requests > MOST_REQUESTS) watcher.socket.close(CLOSED.misuse, 'too many requests');
    else if (request === undefined) this.#send(watcher, { type: 'refused', callId: null, why: 'not-understood' });
    else if (request.type === 'follow') void this.#follow(watcher, request.callId);
    else if (request.type === 'unfollow') this.#unfollow(watcher, request.callId);
    else {
      watcher.list = 'whole';
      // Otherwise the pending update includes it.
      if (this.#listTimer === undefined) void this.#tellLists();
    }
  }

  #send({ socket }: Watcher, message: WatchMessage): void {
    socket.send(JSON.stringify(message));
  }

  get #isListWatched(): boolean {
    return [...this.#watchers].some(({ list }) => list !== 'none');
  }

  async #tellLists(): Promise<void> {
    if (this.#isListing) return;
    const { calls, clock, logger } = this.#parts;
    this.#isListing = true;
    try {
      const list = await calls.list();
      for (const view of this.#views.values()) tellList(view, list);
    } catch (error) {
      logger.warn({ error }, 'listing live calls for watchers failed');
    }
    this.#isListing = false;
    this.#listTimer?.cancel();
    this.#listTimer = undefined;
    if (this.#isListWatched) this.#listTimer = clock.after(LIST_EVERY_MS, () => void this.#tellLists());
  }

  async #follow(watcher: Watcher, callId: string): Promise<void> {
    if (watcher.follows.has(callId)) return;
    if (watcher.follows.size >= MOST_FOLLOWS || isSlow(watcher))
      return this.#send(watcher, { type: 'refused', callId, why: 'too-many' });
    const follow: Follow = { held: [], missed: 0 };
    watcher.follows.set(callId, follow);
    const told = await this.#begin(watcher, callId).catch(() => undefined);
    // The watcher may have unfollowed the call or left.
    if (watcher.follows.get(callId) !== follow) return;
    const followed = this.#followed.get(callId);
    if (told === undefined || followed === undefined) {
      this.#unfollow(watcher, callId);
      return this.#send(watcher, { type: 'refused', callId, why: 'no-such-call' });
    }
    watcher.onFollow(callId);
    followed.number ??= told.number;
    for (const past of told.soFar) watcher.socket.send(this.#messageOf(followed, watcher.view, past, true) ?? '');
    const held = follow.held ?? [];
    follow.held = undefined;
    for (const news of held)
      if (news.number > told.number) this.#tell(watcher, follow, this.#messageOf(followed, watcher.view, news));
  }

  async #begin(watcher: Watcher, callId: string) {
    const { calls } = this.#parts;
    const call = await calls.find(callId);
    if (call?.tenantId !== watcher.principal.tenantId || !watcher.follows.has(callId)) return undefined;
    const followed = this.#followed.get(callId) ?? { call, watchers: new Set(), number: undefined, misses: 0, isSought: false };
    this.#followed.set(callId, followed);
    followed.watchers.add(watcher);
    return calls.follow(callId);
  }

  #unfollow(watcher: Watcher, callId: string): void {
    watcher.follows.delete(callId);
    const followed = this.#followed.get(callId);
    if (followed?.watchers.delete(watcher) !== true || followed.watchers.size > 0) return;
    this.#followed.delete(callId);
    this.#parts.calls.unfollow(callId);
  }

  #onNews(news: NumberedNews): void {
    const { callId } = news.news;
    const followed = this.#followed.get(callId);
    if (followed === undefined) return;
    const lost = followed.number === undefined ? 0 : Math.max(0, news.number - followed.number - 1);
    followed.number = news.number;
    const messages = new Map<View, string | undefined>();
    for (const watcher of followed.watchers) {
      const follow = watcher.follows.get(callId);
      if (follow === undefined) continue;
      follow.missed += lost;
      if (follow.held !== undefined) {
        if (follow.held.length < MOST_HELD) follow.held.push(news);
        else follow.missed += 1;
        continue;
      }
      const { view } = watcher;
      if (!messages.has(view)) messages.set(view, this.#messageOf(followed, view, news));
      this.#tell(watcher, follow, messages.get(view), callId);
    }
    if (news.news.type === 'ended') for (const watcher of followed.watchers) this.#unfollow(watcher, callId);
  }

  /** @returns undefined for news these watchers may not see */
  #messageOf({ call }: Followed, { principal }: View, { atWallMs, news }: TimedNews, past?: true): string | undefined {
    const seen = newsFor(news, call, principal);
    if (seen === undefined) return undefined;
    const at = new Date(atWallMs).toISOString();
    return JSON.stringify({ type: 'news', callId: call.id, at, past, news: seen } satisfies WatchMessage);
  }

  #tell(watcher: Watcher, follow: Follow, message: string | undefined, callId?: string): void {
    if (message === undefined) return;
    if (isSlow(watcher)) {
      follow.missed += 1;
      return;
    }
    if (callId !== undefined) this.#tellMissed(watcher, callId, follow);
    watcher.socket.send(message);
  }

  #tellMissed(watcher: Watcher, callId: string, follow: Follow): void {
    const { missed: count } = follow;
    if (count === 0) return;
    follow.missed = 0;
    this.#send(watcher, { type: 'missed', callId, count });
  }

  #lookLater(): void {
    this.#lookTimer = this.#parts.clock.after(LOOK_EVERY_MS, () => {
      this.#lookTimer = undefined;
      this.#looks += 1;
      for (const watcher of this.#watchers) this.#look(watcher);
      if (this.#looks % GONE_LOOKS === 0) for (const [callId, followed] of this.#followed) void this.#seek(callId, followed);
      if (this.#watchers.size > 0) this.#lookLater();
    });
  }

  #look(watcher: Watcher): void {
    const { socket, follows } = watcher;
    watcher.requests = 0;
    watcher.slowLooks = isSlow(watcher) ? watcher.slowLooks + 1 : 0;
    if (watcher.slowLooks >= MOST_SLOW_LOOKS) socket.close(CLOSED.slow, 'too slow');
    if (watcher.slowLooks === 0) for (const [callId, follow] of follows) this.#tellMissed(watcher, callId, follow);
    if (this.#looks % RIGHTS_LOOKS === 0) void this.#check(watcher);
    if (this.#looks % PING_LOOKS !== 0) return;
    if (!watcher.answered) return socket.terminate();
    watcher.answered = false;
    socket.ping();
  }

  /** Removes a vanished call, after two lookups: the news of its end may be on its way. */
  async #seek(callId: string, followed: Followed): Promise<void> {
    // An unresponsive process is asked once at a time.
    if (followed.isSought) return;
    followed.isSought = true;
    const found = await this.#parts.calls.find(callId).catch(() => followed.call);
    followed.isSought = false;
    followed.misses = found === undefined ? followed.misses + 1 : 0;
    if (followed.misses < 2 || this.#followed.get(callId) !== followed) return;
    for (const watcher of followed.watchers) {
      this.#unfollow(watcher, callId);
      this.#send(watcher, { type: 'refused', callId, why: 'no-such-call' });
    }
  }

  async #check({ socket, stillAllowed }: Watcher): Promise<void> {
    const holds = await stillAllowed().catch(() => false);
    if (!holds) socket.close(CLOSED.rights, 'not allowed any more');
  }
}

function isSlow({ socket }: Watcher): boolean {
  return socket.bufferedAmount > MOST_WAITING_BYTES;
}

/** Sends the changes of the list to watchers with the same view, as one text. */
function tellList(view: View, all: readonly LiveCall[]): void {
  const { principal, shown: before } = view;
  const watchers = [...view.watchers].filter(({ list: wanted }) => wanted !== 'none');
  if (watchers.length === 0) return;
  const own = all.filter(({ tenantId }) => tenantId === principal.tenantId);
  const shown = new Map<string, Shown>();
  const changed: string[] = [];
  for (const call of own) {
    const last = before.get(call.id);
    const json = last !== undefined && isSame(last.call, call) ? last.json : JSON.stringify(liveView(call, principal));
    shown.set(call.id, { call, json });
    if (json !== last?.json) changed.push(json);
  }
  view.shown = shown;
  const over = [...before.keys()].filter((id) => !shown.has(id));
  const changes = changed.length + over.length === 0 ? undefined : listMessage(false, changed, over);
  let whole: string | undefined;
  for (const watcher of watchers) {
    // A slow watcher gets all changes at once when it has caught up.
    if (isSlow(watcher)) watcher.list = 'whole';
    else if (watcher.list === 'whole') {
      watcher.list = 'changes';
      watcher.socket.send(
        (whole ??= listMessage(
          true,
          Array.from(shown.values(), ({ json }) => json),
          [],
        )),
      );
    } else if (changes !== undefined) watcher.socket.send(changes);
  }
}

/** Most calls are unchanged after half a second; comparing them costs a tenth of making their JSON. */
function isSame(one: LiveCall, other: LiveCall): boolean {
  return (
    PLAIN_FIELDS.every((field) => one[field] === other[field]) &&
    HEALTH_FIELDS.every((field) => one.health[field] === other.health[field]) &&
    TRANSFER_FIELDS.every((field) => one.transfer?.[field] === other.transfer?.[field])
  );
}

/** @param calls each as JSON */
function listMessage(whole: boolean, calls: readonly string[], over: readonly string[]): string {
  return `{"type":"calls","whole":${whole},"calls":[${calls.join(',')}],"over":${JSON.stringify(over)}}`;
}
