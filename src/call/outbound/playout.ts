import { PlayoutUnit, fadedIn, fadedOut } from './playout-unit.ts';
import {
  type HeardPosition,
  type OutstandingMark,
  type PendingCut,
  type Place,
  PlayingClock,
  type PlayoutCommand,
  type Sent,
  type UnitPlayed,
  placesAt,
} from './sent-audio.ts';
import { type PlayoutLead, PlayoutPace } from './playout-pace.ts';
import { type PlayoutCounters, PlayoutMeasures, type PlayoutSummary } from './playout-measures.ts';
import { SentMarks, type SentMarksSettings } from './sent-marks.ts';

export interface PlayoutSettings extends PlayoutLead, SentMarksSettings {
  /** Rate of pushed and sent samples. */
  readonly rateHz: number;
  /** Messages are whole multiples of this many samples; 1 for any length. */
  readonly frameSamples: number;
}

/** How far before a cut the quietest place is searched. */
const REWIND_MS = 400;
/** Audio sent longer ago cannot be cut: more than a carrier queues plus network delay. */
const SENT_KEPT_MS = 5_000;
const CUT = '.cut';
/** A held carrier with less than this left gets a faded end of this length. */
const FADE_OUT_LEAD_MS = 45;
const FADE_OUT_MS = 20;
/** Above this lead, a carrier waits for a whole message. */
const DRY_SOON_MS = 100;
const NOTHING: readonly never[] = [];

/**
 * Sends audio slightly ahead of real time, and accounts for what the caller can have heard. Pure: times are arguments (milliseconds, monotonic), and
 * sends are returned as commands.
 */
export class Playout {
  readonly counters: PlayoutCounters = { starvedBySource: 0, starvedByGateway: 0, marksUnknown: 0 };
  readonly measures = new PlayoutMeasures();
  readonly #settings: PlayoutSettings;
  readonly #samplesPerMs: number;
  #units: PlayoutUnit[] = [];
  #sent: Sent[] = [];
  readonly #marks: SentMarks;
  readonly #played: UnitPlayed[] = [];
  readonly #proven = new Map<string, number>();
  #generation = 0;
  #carrierEndMs = Number.NEGATIVE_INFINITY;
  #held = false;
  #fadeIn = false;
  /** The carrier got a faded end, as a hold would have let it run dry at full level. */
  #fadedOut = false;
  /** What the last clear took back; kept until restored or discarded. */
  #cut: PlayoutUnit[] = [];
  #suspended = false;
  readonly #pace = new PlayoutPace();
  /** Where the last gap was counted. */
  #starvedAt = '';
  /** Samples left to send at the last run. */
  #leftSamples = 0;
  /** End of other audio at the carrier, such as ambience: audio sent next is heard after it. */
  ambientEndMs = Number.NEGATIVE_INFINITY;
  readonly #playing = new PlayingClock();
  #pendingCut: PendingCut | undefined;
  readonly #placed: HeardPosition[] = [];

  constructor(settings: PlayoutSettings) {
    this.#settings = settings;
    this.#samplesPerMs = settings.rateHz / 1000;
    this.#marks = new SentMarks(settings);
  }

  /** Queues a new sentence at the end; after a clear, behind what was cut. */
  begin(unitId: string): void {
    (this.#suspended ? this.#cut : this.#units).push(new PlayoutUnit(unitId));
  }

  /** Audio of a dropped unit is ignored. */
  push(unitId: string, audio: Int16Array): void {
    this.#find(unitId)?.push(audio);
  }

  end(unitId: string): void {
    this.#find(unitId)?.end();
  }

  /** Ends a unit early, with a short fade. @returns samples that will never be sent */
  shorten(unitId: string): number {
    return this.#find(unitId)?.shorten(FADE_OUT_MS * this.#samplesPerMs, fadedOut) ?? 0;
  }

  /** Commands to send now. Call on every tick and whenever audio arrives. */
  pump(nowMs: number): readonly PlayoutCommand[] {
    this.#pace.look(nowMs);
    this.#expireMarks(nowMs);
    // Most ticks find nothing to send.
    if (this.#units.length === 0) return NOTHING;
    if (this.#held) {
      const commands: PlayoutCommand[] = [];
      this.#fadeOut(nowMs, commands);
      return commands;
    }
    const { leadLowMs, leadTargetMs, leadMaxMs, messageMs } = this.#settings;
    if (this.#leadMs(nowMs) > leadLowMs) return this.#nothing();
    this.#countStarvation(nowMs);
    if (this.#leadMs(nowMs) === 0 && this.#waitsForMore()) return this.#nothing();
    const commands: PlayoutCommand[] = [];
    while (this.#leadMs(nowMs) < leadTargetMs && this.#leadMs(nowMs) + messageMs <= leadMaxMs && this.#sendNext(nowMs, commands));
    this.#units = this.#units.filter((unit) => !(unit.complete && unit.finalMarkSent));
    this.#nothing();
    return commands;
  }

  /** Sends nothing now. */
  #nothing(): typeof NOTHING {
    this.#leftSamples = this.#units[0]?.unsentSamples ?? 0;
    return NOTHING;
  }

  /** Whether the first sound for an empty carrier is kept back. */
  #waitsForMore(): boolean {
    const unit = this.#units.find(({ unsentSamples }) => unsentSamples > 0);
    if (unit === undefined) return false;
    return this.#pace.shouldWait(unit.ended ? Infinity : unit.unsentSamples / this.#samplesPerMs, this.#settings);
  }

  /** Stops sending; the carrier plays what it has. */
  hold(): void {
    this.#held = true;
  }

  /** Ends a hold whose sentence is over; the next sentence starts normally. */
  release(): void {
    this.#held = false;
    this.#fadedOut = false;
  }

  /** Sends again; if the carrier ran dry, from the start of the cut word. */
  resume(nowMs: number): void {
    this.#held = false;
    const unit = this.#units[0];
    const fadedOut = this.#fadedOut;
    this.#fadedOut = false;
    if (unit === undefined || unit.sentSamples === 0 || (nowMs <= this.#carrierEndMs && !fadedOut)) return;
    unit.rewindTo(unit.sentSamples, this.#settings.rateHz, REWIND_MS);
    this.#fadeIn = true;
  }

  /**
   * Drops everything queued; the caller of this sends the carrier's clear. Outstanding marks count as unknown from here on, never as played.
   * @param playsOn the carrier cannot clear: all it was sent will be heard, and later audio follows
   * @returns position of each unit that was not heard to its end, oldest first; empty when nothing was playing
   */
  clear(nowMs: number, playsOn = false): readonly HeardPosition[] {
    const endMs = playsOn ? Math.max(nowMs, this.#carrierEndMs) : nowMs;
    const cut = placesAt(this.#sent, endMs, this.#samplesPerMs);
    const unheard = cut.filter(({ unit, likelySamples }) => !(unit.complete && likelySamples >= unit.length));
    this.#cut = [...new Set([...unheard.map(({ unit }) => unit), ...this.#units])];
    // A sentence that ended by the clock alone, without its mark, is placed as well: no later event will prove its end.
    const unproven = new Set(this.#marks.waiting.map(({ unit }) => unit));
    const units = [...new Set([...cut.map(({ unit }) => unit).filter((unit) => unproven.has(unit)), ...this.#cut])];
    for (const { unit, likelySamples } of unheard) unit.sentSamples = likelySamples;
    this.#generation += 1;
    this.#pendingCut = units.length === 0 ? undefined : { mark: this.cutMark, sent: this.#sent, units };
    this.#suspended = true;
    this.#marks.clear(nowMs);
    this.#units = [];
    this.#sent = [];
    this.#held = false;
    this.#fadedOut = false;
    this.#carrierEndMs = endMs;
    return this.#heardOf(units, cut);
  }

  /** Name of the mark to send right after the clear: it finds an empty queue and returns at once, which dates the clear. */
  get cutMark(): string {
    return `${this.#generation}${CUT}`;
  }

  /** Where the last clear really cut, once its mark has returned; each cut once. */
  takePlaced(): readonly HeardPosition[] {
    return this.#placed.splice(0);
  }

  /** Drops what the last clear took back. */
  discardCut(): void {
    this.#cut = [];
    this.#suspended = false;
  }

  /** Undoes the last clear: requeues what was not heard, from the start of the cut word. */
  restore(): boolean {
    this.#suspended = false;
    this.#pendingCut = undefined;
    if (this.#cut.length === 0) return false;
    const first = this.#cut[0];
    if (first !== undefined && first.sentSamples > 0) first.rewindTo(first.sentSamples, this.#settings.rateHz, REWIND_MS);
    for (const unit of this.#cut) unit.finalMarkSent = false;
    this.#units = [...this.#cut, ...this.#units];
    this.#cut = [];
    this.#fadeIn = true;
    return true;
  }

  /**
   * How far the carrier's playout is behind our clock, including the mark's way back: the least of the last few, since the network only adds delay. 0
   * until marks have returned.
   */
  get lateMs(): number {
    return this.#marks.lateMs;
  }

  /** The carrier returned too few marks, so the clock replaces them for the rest of the call. */
  get marksAreMissing(): boolean {
    return this.#marks.areMissing;
  }

  /** How evenly audio was sent, and how the heard text was determined. */
  get summary(): PlayoutCounters & PlayoutSummary {
    return { ...this.counters, ...this.measures.summary, ...this.#marks.summary };
  }

  /**
   * The carrier reports that everything before this mark was played. Marks from before a clear are unknown.
   * @param lineMs carrier timestamp of the caller's frame before it: both travelled the same way, so network delay cancels out
   */
  markReturned(name: string, nowMs: number, lineMs?: number): void {
    if (name.endsWith(CUT)) {
      if (name === this.#pendingCut?.mark) this.#place(this.#pendingCut, lineMs);
      return;
    }
    const proven = this.#marks.returned(name, nowMs);
    const mark = proven.at(-1);
    if (mark === undefined) {
      this.counters.marksUnknown += 1;
      return;
    }
    this.#playing.markReturned(lineMs, mark.dueMs);
    this.measures.markReturned(nowMs - mark.dueMs);
    for (const each of proven) this.#prove(each, true);
  }

  /** Units played to their end since the last call, oldest first. */
  takePlayed(): readonly UnitPlayed[] {
    return this.#played.length === 0 ? NOTHING : this.#played.splice(0);
  }

  /** When our audio at the carrier ends, by the clock. */
  get endMs(): number {
    return this.#carrierEndMs;
  }

  /** Whether the carrier is playing our audio now, by the clock. */
  isAudible(nowMs: number): boolean {
    return nowMs < this.#carrierEndMs;
  }

  /** Nothing queued, playing, or restorable. */
  get idle(): boolean {
    return this.#units.length === 0 && this.#marks.waiting.length === 0 && this.#cut.length === 0;
  }

  /** How much of the unit was heard: proven by marks, and likely by the clock. */
  heard(unitId: string, nowMs: number): HeardPosition {
    const sureSamples = this.#proven.get(unitId) ?? 0;
    const entry = placesAt(this.#sent, nowMs, this.#samplesPerMs).find(({ unit }) => unit.id === unitId);
    return { unitId, sureSamples, likelySamples: Math.max(sureSamples, entry?.likelySamples ?? sureSamples) };
  }

  #find(unitId: string): PlayoutUnit | undefined {
    return this.#units.find(({ id }) => id === unitId) ?? this.#cut.find(({ id }) => id === unitId);
  }

  #leadMs(nowMs: number): number {
    return Math.max(0, this.#carrierEndMs - nowMs);
  }

  /** Sends one message of the oldest unit that has any; false when there is nothing to send. */
  #sendNext(nowMs: number, commands: PlayoutCommand[]): boolean {
    for (const unit of this.#units) {
      if (unit.unsentSamples > 0) return this.#sendAudio(unit, nowMs, commands);
      if (!unit.ended) return false;
      if (!unit.finalMarkSent) this.#sendMark(unit, true, commands);
    }
    return false;
  }

  /** Just before a held carrier runs dry: 20 ms more of the sentence, faded out. */
  #fadeOut(nowMs: number, commands: PlayoutCommand[]): void {
    const unit = this.#units[0];
    const leadMs = this.#leadMs(nowMs);
    if (unit === undefined || this.#fadedOut || leadMs === 0 || leadMs > FADE_OUT_LEAD_MS) return;
    const fadeSamples = FADE_OUT_MS * this.#samplesPerMs;
    const view = unit.peek(fadeSamples);
    if (this.#sent.at(-1)?.unit !== unit || view.length < fadeSamples || fadeSamples % this.#settings.frameSamples !== 0) return;
    this.#fadedOut = true;
    this.#emit(unit, fadedOut(view), view.length, nowMs, commands);
  }

  #sendAudio(unit: PlayoutUnit, nowMs: number, commands: PlayoutCommand[]): boolean {
    const { messageMs, markEveryMs, frameSamples } = this.#settings;
    const messageSamples = messageMs * this.#samplesPerMs;
    const waiting = !unit.ended && unit.unsentSamples < messageSamples;
    // A short message is sent only when the carrier would otherwise run dry.
    if (waiting && this.#leadMs(nowMs) > Math.min(messageMs, DRY_SOON_MS)) return false;
    let view = unit.peek(messageSamples);
    if (!unit.ended) view = view.subarray(0, view.length - (view.length % frameSamples));
    if (view.length === 0) return false;
    this.#emit(unit, this.#message(view), view.length, nowMs, commands);
    if (unit.complete) this.#sendMark(unit, true, commands);
    else if (unit.sentSamples - unit.markedSamples >= markEveryMs * this.#samplesPerMs) this.#sendMark(unit, false, commands);
    return true;
  }

  /** Sends one message. */
  #emit(unit: PlayoutUnit, pcm: Int16Array, takenSamples: number, nowMs: number, commands: PlayoutCommand[]): void {
    const startMs = Math.max(nowMs, this.#carrierEndMs, this.ambientEndMs);
    if (startMs > this.#carrierEndMs) this.#playing.startedAnew();
    const offsetSamples = unit.sentSamples;
    unit.sentSamples += takenSamples;
    this.#carrierEndMs = startMs + pcm.length / this.#samplesPerMs;
    this.#sent.push({ unit, fromSamples: offsetSamples, toSamples: unit.sentSamples, startMs });
    if (startMs - this.#sent[0]!.startMs > SENT_KEPT_MS) this.#sent.shift();
    unit.forgetSent(SENT_KEPT_MS * this.#samplesPerMs);
    commands.push({ type: 'audio', pcm, unitId: unit.id, offsetSamples, startMs });
  }

  /** The audio, or a copy padded to whole carrier frames, or faded in after a cut. */
  #message(view: Int16Array): Int16Array {
    const { rateHz, frameSamples } = this.#settings;
    const missing = (frameSamples - (view.length % frameSamples)) % frameSamples;
    if (missing === 0 && !this.#fadeIn) return view;
    const pcm = new Int16Array(view.length + missing);
    pcm.set(view);
    if (!this.#fadeIn) return pcm;
    this.#fadeIn = false;
    return fadedIn(pcm, rateHz);
  }

  #sendMark(unit: PlayoutUnit, final: boolean, commands: PlayoutCommand[]): void {
    unit.markedSamples = unit.sentSamples;
    unit.finalMarkSent ||= final;
    const name = `${this.#generation}.${unit.id}.${unit.sentSamples}${final ? '.end' : ''}`;
    const isSent = this.#marks.add({ name, unit, atSamples: unit.sentSamples, final, dueMs: this.#carrierEndMs });
    if (isSent) commands.push({ type: 'mark', name });
  }

  #prove(mark: OutstandingMark, byMark: boolean): void {
    if (byMark) this.#proven.set(mark.unit.id, mark.atSamples);
    if (mark.final) this.#played.push({ unitId: mark.unit.id, byMark });
  }

  #expireMarks(nowMs: number): void {
    for (const mark of this.#marks.expired(nowMs, this.#carrierEndMs)) this.#prove(mark, false);
  }

  /** Measures what the carrier has left, and counts each gap within a unit once. */
  #countStarvation(nowMs: number): void {
    const unit = this.#units[0];
    if (unit === undefined || unit.sentSamples === 0 || unit.complete) return;
    if (this.#sent.at(-1)?.unit !== unit || this.#fadeIn) return;
    const { frameSamples } = this.#settings;
    if (unit.unsentSamples >= frameSamples) this.measures.sendsOn(this.#carrierEndMs - nowMs);
    const place = `${unit.id}.${unit.sentSamples}`;
    if (nowMs < this.#carrierEndMs || place === this.#starvedAt) return;
    this.#starvedAt = place;
    // Audio that became ready after the carrier ran dry was late, unless playout itself was blocked.
    if (this.#pace.wasLate || this.#leftSamples >= frameSamples) this.counters.starvedByGateway += 1;
    else this.counters.starvedBySource += 1;
  }

  /** Places a cut at the moment the carrier obeyed it, on our playout clock. */
  #place({ sent, units }: PendingCut, lineMs: number | undefined): void {
    this.#pendingCut = undefined;
    const atMs = this.#playing.at(lineMs);
    if (atMs === undefined) return;
    const places = placesAt(sent, atMs, this.#samplesPerMs);
    for (const { unit, likelySamples } of places) if (this.#cut.includes(unit)) unit.sentSamples = likelySamples;
    this.#placed.push(...this.#heardOf(units, places));
  }

  #heardOf(units: readonly PlayoutUnit[], places: readonly Place[]): readonly HeardPosition[] {
    return units.map((unit) => {
      const sureSamples = this.#proven.get(unit.id) ?? 0;
      const likelySamples = places.find((place) => place.unit === unit)?.likelySamples ?? 0;
      return { unitId: unit.id, sureSamples, likelySamples: Math.max(sureSamples, likelySamples) };
    });
  }
}
