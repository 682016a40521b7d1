import { VoiceGate } from '../../audio/voice-activity/voice-gate.ts';
import { type Clock, type Timer, keepAwake } from '../../kernel/clock.ts';
import { SpeechError, SpeechOverloadedError } from '../client/errors.ts';
import type { Recogniser, RecogniserCapabilities, RecognitionEvent, RecognitionOptions, RecognitionSession } from '../port.ts';

/** One utterance for a service that takes whole ones. */
export interface Utterance {
  /** The voiced parts, 16-bit mono. */
  readonly pcm: Int16Array;
  readonly rateHz: number;
  readonly options: RecognitionOptions;
}

/** What was heard in it. */
export interface Transcript {
  readonly text: string;
  /** ISO 639 code; undefined where the service does not say. */
  readonly language: string | undefined;
}

/**
 * Recognises one utterance, with the service's own retries.
 * @param onRepeat called before each retry
 * @throws SpeechError when it failed for good; the signal's reason when it aborts
 */
export type Transcribe = (utterance: Utterance, signal: AbortSignal, onRepeat: (error: Error) => void) => Promise<Transcript>;

export interface SegmentedRecogniserOptions {
  readonly capabilities: RecogniserCapabilities;
  readonly clock: Clock;
  readonly transcribe: Transcribe;
  /** Interval of interim texts, each a new recognition of the utterance so far; 0 turns them off. */
  readonly partialsEveryMs: number;
}

/** A turn of more speech than this is cut at its next pause, and at the latest after `LONGEST_MS`: Whisper hears 30 s at a time. */
const LONG_MS = 24_000;
const LONGEST_MS = 29_000;
const PAUSE_MS = 200;
/** The first interim text is asked for after this much speech. */
const FIRST_PARTIAL_MS = 500;
/** Most utterances under way; more come from a caller that commits without end. */
const MOST_UNDER_WAY = 32;
/** Uploads that may fail in a row before the recogniser gives up. */
const MOST_FAILURES = 3;
const END_TIMEOUT_MS = 5_000;

/**
 * Live recognition by a service without sockets: the line is gated on voice, and what was said since the last commit is recognised
 * as one utterance when it is committed. A commit after silence is answered at once, without a request.
 */
export class SegmentedRecogniser implements Recogniser, AsyncDisposable {
  readonly capabilities: RecogniserCapabilities;
  readonly #options: SegmentedRecogniserOptions;
  readonly #sessions = new Set<SegmentedSession>();

  constructor(options: SegmentedRecogniserOptions) {
    this.capabilities = options.capabilities;
    this.#options = options;
  }

  open(options: RecognitionOptions, listener: (event: RecognitionEvent) => void): RecognitionSession {
    const session: SegmentedSession = new SegmentedSession(this.#options, options, listener, () =>
      this.#sessions.delete(session),
    );
    this.#sessions.add(session);
    return session;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const session of this.#sessions) session.abort();
  }
}

interface UnderWay {
  readonly seg: number;
  readonly fromSample: number;
  readonly toSample: number;
  readonly isVoiced: boolean;
}

class SegmentedSession implements RecognitionSession {
  readonly #service: SegmentedRecogniserOptions;
  readonly #options: RecognitionOptions;
  readonly #listener: (event: RecognitionEvent) => void;
  readonly #onOver: () => void;
  readonly #gate: VoiceGate;
  readonly #stop = new AbortController();
  readonly #awake = keepAwake();
  readonly #over: Promise<void>;
  #resolveOver: () => void = () => undefined;
  #isOver = false;
  #isEnding = false;
  #endTimer: Timer | undefined;
  /** The final of the open segment will have this number. */
  #seg = 0;
  /** Utterances without a final so far, oldest first. */
  #underWay: UnderWay[] = [];
  /** Reports finals in the order of their utterances. */
  #told: Promise<void> = Promise.resolve();
  /** Consecutive failed uploads. */
  #failures = 0;
  #partialAtMs = 0;
  #partialPending = false;

  constructor(
    service: SegmentedRecogniserOptions,
    options: RecognitionOptions,
    listener: (event: RecognitionEvent) => void,
    onOver: () => void,
  ) {
    this.#service = service;
    this.#options = options;
    this.#listener = listener;
    this.#onOver = onOver;
    this.#gate = new VoiceGate(options.sampleRateHz);
    this.#over = new Promise((resolve) => (this.#resolveOver = resolve));
    // The session has not been returned yet.
    queueMicrotask(() => this.#emit({ type: 'ready' }));
  }

  send(pcm: Int16Array): void {
    if (!(pcm instanceof Int16Array)) throw new TypeError('audio for recognition is 16-bit PCM; decode G.711 first');
    if (this.#isOver || this.#isEnding) return;
    this.#gate.push(pcm);
    const { openMs, quietMs } = this.#gate;
    if (openMs >= LONGEST_MS || (openMs >= LONG_MS && quietMs >= PAUSE_MS)) {
      if (this.#gate.hasVoice) this.#recognise(false);
      else this.#gate.cut();
    } else this.#recognisePart(openMs);
  }

  commit(): void {
    if (!this.#isOver && !this.#isEnding) this.#recognise(true);
  }

  end(): Promise<void> {
    if (this.#isOver || this.#isEnding) return this.#over;
    this.#isEnding = true;
    if (this.#gate.hasVoice) this.#recognise(true);
    this.#endTimer = this.#service.clock.after(END_TIMEOUT_MS, () =>
      this.#finish(undefined, 'the session was over before it was in a final'),
    );
    this.#told = this.#told.then(() => this.#finish(undefined));
    return this.#over;
  }

  abort(): void {
    this.#close(new Error('the recognition session was aborted'));
  }

  /** Takes the open segment and tells its final after those before it. */
  #recognise(endsUtterance: boolean): void {
    const { sampleRateHz: rateHz } = this.#options;
    if (this.#underWay.length >= MOST_UNDER_WAY) {
      this.#finish(
        new SpeechOverloadedError(`recognition: ${MOST_UNDER_WAY} utterances wait for their texts`),
        'it was not sent',
      );
      return;
    }
    const { pcm, fromSample, toSample } = this.#gate.cut();
    const utterance: UnderWay = { seg: this.#seg, fromSample, toSample, isVoiced: pcm.length > 0 };
    this.#seg += 1;
    this.#partialAtMs = 0;
    this.#underWay.push(utterance);
    const transcript = this.#transcribed(pcm, rateHz);
    // Its rejection is handled in its turn.
    transcript.catch(() => undefined);
    this.#told = this.#told.then(async () => {
      try {
        const { text, language } = await transcript;
        this.#failures = 0;
        this.#settle(utterance, text, endsUtterance, language);
      } catch (error) {
        const failure = error instanceof Error ? error : new Error(String(error));
        this.#failures += 1;
        if (!(failure instanceof SpeechError && failure.retryable) || this.#failures >= MOST_FAILURES)
          this.#finish(failure, failure.message);
        else {
          // The caller is asked to say it again, and the call goes on.
          this.#tellLost(utterance, failure.message);
          this.#settle(utterance, '', endsUtterance, undefined);
        }
      }
    });
  }

  #settle(utterance: UnderWay, text: string, endOfUtterance: boolean, language: string | undefined): void {
    this.#underWay = this.#underWay.filter((other) => other !== utterance);
    this.#emit({ type: 'final', seg: utterance.seg, text, endOfUtterance, language });
  }

  #tellLost({ fromSample, toSample, isVoiced }: Omit<UnderWay, 'seg'>, reason: string): void {
    const ms = (samples: number): number => Math.round((samples / this.#options.sampleRateHz) * 1000);
    if (isVoiced) this.#emit({ type: 'audio-lost', fromMs: ms(fromSample), lostMs: ms(toSample - fromSample), reason });
  }

  async #transcribed(pcm: Int16Array, rateHz: number): Promise<Transcript> {
    if (pcm.length === 0) return { text: '', language: undefined };
    const onRepeat = (error: Error): void => this.#emit({ type: 'reconnecting', reason: error.message });
    return await this.#service.transcribe({ pcm, rateHz, options: this.#options }, this.#stop.signal, onRepeat);
  }

  /** Recognises what was said so far; one request at a time. A failure is left to the final. */
  #recognisePart(openMs: number): void {
    const { clock, partialsEveryMs, transcribe } = this.#service;
    if (partialsEveryMs === 0 || this.#partialPending || openMs < FIRST_PARTIAL_MS || !this.#gate.hasVoice) return;
    const nowMs = clock.nowMs();
    if (nowMs < this.#partialAtMs) return;
    this.#partialAtMs = nowMs + partialsEveryMs;
    this.#partialPending = true;
    const seg = this.#seg;
    const utterance = { pcm: this.#gate.passed(), rateHz: this.#options.sampleRateHz, options: this.#options };
    transcribe(utterance, this.#stop.signal, () => undefined)
      .then(
        ({ text }) => {
          if (seg === this.#seg && text !== '') this.#emit({ type: 'partial', seg, text });
        },
        () => undefined,
      )
      .finally(() => (this.#partialPending = false));
  }

  /** @param lost why utterances without a final are lost */
  #finish(error: Error | undefined, lost = ''): void {
    if (this.#isOver) return;
    const open = this.#gate.hasVoice ? this.#gate.cut() : undefined;
    const missing = open === undefined ? this.#underWay : [...this.#underWay, { ...open, isVoiced: true }];
    for (const utterance of missing) this.#tellLost(utterance, lost);
    this.#emit({ type: 'closed', error });
    this.#close(error ?? new Error('the recognition session is over'));
  }

  #close(reason: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#stop.abort(reason);
    this.#endTimer?.cancel();
    this.#gate.close();
    this.#awake[Symbol.dispose]();
    this.#resolveOver();
    this.#onOver();
  }

  #emit(event: RecognitionEvent): void {
    if (!this.#isOver) this.#listener(event);
  }
}
