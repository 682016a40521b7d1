import { closeError } from '../client/socket.ts';
import { failureOf, SpeechProtocolError, SpeechUnavailableError } from '../client/errors.ts';
import { type MaskSecret, maskSecret } from '../../kernel/mask-secret.ts';
import { RECOGNITION_BATCH_MS, type RecognitionEvent, type RecognitionOptions } from '../port.ts';
import { Commits } from './commits.ts';
import { type At, type Effect, NO_EFFECTS, type RealtimeEvent } from './realtime-events.ts';
import { primaryDialect } from './recognition-dialect.ts';
import type { DialectSocket, RealtimeProtocolOptions, RecognitionDialect } from './recognition-dialect.ts';
import { type ConnectionState, type Death, OUTAGE_MS, Reconnection } from './reconnection.ts';
import { lostEvent, ReplayBuffer } from './replay-buffer.ts';
import { SegmentNumbers } from './segment-numbers.ts';
import { SocketPace } from './socket-pace.ts';

/** Audio that is kept since the last final, and before ready. */
const KEPT_S = 10;
const PUMP_EVERY_MS = 40;
/** Above this much unsent data nothing is sent; audio waits in the buffer. */
const MOST_BUFFERED_BYTES = 64 * 1024;
const READY_TIMEOUT_MS = 5_000;
const END_TIMEOUT_MS = 5_000;

/**
 * One recognition session without its sockets: each step takes the time and returns effects (ASR doc, "WebSocket"; lifecycle). It
 * can outlive its sockets: audio since the last final is kept and sent again on the next one, so that each word is in the joined
 * finals once, or in one `audio-lost`.
 */
export class RealtimeProtocol {
  #options: RealtimeProtocolOptions;
  readonly #dialect: RecognitionDialect;
  /** What failed, in errors. */
  readonly #what: string;
  /** The messages of the newest socket. */
  #wire: DialectSocket;
  /** What the newest socket is opened with, hints included. */
  #wireOptions: RecognitionOptions;
  readonly #audio: ReplayBuffer;
  readonly #commits: Commits;
  readonly #segments = new SegmentNumbers();
  readonly #batchSamples: number;
  /** Masks the credential in the platform's texts. */
  #mask: MaskSecret = (text) => text;
  #effects: Effect[] = [];
  #state: ConnectionState;
  #endUntilMs: number | undefined;
  #endSent = false;
  /** The final for the end has come, after those of the commits. */
  #endHeard = false;
  #pumpAtMs: number | undefined;
  /** When the last message came. */
  #saidMs = Number.NEGATIVE_INFINITY;
  readonly #pace: SocketPace;
  readonly #reconnection: Reconnection;

  constructor(options: RealtimeProtocolOptions, nowMs: number) {
    this.#options = options;
    this.#dialect = options.dialect ?? primaryDialect;
    this.#what = this.#dialect.title === undefined ? 'recognition' : `${this.#dialect.title} recognition`;
    this.#wireOptions = options;
    this.#wire = this.#dialect.connect(options);
    this.#pace = new SocketPace(options.sampleRateHz, this.#dialect.replaySpeed);
    this.#batchSamples = Math.round((RECOGNITION_BATCH_MS / 1000) * options.sampleRateHz);
    this.#audio = new ReplayBuffer(KEPT_S * options.sampleRateHz, options.sampleRateHz);
    this.#commits = new Commits(this.#audio, this.#dialect);
    this.#reconnection = new Reconnection(options.random, this.#dialect.canRenew, nowMs);
    this.#state = { name: 'waiting', untilMs: nowMs };
  }

  get isOver(): boolean {
    return this.#state.name === 'over';
  }

  /** When `tick` has work; undefined when it has none. */
  get dueMs(): number | undefined {
    if (this.#state.name === 'over') return undefined;
    const keepAliveMs = this.#pace.keepAliveAtMs ?? Infinity;
    const stateMs =
      this.#state.name === 'ready'
        ? Math.min(this.#pumpAtMs ?? Infinity, this.#commits.answerDueMs, keepAliveMs)
        : this.#state.untilMs;
    const due = Math.min(stateMs, this.#endUntilMs ?? Infinity);
    return due === Infinity ? undefined : due;
  }

  start(): readonly Effect[] {
    if (this.#state.name === 'waiting') this.#connect(this.#state.untilMs, false);
    return this.#taken();
  }

  /** A socket is open: the opening frame goes first (ASR doc, "WebSocket", rule 2). */
  opened(at: At, token: string): readonly Effect[] {
    if (this.#state.name !== 'connecting') return [{ type: 'disconnect' }];
    const { readyTimeoutMs = READY_TIMEOUT_MS } = this.#options;
    this.#mask = maskSecret(token);
    this.#state = { name: 'handshaking', openedMs: at.nowMs, untilMs: at.nowMs + readyTimeoutMs };
    this.#wire = this.#dialect.connect(this.#wireOptions);
    const data = this.#wire.opening(token);
    if (data !== undefined) this.#effects.push({ type: 'send', data });
    if (this.#wire.isReadyAtOnce === true) this.#ready(at, at.nowMs);
    return this.#taken();
  }

  /** @param refused the platform answered the upgrade with 401 or 403: a fresh token may help */
  openFailed(at: At, error: Error, refused = false): readonly Effect[] {
    if (this.#state.name === 'connecting') this.#died(at, { error, code: undefined, maybeToken: refused });
    return this.#taken();
  }

  closed(at: At, code: number, reason: string): readonly Effect[] {
    const { name } = this.#state;
    if (name !== 'handshaking' && name !== 'ready') return [];
    const said = `${this.#what}: ${reason === '' ? `the socket closed (${code})` : reason}`;
    if (this.#endSent && (code === 1000 || code === 1005)) this.#finish(undefined, this.#endHeard);
    else this.#died(at, { error: this.#wire.closeError?.(code, reason) ?? closeError(code, said), code });
    return this.#taken();
  }

  text(at: At, frame: string): readonly Effect[] {
    if (this.#state.name !== 'handshaking' && this.#state.name !== 'ready') return [];
    const wire = this.#wire;
    const said = wire.read(frame);
    this.#saidMs = at.nowMs;
    if (said === undefined) {
      const error = new SpeechProtocolError('the recogniser sent a text frame that is not JSON');
      this.#died(at, { error, code: 1007, maybeToken: false, isGarbled: true });
      // One of several events may end the session, or its socket.
    } else for (const event of 'type' in said ? [said] : said) if (!this.isOver && this.#wire === wire) this.#event(at, event);
    return this.#taken();
  }

  /** @throws TypeError for anything but 16-bit samples: bytes of G.711 would be heard as noise (ASR doc, "WebSocket", rule 4) */
  send(at: At, pcm: Int16Array): readonly Effect[] {
    if (!(pcm instanceof Int16Array)) throw new TypeError('audio for recognition is 16-bit PCM; decode G.711 first');
    if (this.isOver || this.#endUntilMs !== undefined) return NO_EFFECTS;
    this.#audio.push(pcm);
    this.#pump(at);
    return this.#taken();
  }

  commit(at: At): readonly Effect[] {
    if (this.isOver || this.#endUntilMs !== undefined) return [];
    this.#commits.add(this.#audio.end);
    this.#pump(at);
    return this.#taken();
  }

  /** Biases the open socket, or the one that is opening, and those after it, toward other phrases. */
  listenFor(phrases: readonly string[]): readonly Effect[] {
    this.#options = { ...this.#options, boostPhrases: phrases };
    if (this.#state.name === 'ready' && !this.#endSent) this.#sendHints();
    return this.#taken();
  }

  end(at: At): readonly Effect[] {
    if (this.isOver || this.#endUntilMs !== undefined) return [];
    this.#endUntilMs = at.nowMs + END_TIMEOUT_MS;
    if (this.#wire.end === undefined) this.#commits.add(this.#audio.end);
    this.#pump(at);
    return this.#taken();
  }

  abort(): readonly Effect[] {
    if (this.isOver) return [];
    this.#state = { name: 'over' };
    this.#audio.close();
    return [{ type: 'disconnect' }];
  }

  tick(at: At): readonly Effect[] {
    const { nowMs } = at;
    const state = this.#state;
    if (this.isOver) return [];
    if (this.#endUntilMs !== undefined && nowMs >= this.#endUntilMs) this.#finish(undefined);
    else if (state.name === 'waiting' && nowMs >= state.untilMs) this.#connect(nowMs, false);
    else if (state.name === 'connecting' && nowMs >= state.untilMs)
      this.#died(at, { error: new SpeechUnavailableError(`${this.#what}: no connection in time`), code: undefined });
    else if (state.name === 'handshaking' && nowMs >= state.untilMs)
      this.#died(at, { error: new SpeechUnavailableError(`${this.#what}: no ready event in time`), code: 1006 });
    else {
      if (state.name === 'ready' && nowMs >= this.#commits.answerDueMs) this.#unanswered(at);
      this.#pump(at);
      const { keepAlive } = this.#wire;
      if (this.#state.name === 'ready' && keepAlive !== undefined && this.#pace.needsKeepAlive(nowMs))
        this.#send(keepAlive.message, nowMs);
    }
    return this.#taken();
  }

  /** Replaces a socket that does not answer a commit; later answers on it are ignored. */
  #unanswered(at: At): void {
    const heardMs = this.#dialect.confirmsCommits === true ? this.#saidMs : (at.heardMs ?? at.nowMs);
    if (this.#commits.isSilence(heardMs)) this.#answerSilence(at.nowMs);
    if (at.nowMs < this.#commits.answerDueMs) return;
    const lost = this.#commits.unanswered(at.nowMs);
    if (lost === undefined) return;
    const error = new SpeechUnavailableError(`${this.#what}: no final in time after a commit`);
    const reason = 'the recogniser answered no commit for it, on two connections';
    if (lost.samples > 0) this.#emit(lostEvent(lost, this.#options.sampleRateHz, reason));
    this.#died(at, { error, code: 1006 });
  }

  #event(at: At, event: RealtimeEvent): void {
    switch (event.type) {
      case 'ready':
        for (const text of event.warnings) this.#effects.push({ type: 'warning', text: this.#mask(text) });
        if (this.#state.name === 'handshaking') this.#ready(at, this.#state.openedMs);
        return;
      case 'partial':
        this.#commits.interim(event.text);
        this.#emit({ type: 'partial', seg: this.#segments.partial(event.seg), text: event.text });
        return;
      case 'final':
        this.#final(at, event);
        return;
      case 'refined': {
        const seg = this.#segments.refined(event.seg);
        if (seg === undefined) this.#effects.push({ type: 'unknown-event', name: 'final_refined without its final' });
        else this.#emit({ type: 'final-refined', seg, text: event.text });
        return;
      }
      case 'error': {
        const code = event.code === undefined ? undefined : this.#mask(event.code);
        const error = failureOf(this.#what, { error: this.#mask(event.error), code, kind: event.kind });
        if (this.#state.name !== 'ready') this.#died(at, { error, code: 1008 });
        else if (error.retryable) this.#died(at, { error, code: 1011 });
        else this.#finish(error);
        return;
      }
      case 'warning':
        this.#effects.push({ type: 'warning', text: this.#mask(event.text) });
        return;
      case 'done':
        return;
      case 'unknown':
        this.#effects.push({ type: 'unknown-event', name: this.#mask(event.name) });
        return;
    }
  }

  #final(at: At, event: Extract<RealtimeEvent, { type: 'final' }>): void {
    const { text, language, endS, isAnswer } = event;
    const isMarked = isAnswer !== undefined;
    const repeats = isMarked ? undefined : this.#segments.final(event.seg, text);
    if (!isMarked && repeats === undefined) return;
    const { outstanding } = this.#commits;
    const answersEnd = this.#endSent && outstanding === 0;
    this.#endHeard ||= answersEnd;
    const endSample = endS === undefined ? undefined : this.#pace.firstSample + Math.round(endS * this.#options.sampleRateHz);
    const answered = this.#commits.heard({ ...event, endSample }, at.nowMs);
    const endOfUtterance = isMarked && outstanding > 0 ? answered > 0 : event.endOfUtterance;
    if (answersEnd && endOfUtterance === true) this.#audio.settle(this.#audio.end);
    const dropped = isMarked && answered === 0 && text.trim() === '';
    const seg = dropped ? undefined : (repeats ?? this.#segments.final(event.seg, text));
    if (seg !== undefined) this.#emit({ type: 'final', seg, text, endOfUtterance, language });
    // One answer may cover several commits, each of which is awaited.
    if (isMarked) for (let more = 1; more < answered; more += 1) this.#emitEmpty();
    this.#finishIfEnded();
  }

  #ready(at: At, openedMs: number): void {
    this.#state = { name: 'ready', openedMs };
    this.#reconnection.ready();
    this.#pace.begin(this.#audio.next, at.nowMs, this.#wire.keepAlive?.everyMs);
    this.#emit({ type: 'ready' });
    // They changed while the socket opened.
    if (this.#options !== this.#wireOptions) this.#sendHints();
    this.#pump(at);
  }

  #sendHints(): void {
    const data = this.#wire.hints?.(this.#options.boostPhrases ?? []);
    if (data !== undefined) this.#effects.push({ type: 'send', data });
  }

  #send(sent: string | Uint8Array | readonly string[], nowMs: number): void {
    this.#pace.sent(nowMs);
    const messages = typeof sent === 'string' || sent instanceof Uint8Array ? [sent] : sent;
    for (const data of messages) this.#effects.push({ type: 'send', data });
  }

  /** Sends audio in batches, commits at their positions, and the end. */
  #pump(at: At): void {
    if (this.#state.name !== 'ready' || this.#endSent) return;
    const audio = this.#audio;
    const batch = this.#batchSamples;
    this.#pumpAtMs = undefined;
    this.#tellLost('the recogniser could not take audio for more than ten seconds');
    const waits = this.#endUntilMs === undefined && this.#commits.nextDue === undefined;
    if (waits && audio.end - audio.next < batch) return;
    const { nowMs, bufferedBytes } = at;
    const allowed = this.#pace.allowedUntil(nowMs);
    let buffered = bufferedBytes;
    for (;;) {
      const commitAt = this.#commits.nextDue;
      const flushTo = commitAt ?? (this.#endUntilMs === undefined ? undefined : audio.end);
      if (flushTo !== undefined && audio.next >= flushTo) {
        if (commitAt === undefined) {
          if (this.#wire.end !== undefined) this.#send(this.#wire.end, nowMs);
          this.#endSent = true;
          this.#finishIfEnded();
          return;
        }
        this.#send(this.#wire.commit(), nowMs);
        if (this.#commits.sent(nowMs)) this.#answerSilence(nowMs);
        else if (this.#dialect.silentCommitMs !== undefined) this.#effects.push({ type: 'ping' });
        continue;
      }
      const until = Math.min(audio.next + batch, flushTo ?? audio.end);
      if (until <= audio.next || (flushTo === undefined && until - audio.next < batch)) return;
      if (until > allowed || buffered > MOST_BUFFERED_BYTES) {
        this.#pumpAtMs = nowMs + PUMP_EVERY_MS;
        return;
      }
      const pcm = audio.take(until);
      buffered += pcm.length;
      this.#send(this.#wire.audio(pcm), nowMs);
    }
  }

  /** Answers the open commits of a recogniser that does not answer a turn without speech. */
  #answerSilence(nowMs: number): void {
    while (this.#commits.outstanding > 0) {
      this.#commits.answerHere(nowMs);
      this.#emitEmpty();
    }
    this.#finishIfEnded();
  }

  /** Emits an empty final that the recogniser did not send. */
  #emitEmpty(): void {
    this.#emit({ type: 'final', seg: this.#segments.own(), text: '', endOfUtterance: true, language: undefined });
  }

  /** Ends a session whose last message is a commit, once that is answered. */
  #finishIfEnded(): void {
    if (this.#endSent && this.#wire.end === undefined && this.#commits.outstanding === 0 && !this.isOver)
      this.#finish(undefined, true);
  }

  /** Handles a lost socket or a failed connection: tries another one, within limits. */
  #died({ nowMs }: At, death: Death): void {
    const { error } = death;
    const next = this.#reconnection.died(nowMs, this.#state, death);
    if (next === 'give-up') {
      this.#finish(error);
      return;
    }
    if (this.#state.name === 'ready') this.#rewind();
    this.#effects.push({ type: 'disconnect' });
    this.#emit({ type: 'reconnecting', reason: error.message });
    if ('untilMs' in next) this.#state = { name: 'waiting', untilMs: next.untilMs };
    else this.#connect(nowMs, next.freshToken);
  }

  /** Sends the audio without a final again on the next socket. */
  #rewind(): void {
    this.#endSent = false;
    this.#endHeard = false;
    this.#audio.rewind();
    this.#commits.rewind();
    this.#segments.newSession();
  }

  #connect(nowMs: number, freshToken: boolean): void {
    this.#reconnection.connecting();
    this.#state = { name: 'connecting', untilMs: nowMs + OUTAGE_MS };
    this.#wireOptions = this.#options;
    this.#effects.push({ type: 'connect', freshToken, options: this.#wireOptions });
  }

  /** @param isAnswered whether the end had its final; else the audio without a final is reported as lost */
  #finish(error: Error | undefined, isAnswered = false): void {
    this.#state = { name: 'over' };
    if (!isAnswered) {
      const lost = this.#reconnection.everReady
        ? 'the session was over before it was in a final'
        : 'the recogniser was never ready for it';
      this.#audio.abandon();
      this.#tellLost(lost);
    }
    this.#audio.close();
    this.#effects.push({ type: 'disconnect' });
    this.#emit({ type: 'closed', error });
  }

  #tellLost(reason: string): void {
    const lost = this.#audio.takeLost();
    if (lost !== undefined) this.#emit(lostEvent(lost, this.#options.sampleRateHz, reason));
  }

  #emit(event: RecognitionEvent): void {
    this.#effects.push({ type: 'emit', event });
  }

  #taken(): readonly Effect[] {
    if (this.#effects.length === 0) return NO_EFFECTS;
    const effects = this.#effects;
    this.#effects = [];
    return effects;
  }
}
