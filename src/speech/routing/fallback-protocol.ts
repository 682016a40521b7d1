import type { RecognitionEvent, SwitchReason } from '../port.ts';
import { type FallbackEffect, type FallbackOptions, type Lane, segmentOf } from './fallback-effects.ts';
import { FinalWait, UnsettledAudio } from './unsettled-audio.ts';

/** A session that is not ready this long after it was opened is in trouble. */
const OPENING_LATE_MS = 1_000;
/** Wait before an empty answer is accepted, where the other session is ready and has not heard more. */
const DOUBT_MS = 3_000;
/** Voice that cannot be without words. */
const TELLING_VOICE_MS = 300;
/** Time after which trouble is a failure, if another session is ready. */
const TROUBLE_MS = 1_200;

type Trouble = Extract<SwitchReason, 'opening-late' | 'reconnecting' | 'final-late'>;

/**
 * Decides which of several recognisers hears a call: the first one, until it fails. At the first sign of trouble another session is
 * opened, and given the audio since the last final with its commits; it takes over when the first fails, or when it is first to answer.
 * Pure: times are arguments, and what is to be done is returned.
 */
export class FallbackProtocol {
  readonly #options: FallbackOptions;
  readonly #audio: UnsettledAudio;
  #effects: FallbackEffect[] = [];
  #lanes = 0;
  #active: Lane;
  #standby: Lane | undefined;
  /** Candidates that failed since the last final, which are not retried before the next. */
  readonly #failed = new Set<number>();
  #trouble: { readonly reason: Trouble; readonly sinceMs: number } | undefined;
  readonly #wait = new FinalWait();
  /** The first answer to voice in which nothing was heard, until another session confirms it: a dead socket hears nothing too. */
  #doubted: (RecognitionEvent & { type: 'final' }) | undefined;
  /** Another session has confirmed that there was nothing. */
  #isTrusted = false;
  #wasReady = false;
  #lastFinal = -1;
  #lastSeg = -1;
  /** Why the last session that failed did. */
  #error: Error | undefined;
  #over = false;
  #ending = false;

  constructor(options: FallbackOptions, nowMs: number) {
    this.#options = options;
    this.#audio = new UnsettledAudio(options.rateHz);
    this.#active = this.#lane(0, nowMs, 0);
    this.#active.fed = true;
  }

  get isOver(): boolean {
    return this.#over;
  }

  /** The session that hears the call. */
  get lane(): number {
    return this.#active.id;
  }

  /** When `tick` is to be called; undefined for never. */
  get dueMs(): number | undefined {
    if (this.#over || this.#ending) return undefined;
    if (this.#trouble !== undefined) {
      const isReady = this.#standby?.ready === true;
      if (this.#doubted !== undefined) return this.#trouble.sinceMs + (isReady ? DOUBT_MS : TROUBLE_MS);
      return isReady ? this.#trouble.sinceMs + TROUBLE_MS : undefined;
    }
    const due = [
      ...(this.#active.ready ? [] : [this.#active.openedMs + OPENING_LATE_MS]),
      ...(this.#audio.isVoiceCommitted ? [this.#finalDueMs] : []),
    ];
    return due.length === 0 ? undefined : Math.min(...due);
  }

  get #finalDueMs(): number {
    const { finalLateMs, nothingMs } = this.#options;
    return this.#wait.dueMs(finalLateMs(this.#active.candidate), nothingMs(this.#active.candidate));
  }

  start(nowMs: number): readonly FallbackEffect[] {
    this.#effects.push({ type: 'open', lane: this.#active.id, candidate: this.#active.candidate });
    this.#openIdle(nowMs);
    return this.#taken();
  }

  /** @param pcm copied where it is kept */
  send(pcm: Int16Array): readonly FallbackEffect[] {
    if (this.#over) return this.#taken();
    this.#audio.push(pcm);
    for (const lane of this.#hearing()) this.#effects.push({ type: 'send', lane: lane.id, pcm });
    return this.#taken();
  }

  commit(nowMs: number): readonly FallbackEffect[] {
    if (this.#over) return this.#taken();
    if (!this.#audio.isVoiceCommitted) this.#wait.sinceMs = nowMs;
    this.#audio.commit(nowMs);
    for (const lane of this.#hearing()) this.#effects.push({ type: 'commit', lane: lane.id });
    return this.#taken();
  }

  end(): readonly FallbackEffect[] {
    this.#ending = true;
    this.#dropStandby();
    this.#effects.push({ type: 'end', lane: this.#active.id });
    return this.#taken();
  }

  abort(): readonly FallbackEffect[] {
    if (this.#over) return this.#taken();
    this.#dropStandby();
    this.#effects.push({ type: 'abort', lane: this.#active.id });
    this.#finish();
    return this.#taken();
  }

  /** Time has passed. */
  tick(nowMs: number): readonly FallbackEffect[] {
    const dueMs = this.dueMs;
    if (dueMs === undefined || nowMs < dueMs) return this.#taken();
    if (this.#doubted !== undefined) this.#believe(nowMs);
    else if (this.#trouble !== undefined) this.#takeOver(this.#trouble.reason, nowMs);
    else this.#enter(this.#active.ready ? 'final-late' : 'opening-late', nowMs);
    return this.#taken();
  }

  /** No slot was free for this session: it was not opened. */
  refused(laneId: number, nowMs: number): readonly FallbackEffect[] {
    return this.event(laneId, { type: 'closed', error: undefined }, nowMs, true);
  }

  /** @param wasRefused whether it was never opened, which is no failure of the vendor's */
  event(laneId: number, event: RecognitionEvent, nowMs: number, wasRefused = false): readonly FallbackEffect[] {
    if (this.#over) return this.#taken();
    if (event.type === 'closed' && !wasRefused) this.#effects.push({ type: 'gone', lane: laneId });
    if (laneId === this.#active.id) {
      if (event.type === 'closed') this.#activeClosed(event.error, nowMs, wasRefused);
      else this.#fromActive(event, nowMs);
    } else if (laneId === this.#standby?.id) this.#fromStandby(this.#standby, event, nowMs, wasRefused);
    return this.#taken();
  }

  #activeClosed(error: Error | undefined, nowMs: number, wasRefused: boolean): void {
    this.#error = error ?? this.#error;
    if (!this.#ending) {
      this.#failed.add(this.#active.candidate);
      if (!wasRefused) this.#effects.push({ type: 'failed', candidate: this.#active.candidate, error });
      this.#wantStandby(nowMs);
      if (this.#standby !== undefined) {
        this.#takeOver(wasRefused ? 'full' : 'closed', nowMs, true);
        return;
      }
    }
    this.#effects.push({ type: 'emit', event: { type: 'closed', error: this.#ending ? error : this.#error } });
    this.#finish();
  }

  #fromActive(event: Exclude<RecognitionEvent, { type: 'closed' }>, nowMs: number): void {
    const lane = this.#active;
    switch (event.type) {
      case 'ready':
        lane.ready = true;
        if (!this.#wasReady) this.#effects.push({ type: 'emit', event });
        this.#wasReady = true;
        if (this.#trouble !== undefined && this.#trouble.reason !== 'final-late') this.#recovered(nowMs);
        return;
      case 'partial': {
        this.#believe(nowMs);
        this.#emitNumbered(lane, event);
        const isTalk = this.#wait.partial(event.text, nowMs);
        if (this.#trouble?.reason === 'reconnecting' || (isTalk && this.#trouble?.reason === 'final-late'))
          this.#recovered(nowMs);
        return;
      }
      case 'final':
        this.#believe(nowMs);
        if (this.#wait.isSaid(event, nowMs)) return;
        if (this.#isDoubtful(event)) {
          this.#doubted = event;
          this.#enter('final-late', nowMs);
          if (this.#standby === undefined) this.#believe(nowMs);
          return;
        }
        this.#emitNumbered(lane, event);
        this.#settle(event, nowMs);
        this.#wait.final();
        this.#failed.clear();
        if (this.#trouble === undefined) return;
        // What the other session has heard of this final it would say again.
        if (this.#trouble.reason !== 'reconnecting' || this.#audio.unanswered === 0) this.#recovered(nowMs);
        else {
          this.#dropStandby();
          this.#wantStandby(nowMs);
        }
        return;
      case 'final-refined':
        this.#emitNumbered(lane, event);
        return;
      case 'reconnecting':
        this.#effects.push({ type: 'emit', event });
        this.#enter('reconnecting', nowMs);
        return;
      case 'audio-lost':
        this.#effects.push({ type: 'emit', event });
        return;
    }
  }

  #fromStandby(lane: Lane, event: RecognitionEvent, nowMs: number, wasRefused: boolean): void {
    if (event.type === 'closed') {
      this.#standby = undefined;
      this.#failed.add(lane.candidate);
      if (!wasRefused) this.#effects.push({ type: 'failed', candidate: lane.candidate, error: event.error });
      if (this.#trouble !== undefined) this.#wantStandby(nowMs);
      if (this.#standby === undefined) this.#believe(nowMs);
      return;
    }
    if (event.type === 'reconnecting') {
      lane.ready = false;
      lane.openedMs = nowMs;
      return;
    }
    if (event.type === 'ready') lane.ready = true;
    else if (lane.fed) lane.said.push(event);
    const trouble = this.#trouble;
    if (trouble === undefined) return;
    if (event.type === 'final' && event.text.trim() === '') this.#heardNothing(lane, event, nowMs);
    else if (event.type === 'final') this.#takeOver(trouble.reason, nowMs);
    // The candidate has been alone for long enough.
    else if (this.#doubted === undefined && lane.ready && nowMs >= trouble.sinceMs + TROUBLE_MS)
      this.#takeOver(trouble.reason, nowMs);
  }

  /** The session that stands by has heard nothing: that is an answer, and no reason to leave the active one. */
  #heardNothing(lane: Lane, event: RecognitionEvent & { type: 'final' }, nowMs: number): void {
    if (this.#doubted !== undefined) {
      this.#isTrusted = true;
      this.#believe(nowMs);
      return;
    }
    // Words that the active session has heard are something.
    if (this.#wait.isHeard || event.endOfUtterance === false || this.#audio.unanswered === 0) return;
    lane.said.length = 0;
    const answer = { ...event, endOfUtterance: true, seg: this.#lastFinal + 1 };
    // The active session may say words under this number yet.
    this.#active.inserted.push(answer.seg);
    this.#wait.answeredForIt(nowMs);
    this.#emitAs(answer);
    this.#audio.settle(answer, nowMs);
    this.#wait.sinceMs = nowMs;
    if (this.#trouble?.reason === 'final-late' && this.#audio.unanswered === 0) this.#recovered(nowMs);
  }

  /** A sign of trouble: another session gets ready, and hears what the caller said since the last final. */
  #enter(reason: Trouble, nowMs: number): void {
    if (this.#ending) return;
    this.#trouble ??= { reason, sinceMs: nowMs };
    this.#wantStandby(nowMs);
  }

  /** The session does what it should after all. One that has heard the caller cannot stand by any more. */
  #recovered(nowMs: number): void {
    this.#trouble = undefined;
    this.#dropStandby();
    this.#openIdle(nowMs);
    this.#wait.sinceMs = nowMs;
  }

  #wantStandby(nowMs: number): void {
    if (this.#standby === undefined) this.#open(() => true, nowMs);
    const lane = this.#standby;
    if (lane === undefined || lane.fed) return;
    lane.fed = true;
    for (const piece of this.#audio.repeat(nowMs))
      this.#effects.push(piece === 'commit' ? { type: 'commit', lane: lane.id } : { type: 'send', lane: lane.id, pcm: piece });
  }

  #openIdle(nowMs: number): void {
    if (this.#standby === undefined) this.#open(this.#options.mayIdle, nowMs);
  }

  #open(isWanted: (candidate: number) => boolean, nowMs: number): void {
    const all = Array.from({ length: this.#options.candidates }, (_, index) => index);
    const candidate = all.find((each) => each !== this.#active.candidate && !this.#failed.has(each));
    if (candidate === undefined || !isWanted(candidate)) return;
    this.#standby = this.#lane(candidate, nowMs, 0);
    this.#effects.push({ type: 'open', lane: this.#standby.id, candidate });
  }

  /** The session that stands by hears the call from now on. */
  #takeOver(reason: SwitchReason, nowMs: number, isGone = false): void {
    const before = this.#active;
    const next = this.#standby;
    if (next === undefined) return;
    if (!isGone) {
      this.#failed.add(before.candidate);
      // Which of the two is right about a doubted answer is unknown, as noise may be taken for words.
      if (this.#doubted === undefined) this.#effects.push({ type: 'failed', candidate: before.candidate, error: undefined });
      this.#effects.push({ type: 'abort', lane: before.id });
    }
    this.#standby = undefined;
    this.#trouble = undefined;
    this.#doubted = undefined;
    this.#active = next;
    this.#effects.push({ type: 'switched', from: before.candidate, to: next.candidate, reason });
    next.base = this.#lastFinal + 1;
    // Its words are repeated under lower numbers.
    if (this.#lastSeg > next.base) this.#effects.push({ type: 'emit', event: { type: 'partial', seg: this.#lastSeg, text: '' } });
    const lost = this.#audio.takeLost(reason);
    if (lost !== undefined) this.#effects.push({ type: 'emit', event: lost });
    this.#wait.restart(nowMs);
    if (next.ready) this.#fromActive({ type: 'ready' }, nowMs);
    for (const event of next.said.splice(0)) if (event.type !== 'closed') this.#fromActive(event, nowMs);
    this.#openIdle(nowMs);
  }

  #dropStandby(): void {
    if (this.#standby !== undefined) this.#effects.push({ type: 'abort', lane: this.#standby.id });
    this.#standby = undefined;
  }

  #settle(event: RecognitionEvent & { type: 'final' }, nowMs: number): void {
    const afterMs = nowMs - this.#wait.sinceMs;
    const isAnswer = this.#audio.settle(event, nowMs);
    // How long it takes to say that there was nothing tells nothing about words.
    if (isAnswer && event.text.trim() !== '')
      this.#effects.push({ type: 'answered', candidate: this.#active.candidate, afterMs });
    this.#wait.sinceMs = nowMs;
  }

  /** Whether an empty answer is doubtful: the caller spoke, and the session has recognised nothing. */
  #isDoubtful({ text, endOfUtterance }: RecognitionEvent & { type: 'final' }): boolean {
    if (endOfUtterance === false || text.trim() !== '') return false;
    if (this.#wait.isHeard || this.#isTrusted || this.#doubted !== undefined || this.#ending) return false;
    return this.#audio.hasVoice(TELLING_VOICE_MS);
  }

  /** Takes a doubted answer after all. */
  #believe(nowMs: number): void {
    const event = this.#doubted;
    if (event === undefined) return;
    this.#doubted = undefined;
    this.#emitNumbered(this.#active, event);
    this.#settle(event, nowMs);
    this.#recovered(nowMs);
  }

  #emitNumbered(lane: Lane, event: Extract<RecognitionEvent, { readonly seg: number }>): void {
    this.#emitAs({ ...event, seg: segmentOf(lane, event.seg) });
  }

  #emitAs(event: Extract<RecognitionEvent, { readonly seg: number }>): void {
    this.#lastSeg = Math.max(this.#lastSeg, event.seg);
    if (event.type === 'final') this.#lastFinal = Math.max(this.#lastFinal, event.seg);
    this.#effects.push({ type: 'emit', event });
  }

  #hearing(): readonly Lane[] {
    return this.#standby?.fed === true ? [this.#active, this.#standby] : [this.#active];
  }

  #lane(candidate: number, openedMs: number, base: number): Lane {
    this.#lanes += 1;
    return { id: this.#lanes, candidate, openedMs, ready: false, fed: false, base, inserted: [], said: [] };
  }

  #finish(): void {
    this.#over = true;
    this.#audio.close();
  }

  #taken(): readonly FallbackEffect[] {
    const effects = this.#effects;
    this.#effects = [];
    return effects;
  }
}
