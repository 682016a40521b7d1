import type { WebSocket } from 'ws';
import type { Clock, Timer } from '../../kernel/clock.ts';
import { backoffDelayMs } from '../../kernel/backoff.ts';
import { errorText } from '../../kernel/errors.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Recogniser, RecognitionEvent, RecognitionOptions, RecognitionSession } from '../port.ts';
import { isRecoverableClose } from '../close-codes.ts';
import { SpeechProtocolError, SpeechUnavailableError } from '../errors.ts';
import { openSocket } from '../socket.ts';
import type { TokenSource } from '../tokens.ts';
import { readRealtimeEvent, type RealtimeEvent } from './realtime-events.ts';
import { ReplayBuffer } from './replay-buffer.ts';

export interface RealtimeRecogniserOptions {
  readonly asrUrl: string;
  readonly tokens: TokenSource;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Time from opening the socket to the ready event. */
  readonly readyTimeoutMs?: number;
}

/** Audio kept since the last final. */
const KEPT_S = 10;
/** Audio is sent in messages of this length, or sooner before a commit. */
const BATCH_MS = 80;
/** After a reconnection audio is sent again at most this much faster than it was spoken. */
const REPLAY_SPEED = 1.5;
const REPLAY_TICK_MS = 50;
const END_TIMEOUT_MS = 5_000;
const BACKOFF = { firstMs: 200, factor: 2, maxMs: 4_000, jitter: 0.2 } as const;
/** Tries to open one session before it is given up. */
const MOST_OPENINGS = 5;
/** A session that dies younger than this died quickly; three in a row end it. */
const QUICK_DEATH_MS = 5_000;
const MOST_QUICK_DEATHS = 3;
const MOST_BOOST_PHRASES = 10;

/** The realtime recogniser of the platform's documents: `WS {asr_url}/v1/realtime`. */
export class RealtimeRecogniser implements Recogniser {
  readonly #options: RealtimeRecogniserOptions;

  constructor(options: RealtimeRecogniserOptions) {
    this.#options = options;
  }

  open(options: RecognitionOptions, listener: (event: RecognitionEvent) => void): RecognitionSession {
    return new RealtimeSession(this.#options, options, listener);
  }
}

/**
 * One recognition session, which may outlive its sockets: audio since the last final is kept and sent again on the next
 * one, so that each word occurs in the joined finals once. `seg` numbers keep rising across sockets.
 */
class RealtimeSession implements RecognitionSession {
  readonly #platform: RealtimeRecogniserOptions;
  readonly #options: RecognitionOptions;
  readonly #listener: (event: RecognitionEvent) => void;
  readonly #audio: ReplayBuffer;
  readonly #abort = new AbortController();
  /** Positions at which a commit is due, and those whose last final has not come. */
  #commitsDue: number[] = [];
  #commitsSent: number[] = [];
  #endDue = false;
  #socket: WebSocket | undefined;
  #ready = false;
  #readyTimer: Timer | undefined;
  #pumpTimer: Timer | undefined;
  #openedMs = 0;
  #replayFromMs = 0;
  #replayFromSample = 0;
  #openings = 0;
  #quickDeaths = 0;
  #freshTokenTried = false;
  #token = '';
  #segBase = 0;
  #lastSeg = -1;
  #failure: string | undefined;
  #closed = false;
  #onClosed: () => void = () => undefined;

  constructor(platform: RealtimeRecogniserOptions, options: RecognitionOptions, listener: (event: RecognitionEvent) => void) {
    this.#platform = platform;
    this.#options = options;
    this.#listener = listener;
    this.#audio = new ReplayBuffer(KEPT_S * options.sampleRateHz);
    if ((options.boostPhrases?.length ?? 0) > MOST_BOOST_PHRASES) {
      platform.logger.warn({ phrases: options.boostPhrases?.length }, 'only the first ten boost phrases are used');
    }
    void this.#connect();
  }

  send(pcm: Int16Array): void {
    if (this.#closed || this.#endDue) return;
    const lost = this.#audio.push(pcm);
    if (lost > 0) {
      const lostMs = (lost / this.#options.sampleRateHz) * 1000;
      this.#listener({ type: 'audio-lost', lostMs, reason: 'the recogniser was not ready for more than ten seconds' });
    }
    this.#pump();
  }

  commit(): void {
    if (this.#closed || this.#endDue) return;
    this.#commitsDue.push(this.#audio.end);
    this.#pump();
  }

  end(): Promise<void> {
    if (this.#closed) return Promise.resolve();
    this.#endDue = true;
    const timer = this.#platform.clock.after(END_TIMEOUT_MS, () => this.#finish(undefined));
    const closed = new Promise<void>((resolve) => {
      this.#onClosed = () => {
        timer.cancel();
        resolve();
      };
    });
    this.#pump();
    return closed;
  }

  abort(): void {
    this.#closed = true;
    this.#release();
    this.#onClosed();
  }

  async #connect(): Promise<void> {
    const { tokens, asrUrl, clock, readyTimeoutMs = 5_000 } = this.#platform;
    this.#openings += 1;
    try {
      this.#token = await tokens.get(this.#abort.signal);
      const url = new URL('/v1/realtime', asrUrl);
      url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
      const socket = await openSocket(
        url,
        {},
        {
          text: (text) => this.#onText(text),
          binary: () => undefined,
          closed: (code, reason) => this.#onClose(socket, code, reason),
        },
        this.#abort.signal,
      );
      this.#socket = socket;
      this.#failure = undefined;
      this.#openedMs = clock.nowMs();
      socket.send(JSON.stringify(this.#init()));
      this.#readyTimer = clock.after(readyTimeoutMs, () => {
        this.#failure = `no ready event within ${readyTimeoutMs} ms`;
        socket.terminate();
      });
    } catch (error) {
      if (!this.#closed) this.#lost(1006, errorText(error), error);
    }
  }

  /** The opening frame (ASR doc, "WebSocket", rule 2). */
  #init(): object {
    const { language, sampleRateHz, boostPhrases = [] } = this.#options;
    const init = { token: this.#token, language_code: language, sample_rate: sampleRateHz };
    return boostPhrases.length === 0 ? init : { ...init, boost_phrases: boostPhrases.slice(0, MOST_BOOST_PHRASES).join('||') };
  }

  #onText(text: string): void {
    if (this.#closed) return;
    const event = readRealtimeEvent(text);
    if (event === undefined) {
      this.#finish(new SpeechProtocolError('the recogniser sent a text frame that is not a JSON event'));
      return;
    }
    this.#onEvent(event);
  }

  #onEvent(event: RealtimeEvent): void {
    switch (event.type) {
      case 'ready':
        this.#onReady();
        return;
      case 'partial':
        this.#listener({ type: 'partial', seg: this.#segOf(event.seg, this.#lastSeg + 1), text: event.text });
        return;
      case 'final': {
        const seg = this.#segOf(event.seg, this.#lastSeg + 1);
        this.#lastSeg = Math.max(this.#lastSeg, seg);
        this.#settle(event.text, event.endOfUtterance);
        const { text, endOfUtterance, language } = event;
        this.#listener({ type: 'final', seg, text, endOfUtterance, language });
        return;
      }
      case 'refined':
        this.#listener({ type: 'final-refined', seg: this.#segOf(event.seg, this.#lastSeg), text: event.text });
        return;
      case 'error':
        this.#failure = event.error;
        return;
      case 'done':
      case 'unknown':
        return;
    }
  }

  #segOf(seg: number | undefined, otherwise: number): number {
    return seg === undefined ? otherwise : this.#segBase + seg;
  }

  #onReady(): void {
    const { clock } = this.#platform;
    this.#readyTimer?.cancel();
    this.#ready = true;
    this.#openings = 0;
    this.#freshTokenTried = false;
    this.#replayFromMs = clock.nowMs();
    this.#replayFromSample = this.#audio.next;
    this.#listener({ type: 'ready' });
    this.#pump();
  }

  /** Audio that this final covers need not be sent again. */
  #settle(text: string, endOfUtterance: boolean | undefined): void {
    const committed = this.#commitsSent[0];
    if (committed !== undefined) {
      if (endOfUtterance === false || (endOfUtterance === undefined && text.trim() === '')) return;
      this.#commitsSent.shift();
      this.#audio.settle(committed);
      return;
    }
    // An endpoint of the platform's own: it took a silence to find, so what came last is after it.
    if (text.trim() !== '') this.#audio.settle(this.#audio.next - Math.round(0.3 * this.#options.sampleRateHz));
  }

  /** Sends what is due: audio in batches, commits where they stand in it, and the end. */
  #pump(): void {
    const socket = this.#socket;
    if (!this.#ready || socket === undefined || this.#closed) return;
    const batchSamples = (BATCH_MS / 1000) * this.#options.sampleRateHz;
    for (;;) {
      const allowed = this.#allowedUntil();
      const commitAt = this.#commitsDue[0];
      const until = Math.min(commitAt ?? (this.#endDue ? this.#audio.end : Number.POSITIVE_INFINITY), allowed, this.#audio.end);
      const flush = commitAt !== undefined || this.#endDue;
      if (until - this.#audio.next >= batchSamples || (flush && until > this.#audio.next)) {
        socket.send(this.#audio.take(Math.min(until, this.#audio.next + batchSamples)));
        continue;
      }
      if (commitAt !== undefined && this.#audio.next >= commitAt) {
        this.#commitsDue.shift();
        this.#commitsSent.push(commitAt);
        socket.send('commit');
        continue;
      }
      if (this.#audio.next < this.#audio.end && allowed < this.#audio.end) this.#pumpLater();
      else if (this.#endDue && this.#audio.next >= this.#audio.end && commitAt === undefined) this.#sendEnd(socket);
      return;
    }
  }

  #endSent = false;

  #sendEnd(socket: WebSocket): void {
    if (this.#endSent) return;
    this.#endSent = true;
    socket.send('end');
  }

  /** Up to where audio may be sent now: old audio no faster than 1.5 times real time. */
  #allowedUntil(): number {
    const { sampleRateHz } = this.#options;
    const passedMs = this.#platform.clock.nowMs() - this.#replayFromMs;
    return this.#replayFromSample + Math.floor(((REPLAY_SPEED * passedMs + 4 * BATCH_MS) / 1000) * sampleRateHz);
  }

  #pumpLater(): void {
    this.#pumpTimer?.cancel();
    this.#pumpTimer = this.#platform.clock.after(REPLAY_TICK_MS, () => this.#pump());
  }

  #onClose(socket: WebSocket, code: number, reason: string): void {
    if (this.#closed || socket !== this.#socket) return;
    if (this.#endSent && (code === 1000 || code === 1005)) this.#finish(undefined);
    else this.#lost(code, this.#failure ?? (reason === '' ? `closed with code ${code}` : reason), undefined);
  }

  /** A socket is gone, or could not be opened: another one is tried, within bounds. */
  #lost(code: number, reason: string, cause: unknown): void {
    const { clock, tokens } = this.#platform;
    const wasReady = this.#ready;
    const diedYoung = clock.nowMs() - this.#openedMs < QUICK_DEATH_MS;
    this.#release();
    const failure = new SpeechUnavailableError(`recognition: ${reason}`, { cause });
    if (!wasReady) {
      // Before ready a refusal cannot be told from a bad token: one fresh one is tried (document 1, rule 4).
      const maybeAuth = code === 1008 || (cause instanceof Error && 'status' in cause && cause.status === 401);
      if (maybeAuth && !this.#freshTokenTried) {
        this.#freshTokenTried = true;
        tokens.invalidate(this.#token);
        void this.#connect();
        return;
      }
      const retryable = cause instanceof Error && 'retryable' in cause ? cause.retryable === true : isRecoverableClose(code);
      if (!retryable || this.#openings >= MOST_OPENINGS) {
        this.#finish(cause instanceof Error ? cause : failure);
        return;
      }
    } else {
      this.#quickDeaths = diedYoung ? this.#quickDeaths + 1 : 0;
      if (!isRecoverableClose(code) || this.#quickDeaths >= MOST_QUICK_DEATHS) {
        this.#finish(failure);
        return;
      }
    }
    this.#listener({ type: 'reconnecting', reason });
    this.#audio.rewind();
    this.#commitsDue = [...this.#commitsSent, ...this.#commitsDue];
    this.#commitsSent = [];
    this.#segBase = this.#lastSeg + 1;
    const waitMs = wasReady ? 0 : backoffDelayMs(BACKOFF, this.#openings - 1, Math.random());
    clock.after(waitMs, () => {
      if (!this.#closed) void this.#connect();
    });
  }

  #finish(error: Error | undefined): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#release();
    this.#listener({ type: 'closed', error });
    this.#onClosed();
  }

  #release(): void {
    this.#ready = false;
    this.#endSent = false;
    this.#readyTimer?.cancel();
    this.#pumpTimer?.cancel();
    if (this.#closed) this.#abort.abort(new Error('the recognition session is over'));
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.close(1000);
  }
}
