import { NARROW_RATE_HZ } from '../../audio/format.ts';
import type { CarrierWitness } from '../../carriers/port.ts';
import { errorText } from '../../kernel/errors.ts';
import type { RecognitionEvent, SpeechSwitch } from '../../speech/port.ts';
import type {
  CallerInput,
  CallIdentity,
  CallRecord,
  CallStanding,
  InterruptionRecord,
  OptOutRecord,
  OutboundRecord,
  ResumedCall,
  WatchedMedia,
} from './call-record.ts';
import { AttachmentLog } from './attachment-log.ts';
import { CallMemory } from './call-memory.ts';
import { callerText, Conversation } from './conversation.ts';
import { HeardLedger } from '../outbound/heard-ledger.ts';
import { OutboundLog } from './outbound-log.ts';
import type { OutboundAudio } from '../outbound/outbound-audio.ts';
import { type CallSound, reportEnd, soundRecord, stageLatencies } from './outcome.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { BusinessEvents } from '../../observability/events.ts';
import type { TimedNews } from './call-news.ts';
import { newsSoFar } from './news-so-far.ts';
import { type NewsServices, NewsTeller } from './news-teller.ts';
import { Timeline, turnStages } from './timeline.ts';
import { TransferLog } from './transfer-log.ts';
import { UsageLog, type UsageServices } from './usage-log.ts';
import { VoicemailLog } from './voicemail-log.ts';
import type { HeardOptOut, TurnEffect } from '../turn/turn-state.ts';

/** What the log of a call needs. */
export interface CallLogServices extends NewsServices, UsageServices {
  readonly clock: Clock;
  readonly events: BusinessEvents;
}

/**
 * Everything known of a live call: each event goes once to the timeline, and from there to the log, the metrics and followers. The record is built
 * here.
 */
export class CallLog {
  readonly conversation = new Conversation();
  readonly timeline = new Timeline();
  readonly transfers: TransferLog;
  readonly attachments: AttachmentLog;
  readonly voicemails: VoicemailLog;
  readonly memory: CallMemory;
  readonly usage: UsageLog;
  /** Set for outbound calls. */
  readonly outbound: OutboundLog | undefined;
  readonly #identity: CallIdentity;
  readonly #services: CallLogServices;
  readonly #news: NewsTeller;
  readonly #startedAtWallMs: number;
  readonly #interruptions: InterruptionRecord[] = [];
  readonly #firstFrames = new Set<number>();
  readonly #reported = new Set<number>();
  #falseAlarms = 0;
  #lastReplyMs: number | undefined;
  #optOut: OptOutRecord | undefined;
  /** When the person asked to be called back; the last request counts. */
  callBackAtWallMs: number | undefined;

  /** @param secrets hides values that must not be kept */
  constructor(identity: CallIdentity, services: CallLogServices, secrets?: { hideInRecord(text: string): string }) {
    this.#identity = identity;
    this.#services = services;
    this.memory = new CallMemory((text) => secrets?.hideInRecord(text) ?? text);
    this.#news = new NewsTeller(identity.callId, services);
    const { outbound, callId, resumed } = identity;
    this.#startedAtWallMs = resumed?.startedAtWallMs ?? services.clock.wallMs();
    this.transfers = new TransferLog({ ...services, callId, timeline: this.timeline, turn: () => this.conversation.current });
    this.attachments = new AttachmentLog({ ...services, callId, timeline: this.timeline }, resumed?.attachments);
    this.voicemails = new VoicemailLog(services.clock);
    this.usage = new UsageLog(services, resumed?.usage);
    if (outbound !== undefined) {
      this.outbound = new OutboundLog(outbound);
      this.memory.set(outbound.variables);
    }
    if (resumed !== undefined) this.#goOn(resumed);
  }

  /** Takes over the state from before a crash. */
  #goOn({ turns, digits, timeline, optOut, callBackAtWallMs, ...earlier }: ResumedCall): void {
    this.conversation.goOn(turns, digits);
    this.timeline.goOn(timeline, this.#nowMs() - (this.#services.clock.wallMs() - this.#startedAtWallMs));
    this.memory.goOn(earlier.variables, earlier.notes);
    if (earlier.found !== undefined) this.outbound?.goOn(earlier.found);
    this.voicemails.goOn(earlier.voicemails ?? []);
    this.#optOut = optOut;
    this.callBackAtWallMs = callBackAtWallMs;
  }

  get #callId(): string {
    return this.#identity.callId;
  }

  #nowMs(): number {
    return this.#services.clock.nowMs();
  }

  /** Sets variables for the dialog. */
  set(variables: Readonly<Record<string, string>>): void {
    this.memory.set(variables);
    this.#news.state(this.conversation.step, this.memory);
  }

  /** Notes the dialog's steps in this turn; it stands at the last. */
  stepped(names: readonly string[]): void {
    const turn = Math.max(0, this.conversation.current);
    this.conversation.stepped(names);
    for (const name of names) this.timeline.add({ type: 'step', atMs: this.#nowMs(), turn, name });
    this.#news.state(this.conversation.step, this.memory);
  }

  started(): void {
    const { bot, inbound, resumed } = this.#identity;
    const facts = { carrier: inbound.carrier, callId: this.#callId };
    const turn = Math.max(0, this.conversation.current);
    if (resumed === undefined) this.#services.events.callStarted(facts);
    else {
      const { gapMs, missing } = resumed;
      this.timeline.add({ type: 'resumed', atMs: this.#nowMs(), turn, gapMs, ...missing });
      this.#services.events.callResumed({ ...facts, turn, gapMs });
    }
    this.#news.tell({ type: 'started', carrierCallId: inbound.carrierCallId, botName: bot.name });
  }

  recogniser(event: RecognitionEvent): void {
    const atMs = this.#nowMs();
    switch (event.type) {
      case 'partial':
        this.#news.tell({ type: 'partial', text: event.text });
        return;
      case 'final':
      case 'final-refined':
        this.timeline.add({ type: 'final', atMs, turn: this.conversation.current + 1, seg: event.seg });
        return;
      case 'reconnecting':
      case 'audio-lost':
        this.timeline.add({ type: 'recogniser', atMs, detail: `${event.type}: ${event.reason}` });
        return;
      case 'ready':
      case 'closed':
        return;
    }
  }

  digit(digit: string): void {
    this.timeline.add({ type: 'digit', atMs: this.#nowMs(), turn: this.conversation.current });
    this.#news.tell({ type: 'digit', digit });
  }

  committed(effect: TurnEffect & { type: 'commit' }): void {
    const { lastVoicedMs, reason } = effect;
    this.timeline.add({
      type: 'caller-committed',
      atMs: this.#nowMs(),
      turn: this.conversation.current + 1,
      lastVoicedMs,
      reason,
    });
  }

  asked(turn: number, input: CallerInput): void {
    this.timeline.add({ type: 'dialog-asked', atMs: this.#nowMs(), turn, kind: input.kind });
    this.#news.tell({ type: 'turn', turn, kind: input.kind, callerText: callerText(input) });
  }

  /** Ends a turn of the caller that a muted bot does not answer. */
  keptTurn(input: CallerInput): void {
    const turn = this.conversation.open(input, this.#services.clock.wallMs());
    this.#news.tell({ type: 'turn', turn, kind: input.kind, callerText: callerText(input) });
  }

  /** An early answer was requested. */
  askedEarly(turn: number): void {
    this.timeline.add({ type: 'asked-early', atMs: this.#nowMs(), turn });
  }

  /** @param hit whether the early answer is used */
  earlyAnswer(turn: number, hit: boolean): void {
    this.timeline.add({ type: 'early-answer', atMs: this.#nowMs(), turn, hit });
    this.#services.events.earlyAnswer({ callId: this.#callId, turn, hit });
  }

  answered(turn: number): void {
    this.timeline.add({ type: 'dialog-answered', atMs: this.#nowMs(), turn });
  }

  /** A sentence outside any reply begins to be heard, such as an operator's text, or all words of one that is being heard have come. */
  interjected(outbound: OutboundAudio, unitId: string): void {
    this.#news.tell({ type: 'saying', turn: this.conversation.current, text: outbound.ledger.textOf(unitId) ?? '' });
  }

  /** The first audio of a sentence of a reply went out. @param heardMs when the carrier begins to play it */
  replyStarted(turn: number, outbound: OutboundAudio, unitId: string, atMs: number, heardMs = atMs): void {
    if (!outbound.ledger.grows(unitId)) this.#news.tell({ type: 'saying', turn, text: outbound.ledger.textOf(unitId) });
    if (this.#firstFrames.has(turn)) return;
    this.#firstFrames.add(turn);
    this.timeline.add({ type: 'first-frame', atMs, turn, ...(heardMs > atMs ? { leadMs: heardMs - atMs } : {}) });
    const latency = this.conversation.record(turn, outbound.ledger, this.timeline)?.latency;
    if (latency === undefined) return;
    const { total: totalMs, ...stages } = latency;
    this.#lastReplyMs = totalMs ?? this.#lastReplyMs;
    this.#news.tell({ type: 'reply', turn, totalMs, stages });
  }

  replyPlayed(turn: number, atMs: number): void {
    this.timeline.add({ type: 'bot-finished', atMs, turn });
  }

  /** The reply of this turn is over; reported once. */
  turnOver(turn: number, outbound: OutboundAudio): void {
    const record = this.conversation.record(turn, outbound.ledger, this.timeline);
    if (record === undefined || this.#reported.has(turn)) return;
    this.#reported.add(turn);
    this.#news.tell({ type: 'heard', turn, text: record.botText, heard: record.botHeardText });
    this.#services.events.turnCompleted({
      callId: this.#callId,
      index: turn,
      inputKind: record.input.kind,
      latencyMs: stageLatencies(record.latency),
      text: record.callerText,
      stages: () => turnStages(this.timeline.ofTurn(turn), turn),
    });
  }

  /** The floor was contested or decided. */
  floor(what: 'hold' | 'resume' | 'restore', by: string): void {
    if (what !== 'hold') this.#falseAlarms += 1;
    if (what === 'restore') this.#interruptions.pop();
    const turn = this.conversation.current;
    this.timeline.add({ type: what, atMs: this.#nowMs(), turn });
    if (what === 'resume') this.#services.events.interrupted({ callId: this.#callId, turn, kind: 'held', cause: by });
    this.#news.tell({ type: 'floor', what, by });
  }

  /** @param atMs position of the caller's first voiced frame in the recording */
  interrupted(effect: TurnEffect & { type: 'clear' }, atMs: number | undefined): void {
    const turn = this.conversation.current;
    const { by, onsetMs } = effect;
    this.#interruptions.push({ turn, by, onsetToClearMs: this.#nowMs() - onsetMs, atMs });
    this.timeline.add({ type: 'clear', atMs: this.#nowMs(), turn, onsetMs, by });
    this.#services.events.interrupted({ callId: this.#callId, turn, kind: 'cleared', cause: by });
    this.#news.tell({ type: 'floor', what: 'clear', by });
  }

  /** The person wants no more calls. @returns the entry for the record */
  optedOut({ kind, how, atMs }: HeardOptOut): OptOutRecord {
    const turn = Math.max(0, this.conversation.current);
    this.timeline.add({ type: 'opted-out', atMs: this.#nowMs(), turn, kind, how });
    this.#services.logger.info({ callId: this.#callId, kind, how }, 'opt-out heard');
    this.#optOut = { kind, how, atWallMs: this.#services.clock.wallMs() + atMs - this.#nowMs() };
    return this.#optOut;
  }

  /** The current opinion of who answered an outbound call. @param opinion `atMs` since the answer */
  answeredBy({ by, atMs, confidence }: OutboundRecord['opinions'][number]): void {
    if (this.outbound === undefined || this.outbound.answeredBy === by) return;
    this.outbound.opinion(by, atMs, confidence);
    this.timeline.add({ type: 'answered-by', atMs: this.#nowMs(), by, confidence });
    this.#services.logger.info({ callId: this.#callId, by, confidence }, 'answered by');
    this.#news.tell({ type: 'answered-by', by, confidence });
  }

  /** A filler covers a wait. */
  filler(waitingFor: string): void {
    const turn = this.conversation.current;
    this.timeline.add({ type: 'filler', atMs: this.#nowMs(), turn, waitingFor });
    this.#services.logger.info({ callId: this.#callId, turn, waitingFor }, 'filler played');
  }

  dialogFailed(error: unknown): void {
    const turn = this.conversation.current;
    this.#services.events.dialogFailed({ callId: this.#callId, turn, error });
    this.timeline.add({ type: 'problem', atMs: this.#nowMs(), detail: `dialog: ${errorText(error)}` });
  }

  /** The dialog's answer to a turn is empty: the caller hears nothing. */
  dialogEmpty(turn: number): void {
    this.#services.events.dialogEmpty({ callId: this.#callId, turn });
    this.timeline.add({ type: 'problem', atMs: this.#nowMs(), detail: `dialog: nothing was said or done in turn ${turn}` });
  }

  /** An operator's order was carried out. @param forMs its duration, where it ends by itself @param words text that goes with it */
  ordered(order: string, by: string, forMs?: number, words?: string): void {
    const turn = Math.max(0, this.conversation.current);
    const lasts = forMs === undefined ? {} : { forMs };
    const text = words === undefined ? {} : { text: this.memory.shown(words) };
    this.timeline.add({ type: 'ordered', atMs: this.#nowMs(), turn, order, by, ...lasts, ...text });
    this.#news.tell({ type: 'ordered', order, by });
  }

  /** The carrier's own answer detection reports. */
  witness(witness: CarrierWitness): void {
    this.timeline.add({ type: 'witness', atMs: this.#nowMs(), witness });
  }

  /** The carrier refused an action. */
  actFailed(what: 'transfer' | 'digits', error: unknown): void {
    this.#services.logger.error({ callId: this.#callId, what, error }, 'carrier control failed');
    this.timeline.add({ type: 'problem', atMs: this.#nowMs(), detail: `${what}: ${errorText(error)}` });
  }

  /** Keys were handed to the carrier, which does not confirm delivery. */
  digitsSent(count: number): void {
    this.timeline.add({ type: 'digits-sent', atMs: this.#nowMs(), turn: this.conversation.current, count });
  }

  /** The recogniser or synthesizer in use changed. */
  speech({ service, by, before, reason }: SpeechSwitch): void {
    const turn = Math.max(0, this.conversation.current);
    const from = before === undefined ? {} : { before };
    this.timeline.add({ type: 'speech', atMs: this.#nowMs(), turn, service, by, ...from, reason });
    if (before !== undefined) this.#services.events.speechSwitched({ callId: this.#callId, service, by, before, reason });
  }

  speechFailed(service: 'asr' | 'tts', error: unknown): void {
    const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'OFFHOOK_SPEECH';
    this.#services.events.speechFailed({ callId: this.#callId, service, code, error });
    this.timeline.add({ type: 'problem', atMs: this.#nowMs(), detail: `${service}: ${errorText(error)}` });
  }

  ended(record: CallRecord): void {
    reportEnd(this.#callId, record, this.#services.events);
    this.#news.tell({ type: 'ended', reason: record.endReason });
  }

  /** What was written so far stays; the rest of the call is missing from its recording. */
  #recordingFailed(cause: string): void {
    this.#services.logger.error({ callId: this.#callId, cause }, 'recording incomplete');
    this.timeline.add({ type: 'problem', atMs: this.#nowMs(), detail: `recording: ${cause}` });
  }

  /** News so far, for a new follower. */
  soFar(media: WatchedMedia | undefined): readonly TimedNews[] {
    const turns = media === undefined ? [] : this.conversation.records(media.outbound.ledger, this.timeline);
    const begunText = media && ((turn: number): string => media.outbound.ledger.begunText(turn));
    return newsSoFar(this.#callId, this, turns, this.#services.clock, begunText);
  }

  standing(media: WatchedMedia | undefined): CallStanding {
    const { current } = this.conversation;
    return {
      startedAtWallMs: this.#startedAtWallMs,
      turns: current + 1,
      callerText: this.conversation.callerTextOf(current),
      botText: media?.outbound.ledger.sentText(current) ?? '',
      answeredBy: this.outbound?.answeredBy,
      lastReplyMs: this.#lastReplyMs,
      lateMs: media?.outbound.playout.lateMs ?? 0,
      holesMs: media?.inbound.missingMs ?? 0,
    };
  }

  /** The record now. @param reason why the call ended, or `in-progress` */
  record(reason: string, language: string, sound: CallSound): CallRecord {
    const { outbound, recording } = sound;
    const { inbound, bot, tenantId } = this.#identity;
    const { botName: _asked, isRepeat: _repeat, mode: _mode, ...parties } = inbound;
    const ledger = outbound?.ledger ?? new HeardLedger(NARROW_RATE_HZ);
    const sentences = ledger.sentences();
    const endedAtWallMs = this.#services.clock.wallMs();
    const recordedMs = recording?.positionMs(this.#nowMs());
    if (recording?.failure !== undefined && reason !== 'in-progress') this.#recordingFailed(recording.failure);
    return {
      version: 1,
      id: this.#callId,
      tenantId,
      botName: bot.name,
      botVersion: bot.version,
      ...parties,
      language,
      startedAtWallMs: this.#startedAtWallMs,
      endedAtWallMs,
      durationMs: endedAtWallMs - this.#startedAtWallMs,
      endReason: reason,
      digits: this.conversation.digits,
      turns: this.conversation.records(ledger, this.timeline),
      interruptions: [...this.#interruptions],
      falseAlarms: this.#falseAlarms,
      sentences,
      attachments: this.attachments.records,
      ...this.memory.record,
      outbound: this.outbound?.record(sentences),
      optOut: this.#optOut,
      callBackAtWallMs: this.callBackAtWallMs,
      transfers: this.transfers.records(reason),
      voicemails: this.voicemails.records.length === 0 ? undefined : [...this.voicemails.records],
      recordingStartedAtWallMs: recordedMs === undefined ? undefined : endedAtWallMs - recordedMs,
      usage: this.usage.all,
      ...soundRecord(sound, reason === 'in-progress'),
      timeline: this.timeline.events,
    };
  }
}
