import type { Attachment, CarrierWitness, MediaEvent } from '../carriers/port.ts';
import { lastWordsWithoutSpeech } from '../config/when-down.ts';
import { steadyClock } from '../kernel/clock.ts';
import type { RecognitionEvent } from '../speech/port.ts';
import { AnswerWatch } from './answering/answer-watch.ts';
import { type CallEvent, CallLine } from './call-line.ts';
import { CallLanguage } from './control/call-language.ts';
import { CarrierControl } from './control/carrier-control.ts';
import { DialogDriver } from './control/dialog-driver.ts';
import { optOutSettings } from './control/refusals.ts';
import { ReplyProgress } from './control/reply-progress.ts';
import { SecretInput } from './control/secret-input.ts';
import { SpendGuard } from './control/spend-guard.ts';
import { type CallOrder, Supervision } from './control/supervision.ts';
import { TurnEffects } from './control/turn-effects.ts';
import { NO_RECOGNISER, RecogniserHandover } from './inbound/recogniser-handover.ts';
import type { LiveSession, LiveStanding } from './live-session.ts';
import { CallLog } from './log/call-log.ts';
import type { CallIdentity, CallRecord } from './log/call-record.ts';
import { openMedia } from './media.ts';
import { atRates } from './resampled-attachment.ts';
import { resumedTurn } from './resume/resumed-call.ts';
import { StateWatch } from './resume/state-watch.ts';
import { type CallServices, type CallTiming, DEFAULT_CALL_TIMING } from './services.ts';
import { VoiceTakeOver } from './transfer/voice-take-over.ts';
import { WarmTransfers } from './transfer/warm-transfers.ts';
import { keysSecret } from './turn/asking.ts';
import { provisionalText } from './turn/transcript.ts';
import { TurnLoop } from './turn/turn.ts';
import { isLeaving, type TurnEffect, type TurnState } from './turn/turn-state.ts';

/** Quiet after which the end-of-turn model is asked: a pause that is not within a word, with time left for the answer. */
const ASK_MODEL_MS = 180;
/** Silence that ends a turn all the same where a speech-to-speech model is to find its end. */
const MODEL_SILENT_MS = 3_000;

/** One call: connects inbound and outbound audio, turn machine and dialog, and carries out the machine's effects. It has no rules of its own. */
export class CallSession implements LiveSession {
  readonly id: string;
  readonly identity: CallIdentity;
  /** Resolves with the record when the call is over and its recording is closed. */
  readonly ended: Promise<CallRecord>;
  readonly takeOver: VoiceTakeOver;
  readonly #services: CallServices;
  readonly #timing: CallTiming;
  readonly #line: CallLine;
  readonly #listening: RecogniserHandover;
  readonly #language: CallLanguage;
  readonly #carrier: CarrierControl;
  readonly #warm: WarmTransfers;
  readonly #dialog: DialogDriver;
  readonly #supervision: Supervision;
  /** Set for outbound calls. */
  readonly #answer: AnswerWatch | undefined;
  readonly #progress: ReplyProgress;
  readonly #effects: TurnEffects;
  readonly #watch: StateWatch;
  readonly #spend: SpendGuard;
  /** Gets the caller's audio: the recogniser, and a dialog that hears the caller itself. */
  readonly #hearing = {
    send: (pcm: Int16Array): void => {
      this.#listening.send(pcm);
      if (this.takeOver.by === undefined) this.#dialog.callerFeed.hear(pcm);
    },
  };
  #resolveEnded: (record: CallRecord) => void = () => undefined;
  #over = false;

  /** Each part is built from those before it; what concerns later ones it emits (`CallEvent`). */
  constructor(identity: CallIdentity, given: CallServices, timing: CallTiming = DEFAULT_CALL_TIMING) {
    const services: CallServices = { ...given, clock: steadyClock(given.clock) };
    const secret = new SecretInput(services.vault, identity.bot.name);
    const log = new CallLog(identity, services, secret);
    this.id = identity.callId;
    this.identity = identity;
    this.#services = services;
    this.#timing = timing;
    const turns = turnLoop(identity, services, timing, (effect) => {
      if (line.media !== undefined) this.#effects.carryOut(effect, line.media);
    });
    const line = new CallLine({ ...services, identity, log, turns, emit: (event) => this.#happened(event) });
    const listening = new RecogniserHandover(services, (event) => line.guarded(() => this.#onRecognition(event)));
    const language = new CallLanguage(line, services.recogniser, listening);
    const carrier = new CarrierControl(line, services);
    const transfers = new WarmTransfers(line, services, language);
    const dialog = new DialogDriver(line, services, { listening, language, carrier, transfers });
    this.takeOver = new VoiceTakeOver(line, { language, carrier, transfers, dialog });
    const supervision = new Supervision(line, services, { carrier, dialog, takeOver: this.takeOver });
    // A resumed call keeps the crashed process's finding of who answered.
    const outbound = identity.resumed === undefined ? identity.outbound : undefined;
    this.#answer = outbound && new AnswerWatch(line, outbound, services, { carrier, takeOver: this.takeOver });
    this.#progress = new ReplyProgress(line, carrier, this.#answer);
    const parts = { dialog, carrier, transfers, listening, language, secret, supervision };
    this.#effects = new TurnEffects(line, services, parts);
    this.#watch = new StateWatch(line, services, { dialog, transfers });
    this.#spend = new SpendGuard(line, services);
    this.#line = line;
    this.#listening = listening;
    this.#language = language;
    this.#carrier = carrier;
    this.#warm = transfers;
    this.#dialog = dialog;
    this.#supervision = supervision;
    services.watchSpeech?.((news) => log.speech(news));
    this.ended = new Promise((resolve) => (this.#resolveEnded = resolve));
  }

  get over(): boolean {
    return this.#over;
  }

  get attached(): boolean {
    return this.#line.attachment !== undefined;
  }

  /** The call as its observers see it: phase and last turn. */
  get standing(): LiveStanding & { readonly turn: TurnState } {
    const { mutedUntilWallMs, mutedBy } = this.#supervision;
    const { turn, log, media } = this.#line;
    return {
      turn,
      phase: turn.phase.name,
      muted: turn.bot.muted,
      mutedUntilWallMs,
      mutedBy,
      transfer: this.#warm.seen,
      takenOver: this.takeOver.by,
      ...log.standing(media),
    };
  }

  get sound(): LiveSession['sound'] {
    return this.#line.media?.sound;
  }

  get soFar(): LiveSession['soFar'] {
    return this.#line.log.soFar(this.#line.media);
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
    const rates = this.#line.media?.rates ?? this.identity.resumed?.rates;
    const attachment = rates === undefined ? leg : atRates(leg, rates);
    const nowMs = this.#services.clock.nowMs();
    if (this.#line.attachment !== undefined) this.#detach(this.#line.attachment, 1000, 'another stream took over this call');
    this.#line.attachment = attachment;
    this.#line.log.attachments.attached(attachment);
    if (this.#line.media === undefined) this.#open(attachment, nowMs);
    else {
      this.#carrier.reattached();
      this.#line.media.outbound.reattach(attachment, nowMs);
      this.#warm.reattached(attachment);
      this.takeOver.reattached();
      this.#line.feed({ type: 'reattached', atMs: nowMs });
    }
    attachment.listen((event) => this.#line.guarded(() => this.#onMedia(attachment, event)));
  }

  /** The carrier's own answer detection reports on an outbound call. */
  witness(witness: CarrierWitness): void {
    this.#line.log.witness(witness);
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
    const stream = this.#line.attachment === undefined ? 'no-stream' : 'stream-closed';
    this.#line.attachment?.close(reason);
    if (!this.#over && this.#line.turn.line.lost?.reason !== 'transferred') this.#carrier.endCall(stream);
    this.#finish(reason);
  }

  /** Announces a failure or the shutdown, and hangs up. */
  apologise(reason: string, phrase: 'apology' | 'shutdown' | 'downTransfer' = 'apology', transferTo?: string): void {
    if (this.#over) return;
    // The bot has the last word.
    this.takeOver.close();
    if (this.#line.media === undefined) this.hangUp(reason);
    else this.#line.feed({ type: 'apologise', phrase, reason, transferTo });
  }

  /** Passes on what one part tells the others. */
  #happened(event: CallEvent): void {
    switch (event.type) {
      case 'hang-up':
        return this.hangUp(event.reason);
      case 'over':
        return this.#finish(event.reason);
      case 'no-words':
        return this.apologise('transfer-failed');
      case 'transferred':
        return this.#line.feed({ type: 'transferred', graceMs: this.#timing.stopGraceMs });
      case 'transfer-refused':
        return this.#warm.coldFailed(event.to, event.cause);
      case 'agent-accepted':
        if (this.#line.media !== undefined) this.#dialog.tell({ kind: 'transfer', ...event.result }, this.#line.media);
        return;
      case 'given-back':
        return this.#supervision.givenBack();
      case 'synthesis-stalled':
        return this.#speechFailed('tts', new Error('the synthesis of a reply stalled'));
    }
  }

  #open(attachment: Attachment, nowMs: number): void {
    this.#line.media = openMedia(this.identity, this.#services, attachment, this.#line.log, {
      frame: (pcm, frame) => this.#answer?.frame(pcm, frame),
      feed: (event) => {
        this.#answer?.heard(event);
        this.#line.feed(event);
      },
      tick: (tickMs) => this.#line.guarded(() => this.#onTick(tickMs)),
      unitStarted: (...unit) => this.#line.media && this.#progress.unitStarted(this.#line.media, ...unit),
      unitWorded: (unitId) => this.#line.media && this.#line.log.interjected(this.#line.media.outbound, unitId),
      synthesisFailed: (error) => this.#speechFailed('tts', error),
    });
    const { resumed } = this.identity;
    this.#language.listen(attachment.rateHz);
    this.#dialog.callerFeed.open({ rateHz: attachment.rateHz, speech: attachment.speechFormat });
    this.#line.log.started();
    if (resumed !== undefined) this.#watch.goOn(resumed, this.#line.media);
    else if (this.#answer === undefined) this.#line.feed({ type: 'call-started', atMs: nowMs });
    else {
      this.#answer.started(nowMs);
      // Journal the call before the first word, so that a crash here still leaves a record.
      this.#services.journal(this.#line.record('in-progress'));
    }
  }

  #onRecognition(event: RecognitionEvent): void {
    if (this.#over) return;
    this.#line.log.recogniser(event);
    this.#language.hear(event);
    if (event.type === 'closed') this.#speechFailed('asr', event.error ?? new Error('the recogniser closed the session'));
    else this.#line.media?.inbound.words(event, this.#services.clock.nowMs());
  }

  #onMedia(attachment: Attachment, event: MediaEvent): void {
    if (attachment !== this.#line.attachment || this.#line.media === undefined || this.#over) return;
    const { clock } = this.#services;
    const nowMs = clock.nowMs();
    switch (event.type) {
      case 'audio': {
        // The other side of a call between people does not talk to the bot.
        if (event.track === 'other') return;
        const at = { nowMs, wallMs: clock.wallMs(), silent: nowMs < this.#line.turn.dialog.secretUntilMs };
        this.#line.media.outbound.arrived(event.timestampMs, nowMs);
        this.#line.media.inbound.hear(event.pcm, event.timestampMs, at, this.#warm.bridged ? NO_RECOGNISER : this.#hearing);
        this.#warm.hear(event.pcm);
        return;
      }
      case 'digit':
        this.#line.log.digit(keysSecret(this.#line.turn) ? '*' : event.digit);
        this.#answer?.heard({ type: 'digit', atMs: nowMs, digit: event.digit });
        this.#line.feed({ type: 'digit', atMs: nowMs, digit: event.digit });
        return;
      case 'mark':
        this.#line.media.outbound.markReturned(event.name, nowMs);
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
    this.#line.attachment = undefined;
    this.#line.media?.outbound.detach(this.#services.clock.nowMs(), reason);
    this.#line.log.attachments.detached(attachment, code, reason);
    attachment.close(reason);
  }

  /** The socket was lost; another may come, as after a redirect or a broken connection. */
  #lineLost(reason: 'caller-hangup' | 'carrier-lost', graceMs: number): void {
    this.#line.feed({ type: 'line-lost', reason, graceMs, awayMs: this.#carrier.awayMs });
  }

  #onTick(nowMs: number): void {
    const media = this.#line.media;
    if (media === undefined || this.#line.attachment === undefined) return;
    media.sound.tick(nowMs);
    const leftMs = this.identity.bot.maxDurationMs - (nowMs - media.startedMs);
    if (leftMs <= 0 && (this.#warm.bridged || this.takeOver.by !== undefined)) this.hangUp('max-duration');
    if (this.#warm.bridged || this.#over) return;
    // An operator who has the call decides when it ends.
    if (this.takeOver.by === undefined && this.#spend.tick(nowMs)) this.#spendReached();
    if (this.#line.attachment.capabilities.comesBack === true) this.#watch.tick(nowMs, media);
    media.outbound.pump(nowMs);
    this.#answer?.tick(nowMs);
    this.#line.feed({ type: 'tick', atMs: nowMs });
    this.#supervision.tick();
    this.#warm.tick(nowMs);
    this.#dialog.tick(nowMs);
    if (media.voice.played) this.#progress.played(media, nowMs);
    this.#dialog.timeLeft(leftMs);
    if (leftMs <= 0) this.#line.feed({ type: 'time-over' });
    const sound = media.voice.sound(nowMs);
    if (sound !== 'none' || this.#line.turn.bot.owesSinceMs !== undefined)
      this.#line.feed({ type: 'bot-sound', atMs: nowMs, sound });
  }

  /** A limit of what calls may cost is reached: the caller is handed to a person, or hears that the call ends. */
  #spendReached(): void {
    const { bot } = this.identity;
    this.#services.logger.warn({ callId: this.id, bot: bot.name }, 'limit of the cost of calls reached');
    if (isLeaving(this.#line.turn)) return;
    const [phrase, transferTo] = lastWordsWithoutSpeech(bot.spend.whenReached ?? bot.whenDown);
    this.apologise('spend-limit', transferTo === undefined ? 'shutdown' : phrase, transferTo);
  }

  /** Speech failed for this call: the caller hears the apology if it is cached, then a clean end. */
  #speechFailed(service: 'asr' | 'tts', error: unknown): void {
    this.#line.log.speechFailed(service, error);
    if (service === 'asr' && this.takeOver.deafens()) return;
    // Recognition is not needed during the last words.
    if (service !== 'asr' || !isLeaving(this.#line.turn))
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
    this.#line.turns.stop();
    this.#effects.close();
    this.#line.media?.stop();
    this.#listening.close();
    void this.#close(reason);
  }

  /** Closes the recording, and saves the record. */
  async #close(reason: string): Promise<void> {
    if (this.#line.attachment !== undefined) this.#detach(this.#line.attachment, 1000, reason);
    const { media, log, turn } = this.#line;
    const { clock, ended, logger } = this.#services;
    if (media !== undefined) log.turnOver(log.conversation.current, media.outbound);
    // Most callers hang up at the end of their message: the words so far become a turn.
    if (log.voicemails.hasVoice) log.keptTurn({ kind: 'spoken', text: provisionalText(turn.caller.words) });
    log.voicemails.end(media?.recording, log.conversation.current);
    await media?.recording?.finish(clock.nowMs());
    await this.#warm.settled();
    await this.#dialog.told;
    const record = this.#line.record(reason);
    log.ended(record);
    try {
      await ended(record);
    } catch (error) {
      logger.error({ callId: record.id, error }, 'saving the ended call failed');
    }
    await this.#dialog.dispose();
    this.#resolveEnded(record);
  }
}

/** The turn loop of a call, from its beginning or from where a dead process left it. */
function turnLoop(
  identity: CallIdentity,
  { machine, clock, endOfTurn }: Pick<CallServices, 'machine' | 'clock' | 'endOfTurn'>,
  { stalledMs, hangupAfterMarkMs }: CallTiming,
  carryOut: (effect: TurnEffect) => void,
): TurnLoop {
  const { bot, resumed } = identity;
  const settings = machine.settingsOf(bot);
  const farewell = { ...settings.farewell, hangupAfterMarkMs };
  const modelFinds = bot.dialog.kind === 'realtime' && bot.dialog.turns === 'model';
  const { endpointingMs } = settings.endpointing;
  const endpointing = {
    ...settings.endpointing,
    endpointingMs: modelFinds ? Math.max(endpointingMs, MODEL_SILENT_MS) : endpointingMs,
    askModelMs: modelFinds ? undefined : endOfTurn && ASK_MODEL_MS,
  };
  const ours = { endpointing, stalledMs, farewell, optOut: optOutSettings(identity) };
  return new TurnLoop(machine, { ...settings, ...ours }, carryOut, resumed && resumedTurn(resumed, clock.nowMs()));
}
