import type { z } from 'zod';
import type { liveCallView } from '../../http/api/calls/call-views.ts';
import type { WatchMessage, WatchRequest } from '../../http/api/calls/watch-messages.ts';
import { foldNews, noTranscript, type Told, type Transcript } from './transcript.ts';

export type LiveCallView = z.output<typeof liveCallView>;

/** The half of a WebSocket that the client uses. */
export interface WatchSocket {
  send(text: string): void;
  close(): void;
}

/** What the client needs of a browser. */
export interface WatchPorts {
  /** Opens the socket; `on` hears of it until it closes. A refused one closes without opening. */
  open(on: { opened(): void; message(text: string): void; closed(): void }): WatchSocket;
  /** Runs `then` once, before the next picture: updates in between are one. */
  nextFrame(then: () => void): void;
  /** @returns calls it off */
  after(ms: number, then: () => void): () => void;
  /** 0 up to 1. */
  random(): number;
  /** The gateway keeps refusing the socket: the session may have ended. */
  refused(): void;
}

/** `lost`: there was a connection, or an attempt at one, and there will be another. */
export type Connection = 'connecting' | 'open' | 'lost';

export interface LiveCallsShown {
  /** Oldest first; a call that did not change is the same object as before. */
  readonly calls: readonly LiveCallView[];
  /** False until the gateway has told all calls once. */
  readonly known: boolean;
  readonly connection: Connection;
}

interface Followed {
  readers: number;
  /** Requested again: earlier news are repeated. */
  isAgain: boolean;
  transcript: Transcript;
  pending: Told[];
}

const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 10_000;
const REFUSED_AFTER = 2;
/** A page that opens right after another finds the socket open. */
const LINGER_MS = 3_000;
/** A hidden tab draws no picture: more than this is not left waiting for one. */
const MOST_PENDING = 500;
const MOST_ENDED = 500;

/**
 * The page's one socket to `/api/watch`, and its news: opened by the first subscriber, closed after the last, and reopened with back-off when it is
 * lost. Subscribers are called at most once a frame.
 */
export class WatchClient {
  readonly #ports: WatchPorts;
  readonly #calls = new Map<string, LiveCallView>();
  readonly #ended = new Map<string, LiveCallView | undefined>();
  readonly #followed = new Map<string, Followed>();
  readonly #readers = new Set<() => void>();
  #shown: LiveCallsShown = { calls: [], known: false, connection: 'connecting' };
  #callsReaders = 0;
  #socket: WatchSocket | undefined;
  #connection: Connection = 'connecting';
  #isDrawing = false;
  #haveCallsChanged = false;
  #failures = 0;
  #callOff: () => void = () => undefined;

  constructor(ports: WatchPorts) {
    this.#ports = ports;
  }

  /** Tells `changed` of whatever changes. @returns ends it */
  subscribe = (changed: () => void): (() => void) => {
    this.#readers.add(changed);
    return () => void this.#readers.delete(changed);
  };

  /** As of the last picture; the same object until something changes. */
  shown = (): LiveCallsShown => this.#shown;

  /** As it was last seen, also when it is over. */
  call(callId: string): LiveCallView | undefined {
    return this.#calls.get(callId) ?? this.#ended.get(callId);
  }

  /** Whether the gateway said that the call is over. */
  hasEnded(callId: string): boolean {
    return this.#ended.has(callId) || this.transcript(callId).ended !== undefined;
  }

  /** Transcript of a followed call; empty for any other. */
  transcript(callId: string): Transcript {
    return this.#followed.get(callId)?.transcript ?? noTranscript;
  }

  /** Has the gateway tell of all calls from now on. @returns ends it */
  watchCalls(): () => void {
    this.#callsReaders += 1;
    if (this.#callsReaders === 1) this.#ask({ type: 'calls' });
    this.#connect();
    return () => {
      this.#callsReaders -= 1;
      this.#rest();
    };
  }

  /** Starts following a call. @returns stops it, and drops the transcript when no other component follows */
  follow(callId: string): () => void {
    const followed = this.#followed.get(callId) ?? { readers: 0, isAgain: false, transcript: noTranscript, pending: [] };
    followed.readers += 1;
    this.#followed.set(callId, followed);
    if (followed.readers === 1) this.#ask({ type: 'follow', callId });
    this.#connect();
    return () => {
      followed.readers -= 1;
      if (followed.readers > 0) return;
      this.#followed.delete(callId);
      this.#ask({ type: 'unfollow', callId });
      this.#rest();
    };
  }

  /** Tries a lost connection at once, as when the network is back. */
  reconnect(): void {
    if (this.#socket !== undefined || !this.#isWanted) return;
    this.#callOff();
    this.#connect();
  }

  get #isWanted(): boolean {
    return this.#callsReaders > 0 || this.#followed.size > 0;
  }

  #ask(request: WatchRequest): void {
    if (this.#connection === 'open') this.#socket?.send(JSON.stringify(request));
  }

  #connect(): void {
    this.#callOff();
    if (this.#socket !== undefined) return;
    const socket = this.#ports.open({
      opened: () => this.#opened(),
      message: (text) => this.#message(text),
      closed: () => this.#closed(socket),
    });
    this.#socket = socket;
  }

  #opened(): void {
    this.#connection = 'open';
    this.#failures = 0;
    if (this.#callsReaders > 0) this.#ask({ type: 'calls' });
    for (const [callId, followed] of this.#followed) {
      followed.isAgain = true;
      this.#ask({ type: 'follow', callId });
    }
    this.#changed();
  }

  #closed(socket: WatchSocket): void {
    if (socket !== this.#socket) return;
    const wasOpen = this.#connection === 'open';
    this.#socket = undefined;
    this.#connection = 'lost';
    if (!this.#isWanted) return;
    if (!wasOpen) this.#failures += 1;
    if (this.#failures >= REFUSED_AFTER) this.#ports.refused();
    const longest = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** this.#failures);
    this.#callOff = this.#ports.after(longest * (0.5 + this.#ports.random() / 2), () => this.#connect());
    this.#changed();
  }

  /** No subscribers: closes the socket, unless one comes soon. */
  #rest(): void {
    if (this.#isWanted) return;
    this.#callOff();
    this.#callOff = this.#ports.after(LINGER_MS, () => {
      const socket = this.#socket;
      this.#socket = undefined;
      socket?.close();
      this.#calls.clear();
      this.#ended.clear();
      this.#connection = 'connecting';
      this.#shown = { calls: [], known: false, connection: 'connecting' };
    });
  }

  #message(text: string): void {
    // As the schema of the gateway that served this page wrote it.
    const message = JSON.parse(text) as WatchMessage;
    switch (message.type) {
      case 'calls': {
        if (message.whole) this.#endMissing(message.calls);
        for (const call of message.calls) this.#calls.set(call.id, call);
        for (const callId of message.over) this.#end(callId);
        this.#haveCallsChanged = true;
        return this.#changed();
      }
      case 'news':
        return this.#tell(message.callId, { type: 'news', at: message.at, news: message.news });
      case 'missed':
        return this.#tell(message.callId, { type: 'missed', count: message.count });
      case 'refused':
        if (message.callId !== null) this.#tell(message.callId, { type: 'refused', why: message.why });
    }
  }

  /** Other known calls ended unnoticed. */
  #endMissing(calls: readonly LiveCallView[]): void {
    const there = new Set(calls.map(({ id }) => id));
    for (const callId of this.#calls.keys()) if (!there.has(callId)) this.#end(callId);
  }

  #end(callId: string): void {
    this.#ended.set(callId, this.#calls.get(callId) ?? this.#ended.get(callId));
    this.#calls.delete(callId);
    const [oldest] = this.#ended.keys();
    if (this.#ended.size > MOST_ENDED && oldest !== undefined) this.#ended.delete(oldest);
  }

  #tell(callId: string, told: Told): void {
    const followed = this.#followed.get(callId);
    if (followed === undefined) return;
    if (followed.isAgain && told.type === 'news')
      Object.assign(followed, { isAgain: false, transcript: noTranscript, pending: [] });
    followed.pending.push(told);
    if (followed.pending.length >= MOST_PENDING) this.#fold(followed);
    this.#changed();
  }

  #fold(followed: Followed): void {
    followed.transcript = foldNews(followed.transcript, followed.pending);
    followed.pending = [];
  }

  #changed(): void {
    if (this.#isDrawing) return;
    this.#isDrawing = true;
    this.#ports.nextFrame(() => this.#draw());
  }

  #draw(): void {
    this.#isDrawing = false;
    const connection = this.#connection;
    if (this.#haveCallsChanged) this.#shown = { calls: [...this.#calls.values()], known: true, connection };
    else if (connection !== this.#shown.connection) this.#shown = { ...this.#shown, connection };
    this.#haveCallsChanged = false;
    for (const followed of this.#followed.values()) if (followed.pending.length > 0) this.#fold(followed);
    for (const changed of this.#readers) changed();
  }
}
