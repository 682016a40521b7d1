import { NARROW_RATE_HZ } from '../audio/format.ts';
import type { Attachment, MediaEvent, MediaTrack } from '../carriers/port.ts';
import { atRates } from './resampled-attachment.ts';
import { steadyClock } from '../kernel/clock.ts';
import { withoutCardNumbers } from '../language/index.ts';
import { within } from '../kernel/waiting.ts';
import type { RecognitionEvent } from '../speech/port.ts';
import { OrderRefusedError, type CallOrder } from './control/supervision.ts';
import { EchoGuard } from './inbound/echo/echo-guard.ts';
import { InboundAudio } from './inbound/inbound-audio.ts';
import { detectorOf } from './inbound/neural/fused-detector.ts';
import { RecogniserHandover } from './inbound/recogniser-handover.ts';
import type { LiveSession, LiveStanding } from './live-session.ts';
import { CallLog } from './log/call-log.ts';
import type { TimedNews } from './log/call-news.ts';
import type { CallIdentity, CallRecord, TurnRecord } from './log/call-record.ts';
import { newsSoFar } from './log/news-so-far.ts';
import type { TurnLatency } from './log/timeline.ts';
import { openRecording } from './media.ts';
import { HeardSound } from './recording/heard-sound.ts';
import type { CallServices, CallTiming } from './services.ts';
import type { TurnEvent } from './turn/turn-state.ts';

/** Silence after which words are committed: between people a pause ends no turn, and whole sentences are wanted. */
const PAUSE_MS = 700;

/** How long the end of the call waits for the last words. */
const LAST_WORDS_MS = 1_500;
/** No bot replies here, so there is no latency. */
const NO_LATENCY: TurnLatency = {
  endpointing: undefined,
  asrFinal: undefined,
  dialog: undefined,
  ttsFirstByte: undefined,
  firstFrame: undefined,
  total: undefined,
};

/** One person of the call. */
interface Side {
  readonly audio: InboundAudio;
  readonly recogniser: RecogniserHandover;
  /** Releases the recogniser slot beyond the call's own. */
  readonly release: () => void;
  /** Last voice that is not committed yet. */
  lastVoicedMs: number | undefined;
  /** Finals of the running utterance. */
  words: string;
  /** Called with the final that the end of the call waits for. */
  onFinal?: () => void;
}

/**
 * A call between people that the carrier copies to us: both sides are recognised live, recorded and kept like any call, and nothing is sent. In its
 * record the other party stands in the bot's place.
 */
export class ListenedCall implements LiveSession {
  readonly id: string;
  readonly identity: CallIdentity;
  readonly ended: Promise<CallRecord>;
  readonly #services: CallServices;
  readonly #timing: CallTiming;
  readonly #callLog: CallLog;
  readonly #turns: TurnRecord[] = [];
  #resolveEnded: (record: CallRecord) => void = () => undefined;
  #attachment: Attachment | undefined;
  /** Rate of both sides, set by the first socket. */
  #rateHz: number | undefined;
  #sound: HeardSound | undefined;
  #caller: Side | undefined;
  /** Undefined until the other side is heard, and where no recogniser is free. */
  #other: Side | undefined;
  #otherIsHeard = false;
  #stopTicking: () => void = () => undefined;
  #goneTimer: { cancel(): void } | undefined;
  #startedMs = 0;
  #over = false;

  constructor(identity: CallIdentity, given: CallServices, timing: CallTiming) {
    this.id = identity.callId;
    this.identity = identity;
    this.#services = { ...given, clock: steadyClock(given.clock) };
    this.#timing = timing;
    this.#callLog = new CallLog(identity, this.#services);
    this.#services.watchSpeech?.((news) => this.#callLog.speech(news));
    this.ended = new Promise((resolve) => (this.#resolveEnded = resolve));
  }

  get attached(): boolean {
    return this.#attachment !== undefined;
  }

  get standing(): LiveStanding {
    const last = this.#turns.at(-1);
    const isSpeaking = this.#caller?.lastVoicedMs !== undefined;
    return {
      ...this.#callLog.standing(undefined),
      turns: this.#turns.length,
      callerText: last?.callerText ?? '',
      botText: last?.botText ?? '',
      phase: isSpeaking ? 'caller-speaking' : 'listening',
      muted: true,
      mutedUntilWallMs: undefined,
      holesMs: this.#caller?.audio.missingMs ?? 0,
    };
  }

  get sound(): HeardSound | undefined {
    return this.#sound;
  }

  get soFar(): readonly TimedNews[] {
    return newsSoFar(this.id, this.#callLog, this.#turns, this.#services.clock);
  }

  attach(leg: Attachment): void {
    if (this.#over) {
      leg.close('the call is over');
      return;
    }
    const rateHz = (this.#rateHz ??= leg.rateHz);
    const attachment = atRates(leg, { rateHz, sentRateHz: leg.speechFormat.rateHz });
    if (this.#attachment !== undefined) this.#detach(this.#attachment, 1000, 'another stream took over this call');
    this.#goneTimer?.cancel();
    this.#attachment = attachment;
    this.#callLog.attachments.attached(attachment);
    if (this.#caller === undefined) this.#open(rateHz);
    attachment.listen((event) => this.#guarded(() => this.#onMedia(attachment, event)));
  }

  witness(): void {
    // The call was not placed by us: there is no answer to classify.
  }

  carrierEnded(reason: string): void {
    this.#finish(reason);
  }

  apologise(reason: string): void {
    this.#finish(reason);
  }

  /** An operator may end the listening; the call itself goes on. @throws OrderRefusedError for other orders */
  async order(order: CallOrder, by: string): Promise<void> {
    if (order.type !== 'hang-up') throw new OrderRefusedError('The call is between people, and is only listened to.');
    this.#callLog.ordered('hang-up', by);
    this.#finish('operator-hangup');
  }

  #open(rateHz: number): void {
    const { clock, ticker } = this.#services;
    this.#startedMs = clock.nowMs();
    const rates = { rateHz, sentRateHz: rateHz };
    this.#sound = new HeardSound(openRecording(this.identity, this.#services, 0, rates), 0, rates);
    this.#caller = this.#sideOf('caller', rateHz, () => undefined);
    this.#stopTicking = ticker.add((nowMs) => this.#guarded(() => this.#tick(nowMs)));
    this.#callLog.started();
    this.#services.journal(this.#record('in-progress'));
  }

  #sideOf(track: MediaTrack, rateHz: number, release: () => void): Side {
    const side: Side = {
      audio: new InboundAudio(
        detectorOf(this.identity.bot, this.#services),
        new EchoGuard(),
        (event) => this.#heard(track, event),
        { rateHz },
      ),
      // A further session for hints would need a third slot.
      recogniser: new RecogniserHandover({ ...this.#services, spareRecognition: () => undefined }, (event) =>
        this.#guarded(() => this.#onRecognition(track, event)),
      ),
      release,
      lastVoicedMs: undefined,
      words: '',
    };
    side.recogniser.open(this.identity.bot.language, rateHz);
    return side;
  }

  #side(track: MediaTrack): Side | undefined {
    if (track === 'caller') return this.#caller;
    if (this.#otherIsHeard) return this.#other;
    this.#otherIsHeard = true;
    const slot = this.#services.spareRecognition();
    if (slot === undefined) {
      this.#callLog.memory.note('The other side was not recognised during the call: no recogniser was free.');
      return undefined;
    }
    try {
      this.#other = this.#sideOf('other', this.#rateHz ?? NARROW_RATE_HZ, () => slot.release());
    } catch (error) {
      slot.release();
      throw error;
    }
    return this.#other;
  }

  #onMedia(attachment: Attachment, event: MediaEvent): void {
    if (attachment !== this.#attachment || this.#over) return;
    const { clock } = this.#services;
    const nowMs = clock.nowMs();
    switch (event.type) {
      case 'audio': {
        const { pcm, timestampMs, track = 'caller' } = event;
        const wallMs = clock.wallMs();
        if (track === 'caller') this.#sound?.caller(pcm, timestampMs, nowMs, wallMs);
        else this.#sound?.other(pcm, timestampMs, nowMs);
        const side = this.#side(track);
        side?.audio.hear(pcm, timestampMs, { nowMs, wallMs, silent: false }, side.recogniser);
        return;
      }
      case 'digit':
        // A card's digits cannot be told from others here, so each digit is hidden.
        this.#callLog.digit('*');
        return;
      case 'stopped':
        this.#detach(attachment, 0, event.reason);
        this.#finish('caller-hangup');
        return;
      case 'closed':
        this.#detach(attachment, event.code, event.reason);
        this.#goneTimer = clock.after(this.#timing.stopGraceMs, () => this.#finish('carrier-lost'));
        return;
      case 'mark':
      case 'connected':
      case 'started':
      case 'rejected':
        return;
    }
  }

  #heard(track: MediaTrack, event: TurnEvent): void {
    const side = track === 'caller' ? this.#caller : this.#other;
    if (side === undefined || event.type !== 'frame') return;
    const { atMs, voiced } = event.frame;
    if (voiced) side.lastVoicedMs = atMs;
    else if (side.lastVoicedMs !== undefined && atMs - side.lastVoicedMs >= PAUSE_MS) {
      side.lastVoicedMs = undefined;
      side.recogniser.commit();
    }
  }

  #onRecognition(track: MediaTrack, event: RecognitionEvent): void {
    const side = track === 'caller' ? this.#caller : this.#other;
    if (side === undefined) return;
    this.#callLog.recogniser(event);
    if (event.type === 'closed') this.#callLog.speechFailed('asr', event.error ?? new Error('the recogniser closed the session'));
    if (event.type !== 'final') return;
    side.words = `${side.words} ${event.text}`.trim();
    // Without a final pause, an utterance that the recogniser cut continues.
    if (side.lastVoicedMs === undefined) this.#said(track, side);
    side.onFinal?.();
  }

  /** One side has finished an utterance. */
  #said(track: MediaTrack, side: Side): void {
    if (side.words === '') return;
    // Card numbers are reduced to their last four digits, also in the record.
    const text = withoutCardNumbers(side.words);
    side.words = '';
    const { clock, news } = this.#services;
    const index = this.#turns.length;
    const isCaller = track === 'caller';
    const others = isCaller ? '' : text;
    this.#turns.push({
      index,
      input: { kind: 'spoken', text: isCaller ? text : '' },
      callerText: isCaller ? text : '',
      botText: others,
      botHeardText: others,
      interrupted: false,
      latency: NO_LATENCY,
      startedAtWallMs: clock.wallMs(),
    });
    if (isCaller) news({ type: 'turn', callId: this.id, turn: index, kind: 'spoken', callerText: text });
    else news({ type: 'heard', callId: this.id, turn: index, text, heard: text });
  }

  #tick(nowMs: number): void {
    this.#sound?.tick(nowMs);
    if (nowMs - this.#startedMs >= this.identity.bot.maxDurationMs) this.#finish('max-duration');
  }

  #detach(attachment: Attachment, code: number, reason: string): void {
    this.#attachment = undefined;
    this.#sound?.detached(this.#services.clock.nowMs(), reason);
    this.#callLog.attachments.detached(attachment, code, reason);
    attachment.close(reason);
  }

  /** A fault in one call ends that call only. */
  #guarded(run: () => void): void {
    try {
      run();
    } catch (error) {
      this.#services.logger.error({ callId: this.id, error }, 'listening aborted: internal error');
      this.#finish('internal-error');
    }
  }

  #finish(reason: string): void {
    if (this.#over) return;
    this.#over = true;
    this.#goneTimer?.cancel();
    this.#stopTicking();
    void this.#close(reason);
  }

  get #sides(): readonly (readonly [MediaTrack, Side])[] {
    return [
      ...(this.#caller === undefined ? [] : [['caller', this.#caller] as const]),
      ...(this.#other === undefined ? [] : [['other', this.#other] as const]),
    ];
  }

  async #close(reason: string): Promise<void> {
    const nowMs = this.#services.clock.nowMs();
    if (this.#attachment !== undefined) this.#detach(this.#attachment, 1000, reason);
    await this.#lastWords();
    for (const [track, side] of this.#sides) {
      this.#said(track, side);
      side.audio.close();
      side.recogniser.close();
      side.release();
    }
    await this.#sound?.recording?.finish(nowMs);
    const record = this.#record(reason);
    this.#callLog.ended(record);
    try {
      await this.#services.ended(record);
    } catch (error) {
      this.#services.logger.error({ callId: this.id, error }, 'saving the ended call failed');
    }
    this.#resolveEnded(record);
  }

  /** Commits what was being said when the line ended. */
  async #lastWords(): Promise<void> {
    const speaking = this.#sides.filter(([, { lastVoicedMs }]) => lastVoicedMs !== undefined);
    const finals = speaking.map(
      ([, side]) =>
        new Promise<void>((resolve) => {
          side.lastVoicedMs = undefined;
          side.onFinal = resolve;
          side.recogniser.commit();
        }),
    );
    await within(this.#services.clock, LAST_WORDS_MS, Promise.all(finals), undefined);
  }

  #record(reason: string): CallRecord {
    const record = this.#callLog.record(reason, this.identity.bot.language, { recording: this.#sound?.recording });
    return { ...record, mode: 'listen', turns: [...this.#turns] };
  }
}
