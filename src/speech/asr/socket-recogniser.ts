import type { Recogniser, RecogniserCapabilities, RecognitionEvent, RecognitionOptions, RecognitionSession } from '../port.ts';
import { type Clock, type Timer, keepAwake } from '../../kernel/clock.ts';
import { maskSecret } from '../../kernel/mask-secret.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Tokens } from '../client/credentials.ts';
import { SpeechAuthError } from '../client/errors.ts';
import { openSocket, type PlatformSocket } from '../client/socket.ts';
import type { At, Effect } from './realtime-events.ts';
import { RealtimeProtocol } from './realtime-protocol.ts';
import type { RecognitionDialect } from './recognition-dialect.ts';

export interface SocketRecogniserOptions {
  /** Base address; the dialect has the path. */
  readonly url: string;
  readonly dialect: RecognitionDialect;
  readonly capabilities: RecogniserCapabilities;
  /** The credential, which goes into headers or the first message, never into the address. */
  readonly tokens: Tokens;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Gets what the service warns of. */
  readonly onWarning: (text: string) => void;
  /** Time limit for opening a socket, and again for its ready event; 5 s when absent. */
  readonly readyTimeoutMs?: number | undefined;
  readonly random?: (() => number) | undefined;
}

/**
 * A recogniser over sockets, whose messages a dialect describes: the speech platform's, or another vendor's. Its sessions outlive
 * their sockets (`RealtimeProtocol`).
 */
export class SocketRecogniser implements Recogniser, AsyncDisposable {
  readonly #options: SocketRecogniserOptions;
  readonly #sessions = new Set<SocketSession>();

  constructor(options: SocketRecogniserOptions) {
    this.#options = options;
  }

  get capabilities(): RecogniserCapabilities {
    return this.#options.capabilities;
  }

  open(options: RecognitionOptions, listener: (event: RecognitionEvent) => void): RecognitionSession {
    const session: SocketSession = new SocketSession(this.#options, options, listener, () => this.#sessions.delete(session));
    this.#sessions.add(session);
    session.start();
    return session;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const session of this.#sessions) session.abort();
  }
}

/** Carries out the protocol's effects with tokens, sockets and timers. */
class SocketSession implements RecognitionSession, At {
  readonly #service: SocketRecogniserOptions;
  readonly listenFor?: (phrases: readonly string[]) => void;
  readonly #protocol: RealtimeProtocol;
  readonly #listener: (event: RecognitionEvent) => void;
  readonly #onOver: () => void;
  readonly #over: Promise<void>;
  #resolveOver: () => void = () => undefined;
  readonly #effects: Effect[] = [];
  #doing = false;
  #token = '';
  #socket: PlatformSocket | undefined;
  #opening: AbortController | undefined;
  #timer: Timer | undefined;
  #timerDueMs: number | undefined;
  /** Keeps the process alive between two sockets. */
  readonly #awake = keepAwake();

  constructor(
    service: SocketRecogniserOptions,
    options: RecognitionOptions,
    listener: (event: RecognitionEvent) => void,
    onOver: () => void,
  ) {
    this.#service = service;
    this.#listener = listener;
    this.#onOver = onOver;
    this.#over = new Promise((resolve) => (this.#resolveOver = resolve));
    const { clock, readyTimeoutMs, random = Math.random, dialect } = service;
    const { language, sampleRateHz, boostPhrases } = options;
    if (dialect.changesHints === true) this.listenFor = (phrases) => this.#do(this.#protocol.listenFor(phrases));
    const asked = { language, sampleRateHz, boostPhrases };
    this.#protocol = new RealtimeProtocol({ ...asked, readyTimeoutMs, random, dialect }, clock.nowMs());
  }

  get nowMs(): number {
    return this.#service.clock.nowMs();
  }

  get heardMs(): number {
    return this.#socket?.heardMs ?? Number.NEGATIVE_INFINITY;
  }

  get bufferedBytes(): number {
    return this.#socket?.bufferedBytes ?? 0;
  }

  start(): void {
    this.#do(this.#protocol.start());
  }

  send(pcm: Int16Array): void {
    this.#do(this.#protocol.send(this, pcm));
  }

  commit(): void {
    this.#do(this.#protocol.commit(this));
  }

  end(): Promise<void> {
    this.#do(this.#protocol.end(this));
    return this.#over;
  }

  abort(): void {
    this.#do(this.#protocol.abort());
  }

  /** Carries out effects in order; a step that a listener takes meanwhile comes after them. */
  #do(effects: readonly Effect[]): void {
    for (const effect of effects) this.#effects.push(effect);
    if (this.#doing) return;
    if (this.#effects.length > 0) {
      this.#doing = true;
      try {
        for (let effect = this.#effects.shift(); effect !== undefined; effect = this.#effects.shift()) this.#one(effect);
      } finally {
        this.#doing = false;
      }
    }
    if (this.#protocol.isOver) {
      this.#wakeAt(undefined);
      this.#awake[Symbol.dispose]();
      this.#resolveOver();
      this.#onOver();
    } else this.#wakeAt(this.#protocol.dueMs);
  }

  /** Sets the timer only when the due time changes, which few steps do. */
  #wakeAt(dueMs: number | undefined): void {
    if (dueMs === this.#timerDueMs) return;
    this.#timer?.cancel();
    this.#timerDueMs = dueMs;
    if (dueMs === undefined) return;
    const { clock } = this.#service;
    this.#timer = clock.after(dueMs - clock.nowMs(), () => {
      this.#timerDueMs = undefined;
      this.#do(this.#protocol.tick(this));
    });
  }

  #one(effect: Effect): void {
    switch (effect.type) {
      case 'connect':
        if (effect.freshToken) this.#service.tokens.invalidate(this.#token);
        void this.#connect(effect.options);
        return;
      case 'send':
        this.#socket?.send(effect.data);
        return;
      case 'ping':
        this.#socket?.ping();
        return;
      case 'disconnect':
        this.#opening?.abort(new Error('the recognition session no longer wants this socket'));
        this.#socket?.close();
        this.#socket = undefined;
        return;
      case 'emit':
        this.#listener(effect.event);
        return;
      case 'warning':
        this.#service.onWarning(effect.text);
        return;
      case 'unknown-event':
        this.#service.logger.debug({ event: effect.name }, 'recogniser event dropped');
        return;
    }
  }

  async #connect(options: RecognitionOptions): Promise<void> {
    const { url, clock, tokens, readyTimeoutMs: timeoutMs, dialect } = this.#service;
    const opening = new AbortController();
    const { signal } = opening;
    this.#opening = opening;
    let socket: PlatformSocket | undefined;
    let minted = false;
    // A service may send or hang up before the opening is reported here.
    const early: (() => void)[] = [];
    const heard = (step: () => void): void => {
      if (socket === undefined) early.push(step);
      else if (this.#socket === socket) step();
    };
    try {
      this.#token = await tokens.get(signal);
      minted = true;
      const listener = {
        text: (text: string) => heard(() => this.#do(this.#protocol.text(this, text))),
        binary: () => undefined,
        closed: (code: number, reason: string) => heard(() => this.#do(this.#protocol.closed(this, code, reason))),
      };
      const { path, title, keyAdvice } = dialect;
      socket = await openSocket(url, listener, {
        path,
        title,
        keyAdvice,
        query: dialect.query?.(options),
        headers: dialect.headers(this.#token),
        clock,
        timeoutMs,
        signal,
        mask: maskSecret(this.#token),
      });
    } catch (error) {
      if (signal.aborted) return;
      const refused = minted && error instanceof SpeechAuthError;
      this.#do(this.#protocol.openFailed(this, error instanceof Error ? error : new Error(String(error)), refused));
      return;
    }
    if (signal.aborted) {
      socket.close();
      return;
    }
    this.#socket = socket;
    this.#do(this.#protocol.opened(this, this.#token));
    for (const step of early) heard(step);
  }
}
