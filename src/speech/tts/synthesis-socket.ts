import { WebSocket } from 'ws';
import type { Clock, Timer } from '../../kernel/clock.ts';
import { SpeechProtocolError, SpeechRequestError, SpeechUnavailableError } from '../errors.ts';
import { openSocket } from '../socket.ts';
import { MulawStream } from './mulaw-stream.ts';
import { encodingOf, readSynthesisEvent, type SynthesisEvent } from './realtime-events.ts';

type Item = { readonly audio: Uint8Array } | { readonly error: Error } | { readonly done: true };

/** The platform gives up on a chunk after 30 s (TTS doc, limits); a little longer, so that its own error is seen. */
const CHUNK_TIMEOUT_MS = 35_000;

/**
 * One synthesis socket. Chunks come in strict pairs, a JSON message and then its audio, and end with a completion; whatever
 * breaks that order is an error, not sound.
 */
export class SynthesisSocket {
  readonly #clock: Clock;
  #socket: WebSocket | undefined;
  #items: Item[] = [];
  #wake: () => void = () => undefined;
  #expected: Extract<SynthesisEvent, { type: 'chunk' }> | undefined;
  #chunks = 0;
  #stream: MulawStream | undefined;
  #watchdog: Timer | undefined;

  private constructor(clock: Clock) {
    this.#clock = clock;
  }

  static async open(ttsUrl: string, token: string, clock: Clock, signal: AbortSignal): Promise<SynthesisSocket> {
    const self = new SynthesisSocket(clock);
    const url = new URL('/v1/realtime', ttsUrl);
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
    self.#socket = await openSocket(
      url,
      { authorization: `Bearer ${token}` },
      {
        text: (text) => self.#onText(text),
        binary: (bytes) => self.#onBinary(bytes),
        closed: (code, reason) => {
          const said = reason === '' ? '' : `: ${reason}`;
          self.#give({ error: new SpeechUnavailableError(`the synthesis socket closed before its completion (${code})${said}`) });
        },
      },
      signal,
    );
    return self;
  }

  get usable(): boolean {
    return this.#socket?.readyState === WebSocket.OPEN;
  }

  close(): void {
    this.#watchdog?.cancel();
    this.#socket?.close(1000);
  }

  /** Speaks one text; the socket must be idle. Leaving the loop early makes the socket unusable: close it. */
  async *speak(message: object, signal: AbortSignal): AsyncIterable<Uint8Array> {
    this.#items = [];
    this.#chunks = 0;
    this.#expected = undefined;
    this.#stream = undefined;
    const onAbort = (): void => this.#give({ error: signal.reason as Error });
    signal.addEventListener('abort', onAbort, { once: true });
    this.#socket?.send(JSON.stringify(message));
    this.#watch();
    try {
      for (;;) {
        if (signal.aborted) throw signal.reason as Error;
        const item = await this.#next();
        if ('error' in item) throw item.error;
        if ('done' in item) return;
        if (item.audio.length > 0) yield item.audio;
      }
    } finally {
      this.#watchdog?.cancel();
      signal.removeEventListener('abort', onAbort);
    }
  }

  #onText(text: string): void {
    const event = readSynthesisEvent(text);
    if (event === undefined) {
      this.#break('a text frame that is not a JSON message');
      return;
    }
    switch (event.type) {
      case 'chunk':
        if (this.#expected !== undefined) this.#break('a chunk message without the audio of the one before');
        else if (event.index !== undefined && event.index !== this.#chunks)
          this.#break(`chunk ${event.index} where ${this.#chunks} was due`);
        else this.#expected = event;
        return;
      case 'completion':
        this.#complete(event.totalChunks);
        return;
      case 'error': {
        const { error, requestId } = event;
        this.#give({ error: new SpeechRequestError(`synthesis: ${error}`, { requestId }) });
        return;
      }
      case 'ignored':
        return;
    }
  }

  #onBinary(bytes: Uint8Array): void {
    const chunk = this.#expected;
    if (chunk === undefined) {
      this.#break('audio without a chunk message');
      return;
    }
    this.#expected = undefined;
    this.#chunks += 1;
    const encoding = encodingOf(chunk.format);
    if (encoding === undefined) {
      this.#break(`audio as ${chunk.format} where mulaw was asked`);
      return;
    }
    this.#stream ??= new MulawStream(encoding, chunk.rateHz ?? 8_000);
    this.#watch();
    this.#give({ audio: this.#stream.push(bytes) });
  }

  #complete(totalChunks: number | undefined): void {
    if (this.#expected !== undefined) this.#break('a completion where audio was due');
    else if (totalChunks !== undefined && totalChunks !== this.#chunks)
      this.#break(`${totalChunks} chunks announced, ${this.#chunks} sent`);
    else {
      const rest = this.#stream?.flush();
      if (rest !== undefined) this.#give({ audio: rest });
      this.#give({ done: true });
    }
  }

  #break(what: string): void {
    this.#give({ error: new SpeechProtocolError(`the synthesizer sent ${what}`) });
  }

  #watch(): void {
    this.#watchdog?.cancel();
    this.#watchdog = this.#clock.after(CHUNK_TIMEOUT_MS, () =>
      this.#give({ error: new SpeechUnavailableError(`no audio from the synthesizer for ${CHUNK_TIMEOUT_MS} ms`) }),
    );
  }

  #give(item: Item): void {
    this.#items.push(item);
    this.#wake();
  }

  async #next(): Promise<Item> {
    for (;;) {
      const item = this.#items.shift();
      if (item !== undefined) return item;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
