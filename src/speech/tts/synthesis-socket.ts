import type { Clock, Timer } from '../../kernel/clock.ts';
import type { AudioFormat } from '../../audio/format.ts';
import { SpeechFailedError, SpeechUnavailableError } from '../client/errors.ts';
import { isRecoverableClose, openSocket, type PlatformSocket } from '../client/socket.ts';
import { type MaskSecret, maskSecret } from '../../kernel/mask-secret.ts';
import { type Heard, SynthesisProtocol } from './synthesis-protocol.ts';

export interface SynthesisSocketOptions {
  readonly ttsUrl: string;
  readonly token: string;
  /** Settings in the address (TTS doc, "WebSocket", way 1). */
  readonly query?: Readonly<Record<string, string>> | undefined;
  readonly clock: Clock;
  readonly timeoutMs?: number | undefined;
  readonly signal: AbortSignal;
}

/** Above the platform's own limit of 30 s for a chunk (TTS doc, limits), so that its error arrives. */
const CHUNK_TIMEOUT_MS = 35_000;
/** Unread audio above which the socket is paused until the reader has caught up. A minute of mu-law. */
const MOST_WAITING_BYTES = 60 * 8_000;

/** One synthesis socket, for one text after another. */
export class SynthesisSocket {
  readonly #clock: Clock;
  readonly #mask: MaskSecret;
  #socket: PlatformSocket | undefined;
  #protocol: SynthesisProtocol | undefined;
  #audio: Uint8Array[] = [];
  #waitingBytes = 0;
  #isPaused = false;
  #ended: { readonly error: Error | undefined } | undefined;
  #wake: () => void = () => undefined;
  #watchdog: Timer | undefined;
  /** Time of the synthesizer's last message. */
  #aliveMs = 0;

  private constructor(clock: Clock, mask: MaskSecret) {
    this.#clock = clock;
    this.#mask = mask;
  }

  /** @throws as `openSocket` */
  static async open({ ttsUrl, token, query, clock, timeoutMs, signal }: SynthesisSocketOptions): Promise<SynthesisSocket> {
    const mask = maskSecret(token);
    const self = new SynthesisSocket(clock, mask);
    const listener = {
      text: (text: string) => self.#hear((protocol) => protocol.text(text)),
      binary: (bytes: Uint8Array) => self.#hear((protocol) => protocol.binary(Buffer.from(bytes))),
      closed: (code: number, reason: string) => self.#onClosed(code, reason),
    };
    const headers = { authorization: `Bearer ${token}` };
    self.#socket = await openSocket(ttsUrl, listener, { headers, query, clock, timeoutMs, signal, mask });
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
   * Speaks one text with these request messages; the socket must be idle. After leaving the loop early the socket is unusable: close
   * it.
   * @throws SpeechProtocolError, SpeechFailedError, SpeechUnavailableError; the signal's reason when it aborts
   */
  async *speak(messages: readonly object[], wanted: AudioFormat, signal: AbortSignal): AsyncIterable<Uint8Array> {
    signal.throwIfAborted();
    this.#protocol = new SynthesisProtocol(wanted, this.#mask);
    this.#audio = [];
    this.#waitingBytes = 0;
    this.#ended = this.usable ? undefined : { error: new SpeechUnavailableError('the synthesis socket has closed') };
    const onAbort = (): void => this.#wake();
    signal.addEventListener('abort', onAbort, { once: true });
    for (const message of messages) this.#socket?.send(JSON.stringify(message));
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

  #hear(read: (protocol: SynthesisProtocol) => Heard): void {
    if (this.#protocol === undefined || this.#ended !== undefined) {
      // An unrequested message would be taken for the next text's.
      this.close();
      return;
    }
    try {
      const { audio, done } = read(this.#protocol);
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
    const said = `the synthesis socket closed before its completion (${code})${reason === '' ? '' : `: ${reason}`}`;
    this.#end(isRecoverableClose(code) ? new SpeechUnavailableError(said) : new SpeechFailedError(said));
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
    if (this.#ended === undefined) this.#wait(CHUNK_TIMEOUT_MS);
  }

  /** One timer for all chunks: it checks the time of the last message when it fires. */
  #wait(forMs: number): void {
    this.#watchdog = this.#clock.after(forMs, () => {
      const leftMs = this.#aliveMs + CHUNK_TIMEOUT_MS - this.#clock.nowMs();
      if (leftMs > 0) this.#wait(leftMs);
      else this.#end(new SpeechUnavailableError(`no audio from the synthesizer for ${CHUNK_TIMEOUT_MS} ms`));
    });
  }
}

/** How long an idle socket is kept. */
const IDLE_MS = 20_000;

interface Idle {
  readonly socket: SynthesisSocket;
  readonly timer: Timer;
}

/** The pool of idle synthesis sockets, by API key. */
export class IdleSockets {
  readonly #clock: Clock;
  /** Least recently used first. */
  readonly #byLane = new Map<number, Idle[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  has(lane: number): boolean {
    return this.#usable(lane).length > 0;
  }

  /** Takes a usable socket of a lane; undefined when there is none. */
  take(lane: number): SynthesisSocket | undefined {
    const idle = this.#usable(lane).pop();
    idle?.timer.cancel();
    return idle?.socket;
  }

  /** Keeps a socket, or closes it when the lane is full. @param most sockets of this lane */
  keep(lane: number, socket: SynthesisSocket, most: number): void {
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
  #usable(lane: number): Idle[] {
    const known = this.#byLane.get(lane) ?? [];
    for (const idle of known) if (!idle.socket.usable) end(idle);
    const kept = known.filter(({ socket }) => socket.usable);
    this.#byLane.set(lane, kept);
    return kept;
  }

  #drop(lane: number, idle: Idle): void {
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
