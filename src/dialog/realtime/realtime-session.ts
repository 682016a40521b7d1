import type { Clock } from '../../kernel/clock.ts';
import { maskSecret } from '../../kernel/mask-secret.ts';
import { abortable } from '../../kernel/waiting.ts';
import { OffhookError } from '../../kernel/errors.ts';
import { ModelSpeech } from './model-speech.ts';
import type { OpenWire, Wire } from './session-socket.ts';
import type {
  FunctionResult,
  RealtimeVendor,
  SessionSetup,
  Speaker,
  Usage,
  VendorDialect,
  VendorEvent,
  VendorFailure,
} from './vendor.ts';

/** A session ends this long before the vendor would end it. */
const RENEW_BEFORE_MS = 5 * 60_000;
/** Longest wait for the end of a cancelled answer before the next one is asked for. */
const CANCEL_MS = 1_000;
/** Bytes that may wait for the network; audio beyond is dropped. */
const MOST_WAITING_BYTES = 2 * 1024 * 1024;
/** Events of an answer that may wait to be read. */
const MOST_EVENTS = 1_000;

/** Parts of an answer as they arrive. A speech is reported with its first audio. */
export type AnswerEvent =
  | { readonly type: 'speech'; readonly speech: ModelSpeech }
  | { readonly type: 'call'; readonly id: string; readonly name: string; readonly args: string }
  /** More audio or words of a speech came. */
  | { readonly type: 'news' }
  | { readonly type: 'done'; readonly failure: { readonly kind: VendorFailure; readonly message: string } | undefined };

export interface SessionListener {
  used(usage: Usage): void;
  turnOver(): void;
  /** The session is about to end: another one is to take over within this time. */
  leaving(): void;
  /** The session was lost, or never opened. */
  lost(error: RealtimeVendorError): void;
}

/** The vendor refused, failed or went away. `kind` says why. */
export class RealtimeVendorError extends OffhookError {
  readonly code = 'OFFHOOK_DIALOG_MODEL';
  readonly retryable: boolean;
  readonly kind: VendorFailure;

  constructor(title: string, kind: VendorFailure, message: string) {
    super(`${title}: ${message.replaceAll(/\s+/gu, ' ').slice(0, 300)}`);
    this.retryable = kind === 'unavailable' || kind === 'rate-limit';
    this.kind = kind;
  }
}

/** One session with a vendor, over one socket. It never opens another: who uses it does. */
export class RealtimeSession {
  /** Speeches of the conversation, by the vendor's id, in order. */
  readonly speeches = new Map<string, ModelSpeech>();
  readonly #vendor: RealtimeVendor;
  readonly #setup: SessionSetup;
  readonly #clock: Clock;
  readonly #listener: SessionListener;
  readonly #dialect: VendorDialect;
  /** Vendors repeat a key that they refuse. */
  readonly #masked: (text: string) => string;
  readonly #wire: Wire;
  readonly #life = new AbortController();
  #resolveReady: () => void = () => undefined;
  readonly #ready = new Promise<void>((resolve) => (this.#resolveReady = resolve));
  isReady = false;
  /** The answer that was asked for: its id once announced, '' before. */
  #answer: string | undefined;
  /** Ids of answers that were cancelled; what comes of them is dropped. */
  readonly #dropped = new Set<string>();
  /** A cancelled answer without an id yet: the next one announced. */
  #dropsNext = false;
  #running: string | undefined;
  #events: AnswerEvent[] = [];
  #wake: () => void = () => undefined;
  #whenIdle: () => void = () => undefined;
  readonly #renewal: { cancel(): void };
  #isLeaving = false;

  constructor(
    {
      vendor,
      setup,
      key,
      url,
    }: {
      readonly vendor: RealtimeVendor;
      readonly setup: SessionSetup;
      readonly key: string | undefined;
      readonly url: string | undefined;
    },
    { clock, open }: { readonly clock: Clock; readonly open: OpenWire },
    listener: SessionListener,
  ) {
    this.#vendor = vendor;
    this.#setup = setup;
    this.#clock = clock;
    this.#listener = listener;
    this.#dialect = vendor.connect(setup);
    this.#masked = key === undefined ? (text) => text : maskSecret(key, '[key]');
    this.#renewal = clock.after(Math.max(vendor.sessionMs / 2, vendor.sessionMs - RENEW_BEFORE_MS), () => this.#leave());
    const address = vendor.url({ url, model: setup.model });
    this.#wire = open(address, key === undefined ? {} : vendor.headers(key), {
      opened: () => this.#send(this.#dialect.opening()),
      frame: (text) => {
        for (const event of this.#dialect.read(text)) this.#take(event);
      },
      closed: (reason, status) => this.#lose(failureOfStatus(status), reason),
    });
  }

  get isOver(): boolean {
    return this.#life.signal.aborted;
  }

  /** Whether the vendor is making an answer that was asked for. */
  get isAnswering(): boolean {
    return this.#answer !== undefined;
  }

  /** Resolves when the vendor takes the conversation. @throws RealtimeVendorError; the signal's reason when aborted */
  whenReady(signal: AbortSignal): Promise<void> {
    if (this.isOver) return Promise.reject(this.#life.signal.reason as Error);
    return abortable(this.#ready, AbortSignal.any([signal, this.#life.signal]));
  }

  audio(audio: Uint8Array, isFirst: boolean): void {
    if (this.#wire.waitingBytes <= MOST_WAITING_BYTES) this.#send(this.#dialect.audio(audio, isFirst));
  }

  commit(): void {
    this.#send(this.#dialect.commit());
  }

  drop(): void {
    this.#send(this.#dialect.drop());
  }

  text(speaker: Speaker, text: string): void {
    if (text.trim() !== '') this.#send(this.#dialect.text(speaker, text));
  }

  results(results: readonly FunctionResult[]): void {
    this.#send(this.#dialect.results(results));
  }

  /** Tells the vendor how much the caller heard of a speech, and forgets it. @param text the heard words, as estimated */
  heard(speech: ModelSpeech, ms: number, text: string): void {
    this.speeches.delete(speech.item);
    this.#send(this.#dialect.heard(speech.item, { ms: Math.min(ms, speech.receivedMs), text }));
  }

  /** Asks for an answer, once a cancelled one has ended. */
  async respond(signal: AbortSignal): Promise<void> {
    if ((this.#running !== undefined || this.#dropsNext) && !this.#vendor.audioInterrupts) {
      const idle = new Promise<void>((resolve) => (this.#whenIdle = resolve));
      const limit = new AbortController();
      const timer = this.#clock.after(CANCEL_MS, () => limit.abort());
      await abortable(idle, AbortSignal.any([limit.signal, this.#life.signal])).catch(() => undefined);
      timer.cancel();
      signal.throwIfAborted();
    }
    this.#events = [];
    this.#answer = '';
    this.#send(this.#dialect.respond());
  }

  /** The next part of the answer. @throws RealtimeVendorError once the session is lost; the signal's reason when aborted */
  async next(signal: AbortSignal): Promise<AnswerEvent> {
    for (;;) {
      signal.throwIfAborted();
      const event = this.#events.shift();
      if (event !== undefined) return event;
      this.#life.signal.throwIfAborted();
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          signal.removeEventListener('abort', wake);
          resolve();
        };
        this.#wake = wake;
        signal.addEventListener('abort', wake, { once: true });
      });
    }
  }

  /** Stops the running answer; its speeches end where they are. */
  cancel(): void {
    if (this.#answer === undefined) return;
    this.#send(this.#dialect.cancel(this.#answer));
    if (this.#answer === '') this.#dropsNext = true;
    else this.#dropped.add(this.#answer);
    this.#answer = undefined;
    this.#events = [];
    for (const speech of this.speeches.values()) speech.end(false);
  }

  /** The vendor fell silent: the session is given up. */
  giveUp(why: string): void {
    this.#lose('unavailable', why);
    this.#wire.close();
  }

  close(): void {
    if (this.isOver) return;
    this.#end(new RealtimeVendorError(this.#vendor.title, 'unavailable', 'the session was closed'));
    this.#wire.close();
  }

  #send(frames: readonly string[]): void {
    for (const frame of frames) this.#wire.send(frame);
  }

  #take(event: VendorEvent): void {
    switch (event.type) {
      case 'ready':
        this.isReady = true;
        return this.#resolveReady();
      case 'response':
        return this.#begun(event.response);
      case 'audio': {
        if (event.response !== this.#answer) return;
        const speech = this.#speech(event.item);
        const isNew = speech.receivedMs === 0;
        speech.push(event.audio);
        return this.#tell(isNew && speech.receivedMs > 0 ? { type: 'speech', speech } : { type: 'news' });
      }
      case 'words':
        if (event.response !== this.#answer) return;
        this.#speech(event.item).text += event.text;
        return this.#tell({ type: 'news' });
      case 'speech-done':
        if (event.response === this.#answer) this.speeches.get(event.item)?.end(true);
        return;
      case 'call':
        if (event.response === this.#answer) this.#tell({ type: 'call', id: event.id, name: event.name, args: event.args });
        return;
      case 'response-done':
        return this.#done(event);
      case 'turn-over':
        return this.#listener.turnOver();
      case 'leaving':
        return this.#leave();
      case 'failed':
        this.#lose(event.kind, event.message);
        return this.#wire.close();
      case 'ignored':
        return;
    }
  }

  #begun(response: string): void {
    this.#running = response;
    if (this.#dropsNext) {
      this.#dropsNext = false;
      this.#dropped.add(response);
      // It was cancelled before it had an id.
      this.#send(this.#dialect.cancel(response));
    } else if (this.#answer === '' && !this.#dropped.has(response)) this.#answer = response;
  }

  #done({ response, usage, failure }: VendorEvent & { readonly type: 'response-done' }): void {
    if (usage !== undefined) this.#listener.used(usage);
    this.#dropped.delete(response);
    // One that was cancelled before it was announced may end unannounced.
    if (this.#running !== response) this.#dropsNext = false;
    this.#running = undefined;
    this.#whenIdle();
    if (response !== this.#answer) return;
    this.#answer = undefined;
    for (const speech of this.speeches.values()) speech.end(failure === undefined);
    this.#tell({ type: 'done', failure: failure && { ...failure, message: this.#masked(failure.message) } });
  }

  #speech(item: string): ModelSpeech {
    let speech = this.speeches.get(item);
    if (speech === undefined) {
      speech = new ModelSpeech(item, this.#setup.spoken);
      this.speeches.set(item, speech);
    }
    return speech;
  }

  /** News may be left out: they only show that the vendor is at work. */
  #tell(event: AnswerEvent): void {
    if (event.type !== 'news' || this.#events.length === 0) this.#events.push(event);
    if (this.#events.length > MOST_EVENTS) this.#lose('unavailable', 'an answer of too many parts');
    this.#wake();
  }

  #leave(): void {
    if (this.#isLeaving || this.isOver) return;
    this.#isLeaving = true;
    this.#listener.leaving();
  }

  #lose(kind: VendorFailure, message: string): void {
    if (this.isOver) return;
    const error = new RealtimeVendorError(this.#vendor.title, kind, this.#masked(message));
    this.#end(error);
    this.#listener.lost(error);
  }

  #end(error: Error): void {
    this.#renewal.cancel();
    for (const speech of this.speeches.values()) speech.end(false);
    this.#life.abort(error);
    this.#wake();
    this.#whenIdle();
  }
}

function failureOfStatus(status: number | undefined): VendorFailure {
  if (status === 401 || status === 403) return 'auth';
  if (status === 429) return 'rate-limit';
  return status !== undefined && status >= 400 && status < 500 ? 'request' : 'unavailable';
}
