import type { Recogniser, RecognitionEvent, RecognitionOptions, RecognitionSession } from '../port.ts';
import { PLATFORM_RECOGNITION } from '../platform-capabilities.ts';
import type { Slots } from '../client/slots.ts';
import { type Clock, type Timer, keepAwake } from '../../kernel/clock.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Tokens } from '../client/credentials.ts';
import { SpeechAuthError } from '../client/errors.ts';
import { maskSecret } from '../../kernel/mask-secret.ts';
import { openSocket, type PlatformSocket } from '../client/socket.ts';
import type { At, Effect } from './realtime-events.ts';
import { RealtimeProtocol } from './realtime-protocol.ts';
import { primaryDialect, type RecognitionDialect } from './recognition-dialect.ts';
import { RecognitionAdvice } from './recognition-advice.ts';

export interface RealtimeRecogniserOptions {
  readonly asrUrl: string;
  /** The variant of the service; the primary one when absent. */
  readonly dialect?: RecognitionDialect;
  readonly tokens: Tokens;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Time limit for opening a socket, and again for its ready event. */
  readonly readyTimeoutMs?: number;
  readonly random?: () => number;
  /** Shared by the recognisers of one client, so that each warning is logged once. */
  readonly advice?: RecognitionAdvice;
}

/** The realtime recogniser of the platform's documents: `WS {asr_url}/v1/realtime`, or Variant B's `/ws`. */
export class RealtimeRecogniser implements Recogniser, AsyncDisposable {
  readonly capabilities = PLATFORM_RECOGNITION;
  readonly #options: RealtimeRecogniserOptions;
  readonly #sessions = new Set<RealtimeSession>();
  readonly #advice: RecognitionAdvice;

  constructor(options: RealtimeRecogniserOptions) {
    this.#options = options;
    this.#advice = options.advice ?? new RecognitionAdvice(options.logger);
  }

  open(options: RecognitionOptions, listener: (event: RecognitionEvent) => void): RecognitionSession {
    this.#advice.forStream(options);
    const session: RealtimeSession = new RealtimeSession({ ...this.#options, advice: this.#advice }, options, listener, () =>
      this.#sessions.delete(session),
    );
    this.#sessions.add(session);
    session.start();
    return session;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const session of this.#sessions) session.abort();
  }
}

/** Carries out the protocol's effects with tokens, sockets and timers. */
class RealtimeSession implements RecognitionSession, At {
  readonly #platform: RealtimeRecogniserOptions;
  readonly #protocol: RealtimeProtocol;
  readonly #listener: (event: RecognitionEvent) => void;
  readonly #advice: RecognitionAdvice;
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
    platform: RealtimeRecogniserOptions & { readonly advice: RecognitionAdvice },
    options: RecognitionOptions,
    listener: (event: RecognitionEvent) => void,
    onOver: () => void,
  ) {
    this.#platform = platform;
    this.#advice = platform.advice;
    this.#listener = listener;
    this.#onOver = onOver;
    this.#over = new Promise((resolve) => (this.#resolveOver = resolve));
    const { clock, readyTimeoutMs, random = Math.random, dialect } = platform;
    const { language, sampleRateHz, boostPhrases } = options;
    this.#protocol = new RealtimeProtocol(
      { language, sampleRateHz, boostPhrases, readyTimeoutMs, random, dialect },
      clock.nowMs(),
    );
  }

  get nowMs(): number {
    return this.#platform.clock.nowMs();
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
    const { clock } = this.#platform;
    this.#timer = clock.after(dueMs - clock.nowMs(), () => {
      this.#timerDueMs = undefined;
      this.#do(this.#protocol.tick(this));
    });
  }

  #one(effect: Effect): void {
    switch (effect.type) {
      case 'connect':
        if (effect.freshToken) this.#platform.tokens.invalidate(this.#token);
        void this.#connect();
        return;
      case 'send':
        this.#socket?.send(effect.data);
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
        this.#advice.fromPlatform(effect.text);
        return;
      case 'unknown-event':
        this.#platform.logger.debug({ event: effect.name }, 'event of the recogniser dropped');
        return;
    }
  }

  async #connect(): Promise<void> {
    const { asrUrl, clock, tokens, readyTimeoutMs: timeoutMs, dialect = primaryDialect } = this.#platform;
    const opening = new AbortController();
    const { signal } = opening;
    this.#opening = opening;
    let socket: PlatformSocket | undefined;
    let minted = false;
    const ours = (): boolean => socket !== undefined && this.#socket === socket;
    try {
      this.#token = await tokens.get(signal);
      minted = true;
      const listener = {
        text: (text: string) => {
          if (ours()) this.#do(this.#protocol.text(this, text));
        },
        binary: () => undefined,
        closed: (code: number, reason: string) => {
          if (ours()) this.#do(this.#protocol.closed(this, code, reason));
        },
      };
      const { path } = dialect;
      socket = await openSocket(asrUrl, listener, {
        path,
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
  }
}

/**
 * Spreads sessions over several keys: a session goes to the key with the most reserved slots that have no session yet.
 */
export class KeyedRecogniser implements Recogniser {
  readonly capabilities = PLATFORM_RECOGNITION;
  readonly #recognisers: readonly Recogniser[];
  readonly #slots: Slots;
  readonly #open: number[];

  /** @param recognisers one for each lane of the slots */
  constructor(recognisers: readonly Recogniser[], slots: Slots) {
    this.#recognisers = recognisers;
    this.#slots = slots;
    this.#open = recognisers.map(() => 0);
  }

  open(options: RecognitionOptions, listener: (event: RecognitionEvent) => void): RecognitionSession {
    const room = this.#open.map((open, lane) => this.#slots.liveIn(lane) - open);
    const lane = room.indexOf(Math.max(...room));
    const recogniser = this.#recognisers[lane];
    if (recogniser === undefined) throw new TypeError('there is no recogniser');
    let isOpen = true;
    const over = (): void => {
      if (isOpen) this.#open[lane] = (this.#open[lane] ?? 1) - 1;
      isOpen = false;
    };
    this.#open[lane] = (this.#open[lane] ?? 0) + 1;
    const session = recogniser.open(options, (event) => {
      if (event.type === 'closed') over();
      listener(event);
    });
    return {
      send: (pcm) => session.send(pcm),
      commit: () => session.commit(),
      end: () => session.end().finally(over),
      abort() {
        over();
        session.abort();
      },
    };
  }
}
