import type { Clock, Timer } from '../../kernel/clock.ts';
import { SpeechUnavailableError } from '../client/errors.ts';
import { closeError, openSocket, type PlatformSocket, type SocketOptions } from '../client/socket.ts';
import { type MaskSecret, maskSecret } from '../../kernel/mask-secret.ts';
import type { Heard } from './synthesis-protocol.ts';

export interface SynthesisSocketOptions extends SocketOptions {
  /** What the headers carry; masked in the service's texts. */
  readonly credential: string;
  /** Longest wait for the next audio of a text; 35 s when absent. */
  readonly chunkTimeoutMs?: number;
  /** Whether a message may come between two texts; any other closes the socket. All do when absent. */
  readonly isIdleMessage?: (frame: string) => boolean;
}

/** Reads the answer to one text. Each message gives audio in the wanted format, the end, or nothing. */
export interface SynthesisReader {
  /** @throws SpeechError for a failure that the service reports, or for what it may not send */
  text(frame: string): Heard;
  binary(bytes: Uint8Array): Heard;
}

/** The message that drops a text at a service, and its answer. */
export interface ClearMessage {
  readonly message: string;
  readonly isCleared: (frame: string) => boolean;
}

/** Above the platform's own limit of 30 s for a chunk (TTS doc, limits), so that its error arrives. */
const CHUNK_TIMEOUT_MS = 35_000;
/** Unread audio above which the socket is paused until the reader has caught up. A minute of mu-law. */
const MOST_WAITING_BYTES = 60 * 8_000;

/** Longest wait until a service has dropped a text. */
const CLEAR_TIMEOUT_MS = 1_000;

/** One synthesis socket, for one text after another. */
export class SynthesisSocket {
  readonly #clock: Clock;
  readonly #chunkTimeoutMs: number;
  readonly #isIdleMessage: (frame: string) => boolean;
  /** Masks the credential in the service's texts. */
  readonly mask: MaskSecret;
  #socket: PlatformSocket | undefined;
  #reader: SynthesisReader | undefined;
  #clearing: { readonly isCleared: (frame: string) => boolean; readonly done: () => void } | undefined;
  #audio: Uint8Array[] = [];
  #waitingBytes = 0;
  #isPaused = false;
  #ended: { readonly error: Error | undefined } | undefined;
  #wake: () => void = () => undefined;
  #watchdog: Timer | undefined;
  /** Time of the synthesizer's last message. */
  #aliveMs = 0;

  private constructor(
    clock: Clock,
    mask: MaskSecret,
    chunkTimeoutMs = CHUNK_TIMEOUT_MS,
    isIdleMessage: (frame: string) => boolean = () => false,
  ) {
    this.#isIdleMessage = isIdleMessage;
    this.#clock = clock;
    this.#chunkTimeoutMs = chunkTimeoutMs;
    this.mask = mask;
  }

  /** @throws as `openSocket` */
  static async open(
    url: string,
    { credential, chunkTimeoutMs, isIdleMessage, ...options }: SynthesisSocketOptions,
  ): Promise<SynthesisSocket> {
    const mask = maskSecret(credential);
    const self = new SynthesisSocket(options.clock, mask, chunkTimeoutMs, isIdleMessage);
    const listener = {
      text: (text: string) => self.#onText(text),
      binary: (bytes: Uint8Array) => self.#hear((reader) => reader.binary(Buffer.from(bytes))),
      closed: (code: number, reason: string) => self.#onClosed(code, reason),
    };
    self.#socket = await openSocket(url, listener, { ...options, mask });
    return self;
  }

  get usable(): boolean {
    return this.#socket?.isOpen === true;
  }

  close(): void {
    this.#watchdog?.cancel();
    this.#socket?.close();
  }

  /**
   * Speaks one text with these request messages; the socket must be idle. After leaving the loop early `clear` or close the socket.
   * @throws SpeechProtocolError, SpeechFailedError, SpeechUnavailableError; the signal's reason when it aborts
   */
  async *speak(messages: readonly string[], reader: SynthesisReader, signal: AbortSignal): AsyncIterable<Uint8Array> {
    signal.throwIfAborted();
    this.#reader = reader;
    this.#audio = [];
    this.#waitingBytes = 0;
    this.#ended = this.usable ? undefined : { error: new SpeechUnavailableError('the synthesis socket has closed') };
    const onAbort = (): void => this.#wake();
    signal.addEventListener('abort', onAbort, { once: true });
    for (const message of messages) this.#socket?.send(message);
    this.#watch();
    try {
      for (;;) {
        signal.throwIfAborted();
        const audio = this.#audio.shift();
        if (audio !== undefined) {
          this.#took(audio.length);
          yield audio;
        } else if (this.#ended === undefined) {
          await new Promise<void>((resolve) => (this.#wake = resolve));
        } else if (this.#ended.error === undefined) {
          return;
        } else {
          throw this.#ended.error;
        }
      }
    } finally {
      // Later messages are ignored.
      this.#ended ??= { error: undefined };
      this.#watchdog?.cancel();
      signal.removeEventListener('abort', onAbort);
    }
  }

  /**
   * Drops the rest of a text that was left. @returns whether the service has dropped it in time, so that the socket is idle; it is
   * closed otherwise
   */
  async clear({ message, isCleared }: ClearMessage): Promise<boolean> {
    if (!this.usable) return false;
    let timer: Timer | undefined;
    const cleared = await new Promise<boolean>((resolve) => {
      this.#clearing = { isCleared, done: () => resolve(this.usable) };
      timer = this.#clock.after(CLEAR_TIMEOUT_MS, () => resolve(false));
      if (this.#isPaused) this.#socket?.resume();
      this.#isPaused = false;
      this.#socket?.send(message);
    });
    timer?.cancel();
    this.#clearing = undefined;
    if (!cleared) this.close();
    return cleared;
  }

  #onText(text: string): void {
    const isIdle = this.#reader === undefined || this.#ended !== undefined;
    if (this.#clearing?.isCleared(text) === true) this.#clearing.done();
    else if (this.#clearing === undefined && !(isIdle && this.#isIdleMessage(text))) this.#hear((reader) => reader.text(text));
  }

  #hear(read: (reader: SynthesisReader) => Heard): void {
    // Audio of a text that is being dropped.
    if (this.#clearing !== undefined) return;
    if (this.#reader === undefined || this.#ended !== undefined) {
      // An unrequested message would be taken for the next text's.
      this.close();
      return;
    }
    try {
      const { audio, done } = read(this.#reader);
      if (audio !== undefined) this.#keep(audio);
      if (done) this.#end(undefined);
    } catch (error) {
      this.#end(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #keep(audio: Uint8Array): void {
    this.#aliveMs = this.#clock.nowMs();
    if (audio.length === 0) return;
    this.#audio.push(audio);
    this.#waitingBytes += audio.length;
    if (this.#waitingBytes > MOST_WAITING_BYTES && !this.#isPaused) {
      this.#isPaused = true;
      this.#watchdog?.cancel();
      this.#socket?.pause();
    }
    this.#wake();
  }

  #took(bytes: number): void {
    this.#waitingBytes -= bytes;
    if (!this.#isPaused || this.#waitingBytes > MOST_WAITING_BYTES / 2) return;
    this.#isPaused = false;
    this.#socket?.resume();
    if (this.#ended === undefined) this.#watch();
  }

  #onClosed(code: number, reason: string): void {
    this.#clearing?.done();
    const said = `the synthesis socket closed before its completion (${code})${reason === '' ? '' : `: ${reason}`}`;
    this.#end(closeError(code, said));
  }

  /** Only the first end counts: an error message is followed by the socket's close. */
  #end(error: Error | undefined): void {
    this.#ended ??= { error };
    this.#watchdog?.cancel();
    this.#wake();
  }

  #watch(): void {
    this.#watchdog?.cancel();
    this.#aliveMs = this.#clock.nowMs();
    if (this.#ended === undefined) this.#wait(this.#chunkTimeoutMs);
  }

  /** One timer for all chunks: it checks the time of the last message when it fires. */
  #wait(forMs: number): void {
    this.#watchdog = this.#clock.after(forMs, () => {
      const leftMs = this.#aliveMs + this.#chunkTimeoutMs - this.#clock.nowMs();
      if (leftMs > 0) this.#wait(leftMs);
      else this.#end(new SpeechUnavailableError(`no audio from the synthesizer for ${this.#chunkTimeoutMs} ms`));
    });
  }
}

/** How long an idle socket is kept. */
const IDLE_MS = 20_000;

interface Idle {
  readonly socket: SynthesisSocket;
  readonly timer: Timer;
}

/** The pool of idle synthesis sockets, by what they can be used for: an API key, or a voice. */
export class IdleSockets<Lane extends string | number> {
  readonly #clock: Clock;
  /** Least recently used first. */
  readonly #byLane = new Map<Lane, Idle[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  has(lane: Lane): boolean {
    return this.#usable(lane).length > 0;
  }

  /** Takes a usable socket of a lane; undefined without one. */
  take(lane: Lane): SynthesisSocket | undefined {
    const idle = this.#usable(lane).pop();
    idle?.timer.cancel();
    return idle?.socket;
  }

  /** Keeps a socket, or closes it when the lane is full. @param most sockets of this lane */
  keep(lane: Lane, socket: SynthesisSocket, most: number): void {
    const kept = this.#usable(lane);
    if (kept.length >= most) {
      socket.close();
      return;
    }
    const idle: Idle = { socket, timer: this.#clock.after(IDLE_MS, () => this.#drop(lane, idle)) };
    kept.push(idle);
  }

  close(): void {
    for (const kept of this.#byLane.values()) kept.splice(0).forEach(end);
  }

  /** The usable sockets of a lane, as a mutable list. */
  #usable(lane: Lane): Idle[] {
    const known = this.#byLane.get(lane) ?? [];
    for (const idle of known) if (!idle.socket.usable) end(idle);
    const kept = known.filter(({ socket }) => socket.usable);
    this.#byLane.set(lane, kept);
    return kept;
  }

  #drop(lane: Lane, idle: Idle): void {
    const kept = this.#byLane.get(lane) ?? [];
    this.#byLane.set(
      lane,
      kept.filter((other) => other !== idle),
    );
    end(idle);
  }
}

function end({ socket, timer }: Idle): void {
  timer.cancel();
  socket.close();
}
