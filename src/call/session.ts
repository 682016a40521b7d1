import type { Attachment, CarrierWitness, MediaEvent } from '../carriers/port.ts';
import { atRates } from './resampled-attachment.ts';
import { lastWordsWithoutSpeech } from '../config/when-down.ts';
import { steadyClock } from '../kernel/clock.ts';
import type { RecognitionEvent } from '../speech/port.ts';
import { CallLog } from './log/call-log.ts';
import { AnswerWatch } from './answering/answer-watch.ts';
import { CallLanguage } from './control/call-language.ts';
import { CarrierControl } from './control/carrier-control.ts';
import type { LiveSession, LiveStanding } from './live-session.ts';
import type { CallIdentity, CallRecord } from './log/call-record.ts';
import { DialogDriver } from './control/dialog-driver.ts';
import { callTurns } from './call-turns.ts';
import { dialogActs } from './dialog-acts.ts';
import { ReplyProgress } from './control/reply-progress.ts';
import { TurnEffects } from './control/turn-effects.ts';
import { NO_RECOGNISER, RecogniserHandover } from './inbound/recogniser-handover.ts';
import { type Media, openMedia } from './media.ts';
import { SecretInput } from './control/secret-input.ts';
import { goOn } from './resume/go-on.ts';
import { type CallParts, StateWatch } from './resume/state-watch.ts';
import { type CallServices, type CallTiming, DEFAULT_CALL_TIMING } from './services.ts';
import { endOfCall } from './end-of-call.ts';
import { type CallOrder, Supervision } from './control/supervision.ts';
import { keysSecret } from './turn/asking.ts';
import { VoiceTakeOver } from './transfer/voice-take-over.ts';
import { WarmTransfers } from './transfer/warm-transfers.ts';
import type { TurnLoop } from './turn/turn.ts';
import { isLeaving, type TurnEvent, type TurnState } from './turn/turn-state.ts';

/** One call: connects inbound and outbound audio, turn machine and dialog, and carries out the machine's effects. It has no rules of its own. */
export class CallSession implements LiveSession {
  readonly id: string;
  readonly identity: CallIdentity;
  /** Resolves with the record when the call is over and its recording is closed. */
  readonly ended: Promise<CallRecord>;
  readonly takeOver: VoiceTakeOver;
  readonly #services: CallServices;
  readonly #timing: CallTiming;
  readonly #turns: TurnLoop;
  readonly #callLog: CallLog;
  readonly #dialog: DialogDriver;
  readonly #carrier: CarrierControl;
  #resolveEnded: (record: CallRecord) => void = () => undefined;
  #attachment: Attachment | undefined;
  #media: Media | undefined;
  readonly #listening: RecogniserHandover;
  readonly #language: CallLanguage;
  readonly #secret: SecretInput;
  readonly #supervision: Supervision;
  readonly #effects: TurnEffects;
  readonly #progress: ReplyProgress;
  readonly #warm: WarmTransfers;
  /** Set for outbound calls. */
  readonly #answer: AnswerWatch | undefined;
  readonly #watch: StateWatch;
  readonly #parts: CallParts;
  #over = false;

  constructor(identity: CallIdentity, given: CallServices, timing: CallTiming = DEFAULT_CALL_TIMING) {
    const services: CallServices = { ...given, clock: steadyClock(given.clock) };
    this.id = identity.callId;
    this.identity = identity;
    this.#services = services;
    this.#timing = timing;
    this.#turns = callTurns(identity, services, timing, (effect) => {
      if (this.#media !== undefined) this.#effects.carryOut(effect, this.#media);
    });
    this.#secret = new SecretInput(services.vault, identity.bot.name);
    this.#callLog = new CallLog(identity, services, this.#secret);
    const call = {
      media: () => this.#media,
      attachment: () => this.#attachment,
      turn: () => this.#turns.state,
      feed: (event: TurnEvent) => this.#turns.feed(event),
      forgetKeys: () => this.#carrier.forgetKeys(),
      hangUp: (reason: string) => this.hangUp(reason),
    };
    this.#language = new CallLanguage(identity, services.recogniser, call.media, () => this.#listening);
    const listen = (on: boolean): void => (on ? this.#language.listen() : this.#listening.close());
    const acts = dialogActs({
      identity,
      clock: services.clock,
      turns: this.#turns,
      callLog: this.#callLog,
      media: call.media,
      listening: () => this.#listening,
      language: this.#language,
      carrier: () => this.#carrier,
      warm: () => this.#warm,
      apologise: (reason) => this.apologise(reason),
    });
    this.#dialog = new DialogDriver(identity, services, this.#callLog, acts);
    const transferred = (): void => this.#turns.feed({ type: 'transferred', graceMs: timing.stopGraceMs });
    const transferFailed = (to: string, cause: string | undefined): void => this.#warm.coldFailed(to, cause);
    this.#carrier = new CarrierControl(identity, services, this.#callLog, { transferred, transferFailed });
    this.#warm = new WarmTransfers(identity, services, this.#callLog, {
      ...call,
      tell: (result) => this.#media && this.#dialog.tell({ kind: 'transfer', ...result }, this.#media),
      listen,
      joined: transferred,
    });
    this.#listening = new RecogniserHandover(services, (event) => this.#guarded(() => this.#onRecognition(event)));
    services.watchSpeech?.((news) => this.#callLog.speech(news));
    const advise = (text: string): boolean => this.#dialog.advise(text);
    this.takeOver = new VoiceTakeOver(services.clock, this.#callLog, {
      ...call,
      advise,
      listen,
      transfers: this.#warm,
      givenBack: () => this.#supervision.givenBack(),
    });
    this.#supervision = new Supervision(identity, services, this.#callLog, {
      ...call,
      takeOver: this.takeOver,
      advise,
      canPassOn: () => this.#carrier.canPassOn(this.#attachment),
      passOn: (to) => this.#carrier.passOn(to, this.#attachment),
      transferred,
    });
    this.#effects = new TurnEffects({
      ...call,
      identity,
      clock: services.clock,
      turns: this.#turns,
      callLog: this.#callLog,
      dialog: this.#dialog,
      carrier: this.#carrier,
      listening: this.#listening,
      language: this.#language,
      secret: this.#secret,
      supervision: this.#supervision,
      consult: (to) => this.#warm.start(to),
      transfer: (to) => {
        this.#warm.hold(true);
        void this.#carrier.transfer(to, this.#attachment);
      },
      guarded: (run) => this.#guarded(run),
      refused: (refused) => services.refused(refused),
      journal: () => services.journal(this.#record('in-progress')),
      synthesisStalled: () => this.#speechFailed('tts', new Error('the synthesis of a reply stalled')),
      finish: (reason) => this.#finish(reason),
    });
    this.#progress = new ReplyProgress(services.clock, this.#turns, this.#callLog, {
      played: (turn) => this.#answer?.replyPlayed(turn),
      // Keys are pressed before the bot leaves.
      followUp: ({ outbound: sent }) => this.#carrier.pressKeys(this.#attachment, sent),
    });
    // A resumed call keeps the crashed process's finding of who answered.
    const outbound = identity.resumed === undefined ? identity.outbound : undefined;
    const press = (keys: string): unknown => this.#media && this.#carrier.pressNow(keys, this.#attachment, this.#media.outbound);
    const isTaken = (): boolean => this.takeOver.by !== undefined;
    this.#answer = outbound && new AnswerWatch(identity, outbound, services, this.#callLog, { ...call, press, isTaken });
    this.#parts = { callLog: this.#callLog, turns: this.#turns, dialog: this.#dialog, warm: this.#warm };
    this.#watch = new StateWatch(identity, services, this.#parts);
    this.ended = new Promise((resolve) => (this.#resolveEnded = resolve));
  }

  get over(): boolean {
    return this.#over;
  }

  get attached(): boolean {
    return this.#attachment !== undefined;
  }

  /** The call as its observers see it: phase and last turn. */
  get standing(): LiveStanding & { readonly turn: TurnState } {
    const { mutedUntilWallMs } = this.#supervision;
    const { state: turn } = this.#turns;
    return {
      turn,
      phase: turn.phase.name,
      muted: turn.bot.muted,
      mutedUntilWallMs,
      transfer: this.#warm.seen,
      takenOver: this.takeOver.by,
      ...this.#callLog.standing(this.#media),
    };
  }

  get sound(): LiveSession['sound'] {
    return this.#media?.sound;
  }

  get soFar(): LiveSession['soFar'] {
    return this.#callLog.soFar(this.#media);
  }

  /** Carries out an operator's order. @param by who gave it @throws OrderRefusedError, CarrierControlError */
  order(order: CallOrder, by: string): Promise<void> {
    return this.#supervision.obey(order, by);
  }

  /**
   * Takes a started carrier socket: the first opens the conversation, a later one continues it. A call keeps the rates of its first leg, which its
   * recogniser, recording and queued speech use.
   */
  attach(leg: Attachment): void {
    if (this.#over) {
      leg.close('the call is over');
      return;
    }
    const rates = this.#media?.rates ?? this.identity.resumed?.rates;
    const attachment = rates === undefined ? leg : atRates(leg, rates);
    const nowMs = this.#services.clock.nowMs();
    if (this.#attachment !== undefined) this.#detach(this.#attachment, 1000, 'another stream took over this call');
    this.#attachment = attachment;
    this.#callLog.attachments.attached(attachment);
    if (this.#media === undefined) this.#open(attachment, nowMs);
    else {
      this.#carrier.reattached();
      this.#media.outbound.reattach(attachment, nowMs);
      this.#warm.reattached(attachment);
      this.takeOver.reattached();
      this.#turns.feed({ type: 'reattached', atMs: nowMs });
    }
    attachment.listen((event) => this.#guarded(() => this.#onMedia(attachment, event)));
  }

  /** The carrier's own answer detection reports on an outbound call. */
  witness(witness: CarrierWitness): void {
    this.#callLog.witness(witness);
    if (!this.#over) this.#answer?.witness(witness);
  }

  /** The carrier announced a call that never attached, or reports its end whatever the socket says. */
  carrierEnded(reason: string): void {
    this.#finish(reason);
  }

  /** No media came for a call that the carrier may have answered. */
  mediaNeverCame(): void {
    if (!this.#over && this.#carrier.outlivesStream) this.#carrier.endCall();
  }

  /** Ends the call here, and at its carrier unless it was transferred. */
  hangUp(reason: string): void {
    const stream = this.#attachment === undefined ? 'no-stream' : 'stream-closed';
    this.#attachment?.close(reason);
    if (!this.#over && this.#turns.state.line.lost?.reason !== 'transferred') this.#carrier.endCall(stream);
    this.#finish(reason);
  }

  /** Announces a failure or the shutdown, and hangs up. */
  apologise(reason: string, phrase: 'apology' | 'shutdown' | 'downTransfer' = 'apology', transferTo?: string): void {
    if (this.#over) return;
    // The bot has the last word.
    this.takeOver.close();
    if (this.#media === undefined) this.hangUp(reason);
    else this.#turns.feed({ type: 'apologise', phrase, reason, transferTo });
  }

  #open(attachment: Attachment, nowMs: number): void {
    this.#media = openMedia(this.identity, this.#services, attachment, this.#callLog, {
      frame: (pcm, frame) => this.#answer?.frame(pcm, frame),
      feed: (event) => {
        this.#answer?.heard(event);
        this.#turns.feed(event);
      },
      tick: (tickMs) => this.#guarded(() => this.#onTick(tickMs)),
      unitStarted: (...unit) => this.#media && this.#progress.unitStarted(this.#media, ...unit),
      synthesisFailed: (error) => this.#speechFailed('tts', error),
    });
    const { resumed } = this.identity;
    this.#language.listen(attachment.rateHz);
    this.#callLog.started();
    if (resumed !== undefined) goOn(resumed, this.#media, this.#parts, this.#services.clock);
    else if (this.#answer === undefined) this.#turns.feed({ type: 'call-started', atMs: nowMs });
    else {
      this.#answer.started(nowMs);
      // Journal the call before the first word, so that a crash here still leaves a record.
      this.#services.journal(this.#record('in-progress'));
    }
  }

  #onRecognition(event: RecognitionEvent): void {
    if (this.#over) return;
    this.#callLog.recogniser(event);
    this.#language.hear(event);
    if (event.type === 'closed') this.#speechFailed('asr', event.error ?? new Error('the recogniser closed the session'));
    else this.#media?.inbound.words(event, this.#services.clock.nowMs());
  }

  #onMedia(attachment: Attachment, event: MediaEvent): void {
    if (attachment !== this.#attachment || this.#media === undefined || this.#over) return;
    const { clock } = this.#services;
    const nowMs = clock.nowMs();
    switch (event.type) {
      case 'audio': {
        // The other side of a call between people does not talk to the bot.
        if (event.track === 'other') return;
        const at = { nowMs, wallMs: clock.wallMs(), silent: nowMs < this.#turns.state.dialog.secretUntilMs };
        this.#media.outbound.arrived(event.timestampMs, nowMs);
        this.#media.inbound.hear(event.pcm, event.timestampMs, at, this.#warm.bridged ? NO_RECOGNISER : this.#listening);
        this.#warm.hear(event.pcm);
        return;
      }
      case 'digit':
        this.#callLog.digit(keysSecret(this.#turns.state) ? '*' : event.digit);
        this.#answer?.heard({ type: 'digit', atMs: nowMs, digit: event.digit });
        this.#turns.feed({ type: 'digit', atMs: nowMs, digit: event.digit });
        return;
      case 'mark':
        this.#media.outbound.markReturned(event.name, nowMs);
        return;
      case 'stopped':
        this.#detach(attachment, 0, event.reason);
        this.#lineLost('caller-hangup', this.#timing.stopGraceMs);
        return;
      case 'closed':
        this.#detach(attachment, event.code, event.reason);
        if (this.#warm.bridged) return this.hangUp('transferred');
        this.#lineLost('carrier-lost', this.#timing.reattachMs);
        return;
      case 'connected':
      case 'started':
      case 'rejected':
        // `rejected` is counted where the carrier's messages are parsed.
        return;
    }
  }

  #detach(attachment: Attachment, code: number, reason: string): void {
    this.#attachment = undefined;
    this.#media?.outbound.detach(this.#services.clock.nowMs(), reason);
    this.#callLog.attachments.detached(attachment, code, reason);
    attachment.close(reason);
  }

  /** The socket was lost; another may come, as after a redirect or a broken connection. */
  #lineLost(reason: 'caller-hangup' | 'carrier-lost', graceMs: number): void {
    this.#turns.feed({ type: 'line-lost', reason, graceMs, awayMs: this.#carrier.awayMs });
  }

  #onTick(nowMs: number): void {
    const media = this.#media;
    if (media === undefined || this.#attachment === undefined) return;
    media.sound.tick(nowMs);
    const leftMs = this.identity.bot.maxDurationMs - (nowMs - media.startedMs);
    if (leftMs <= 0 && (this.#warm.bridged || this.takeOver.by !== undefined)) this.hangUp('max-duration');
    if (this.#warm.bridged || this.#over) return;
    if (this.#attachment.capabilities.comesBack === true) this.#watch.tick(nowMs, media);
    media.outbound.pump(nowMs);
    this.#answer?.tick(nowMs);
    this.#turns.feed({ type: 'tick', atMs: nowMs });
    this.#supervision.tick();
    this.#warm.tick(nowMs);
    if (media.voice.played) this.#progress.played(media, nowMs);
    this.#dialog.timeLeft(leftMs);
    if (leftMs <= 0) this.#turns.feed({ type: 'time-over' });
    const sound = media.voice.sound(nowMs);
    if (sound !== 'none' || this.#turns.state.bot.owesSinceMs !== undefined)
      this.#turns.feed({ type: 'bot-sound', atMs: nowMs, sound });
  }

  /** A fault in one call ends that call only. */
  #guarded(run: () => void): void {
    try {
      run();
    } catch (error) {
      this.#services.logger.error({ callId: this.id, error }, 'call aborted: internal error');
      this.hangUp('internal-error');
    }
  }

  /** Speech failed for this call: the caller hears the apology if it is cached, then a clean end. */
  #speechFailed(service: 'asr' | 'tts', error: unknown): void {
    this.#callLog.speechFailed(service, error);
    if (service === 'asr' && this.takeOver.deafens()) return;
    // Recognition is not needed during the last words.
    if (service !== 'asr' || !isLeaving(this.#turns.state))
      this.apologise('speech-unavailable', ...lastWordsWithoutSpeech(this.identity.bot.whenDown));
  }

  #finish(given: string): void {
    if (this.#over) return;
    const reason = this.#answer?.ended(given) ?? given;
    this.#over = true;
    this.#carrier.close();
    this.takeOver.close();
    this.#warm.close();
    this.#supervision.close();
    this.#turns.stop();
    this.#effects.close();
    this.#media?.stop();
    this.#listening.close();
    void this.#close(reason);
  }

  async #close(reason: string): Promise<void> {
    if (this.#attachment !== undefined) this.#detach(this.#attachment, 1000, reason);
    this.#resolveEnded(await endOfCall(this.#parts, this.#media, () => this.#record(reason), this.#services));
  }

  #record(reason: string): CallRecord {
    return this.#callLog.record(reason, this.#language.current, this.#media?.outbound, this.#media?.recording);
  }
}
