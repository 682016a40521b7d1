import { cutFrames } from '../../../audio/framing.ts';
import { decodeAudio, encodeAudio } from '../../../audio/codec.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { answersOf, type RecognitionEngine, type RecognitionResult, type RecognitionStream } from '../../engines/port.ts';
import { openHearing, recognitionFailure } from '../asr/hearing.ts';
import { activityFrameMs, SpeechActivity } from '../asr/speech-activity.ts';
import type { FaultDice } from '../faults/fault-dice.ts';
import { FinalLine } from '../faults/final-line.ts';
import type { AltEvent } from './alt-events.ts';
import type { AltHandshake } from './alt-handshake.ts';

/** Segments that may wait for the recogniser; audio that comes faster is refused. */
const maxPending = 256;

export interface AltSessionOptions {
  readonly handshake: AltHandshake;
  readonly engine: RecognitionEngine;
  readonly clock: Clock;
  readonly faults: FaultDice;
  readonly emit: (event: AltEvent) => void;
  /** @param cause what the engine threw, for the log alone */
  readonly fail: (reason: string, cause?: unknown) => void;
}

interface SegmentFacts {
  readonly segment: number;
  readonly atMs: number;
  readonly silentMs: number;
  readonly askedMs: number;
}

/** One Variant B socket after `ready`, without the socket: the platform itself ends segments, at silences. */
export class AltSession {
  readonly #options: AltSessionOptions;
  readonly #stream: RecognitionStream;
  readonly #activity = new SpeechActivity();
  readonly #openedMs: number;
  readonly #texts: string[] = [];
  #language = 'en';
  #bytes: Uint8Array = new Uint8Array(0);
  #samples = 0;
  #speaking = false;
  #silentMs = 0;
  #segment = 0;
  #segmentAtMs = 0;
  /** Audio has come since the last segment was asked for. */
  #heard = false;
  #awaited = 0;
  #asked: Promise<void> = Promise.resolve();
  #inferenceMs = 0;
  #guess = '';
  readonly #over = new AbortController();
  readonly #line: FinalLine;

  /** @throws the engine's error when no stream can be opened */
  constructor(options: AltSessionOptions) {
    this.#options = options;
    this.#openedMs = options.clock.nowMs();
    this.#line = new FinalLine(options.clock, this.#over.signal, maxPending);
    const { language, sampleRateHz: rateHz } = options.handshake;
    if (language.type === 'language') this.#language = language.language.code;
    this.#stream = openHearing(options.engine, { language, rateHz, boostPhrases: [], boostWeight: 0 }, (event) => {
      if (event.type === 'partial') this.#partial(event.text);
      else this.#result([event.result], this.#segmentFacts());
    });
  }

  /** @param pcm mono at the handshake's rate */
  audio(pcm: Int16Array): void {
    const frameBytes = 2 * Math.round((this.#options.handshake.sampleRateHz * activityFrameMs) / 1000);
    const cut = cutFrames(this.#bytes, encodeAudio('pcm16', pcm), frameBytes);
    this.#bytes = cut.pending;
    for (const frame of cut.frames) this.#frame(decodeAudio('pcm16', frame));
  }

  /** What is left of the last segment, then everything that a connection ends with. */
  async end(): Promise<void> {
    const rest = decodeAudio('pcm16', this.#bytes);
    if (rest.length > 0) this.#push(rest);
    if (this.#speaking) this.#emit({ type: 'speech_end', segment_id: this.#segment, offset_ms: this.#audioMs() });
    if (this.#heard) this.#ask();
    await this.#asked;
    await this.#line.sent;
    const connection = this.#connectionSeconds();
    const audioSeconds = this.#audioMs() / 1000;
    this.#emit({
      type: 'final',
      text: this.#texts.join(' '),
      language: this.#texts.length === 0 ? 'und' : this.#language,
      is_final: true,
      audio_duration_sec: audioSeconds,
      inference_time_ms: Math.round(this.#inferenceMs),
      connection_duration_sec: connection,
    });
    this.#emit({ type: 'end_of_transcript' });
    this.#emit({
      type: 'done',
      total_segments: this.#texts.length,
      total_audio_duration_sec: audioSeconds,
      connection_duration_sec: connection,
    });
  }

  /** Drops everything; nothing is emitted from here on. */
  dispose(): void {
    if (this.#over.signal.aborted) return;
    this.#over.abort(new Error('the session is over'));
    this.#stream.close();
  }

  #frame(pcm: Int16Array): void {
    this.#push(pcm);
    if (this.#activity.frame(pcm)) {
      this.#silentMs = 0;
      if (this.#speaking) return;
      this.#speaking = true;
      this.#segmentAtMs = this.#audioMs();
      this.#emit({ type: 'speech_start', segment_id: this.#segment, offset_ms: this.#segmentAtMs });
      return;
    }
    this.#silentMs += activityFrameMs;
    if (!this.#speaking || this.#silentMs < this.#options.handshake.silenceMs) return;
    this.#speaking = false;
    this.#emit({ type: 'speech_end', segment_id: this.#segment, offset_ms: this.#audioMs() - this.#silentMs });
    this.#ask();
  }

  #push(pcm: Int16Array): void {
    this.#heard = true;
    this.#samples += pcm.length;
    this.#stream.push(pcm);
  }

  #ask(): void {
    this.#awaited += 1;
    if (this.#awaited > maxPending) {
      this.#options.fail(`More than ${maxPending} segments are waiting to be recognised`);
      return;
    }
    if (this.#options.faults.failsTurn()) {
      this.#options.fail('Injected fault: this segment fails');
      return;
    }
    const facts = this.#segmentFacts();
    this.#heard = false;
    this.#asked = Promise.all([this.#stream.commit(), this.#asked]).then(
      ([utterances]) => {
        this.#awaited -= 1;
        this.#result(answersOf(utterances), facts);
      },
      (error: unknown) => {
        if (!this.#over.signal.aborted) this.#options.fail(recognitionFailure(error), error);
      },
    );
  }

  /** The segment that ends now. */
  #segmentFacts(): SegmentFacts {
    const [atMs, silentMs, askedMs] = [this.#segmentAtMs, this.#silentMs, this.#options.clock.nowMs()];
    return { segment: this.#segment++, atMs, silentMs, askedMs };
  }

  /** A segment's utterances are sent as one; nothing is said of a segment in which nothing was understood. */
  #result(utterances: readonly RecognitionResult[], { segment, atMs, silentMs, askedMs }: SegmentFacts): void {
    const latencyMs = this.#options.clock.nowMs() - askedMs;
    this.#inferenceMs += latencyMs;
    this.#guess = '';
    const [first, last] = [utterances[0], utterances.at(-1)];
    if (first === undefined || last === undefined || last.text === '') return;
    const text = utterances.map((utterance) => utterance.text).join(' ');
    this.#language = last.language;
    this.#texts.push(text);
    const { faults } = this.#options;
    const event: AltEvent = {
      type: 'final_segment',
      text,
      language: last.language,
      segment_id: segment,
      is_final: true,
      audio_duration_sec: this.#audioMs() / 1000,
      latency_ms: Math.round(latencyMs),
      offset_ms: atMs,
      duration_ms: Math.max(0, Math.round((last.endS - first.startS) * 1000)),
      silence_duration_ms: silentMs,
    };
    this.#line.add(faults.finalDelayMs(), () => {
      const copies = faults.finalCopies();
      for (let copy = 0; copy < copies; copy += 1) this.#emit(event);
    });
  }

  #partial(text: string): void {
    // While a result is on its way it is not sure which segment a guess is of.
    if (this.#awaited > 0 || text === '' || text === this.#guess) return;
    this.#guess = text;
    this.#emit({
      type: 'partial',
      text,
      language: this.#language,
      segment_id: this.#segment,
      is_final: false,
      audio_duration_sec: this.#audioMs() / 1000,
      latency_ms: 0,
      offset_ms: this.#segmentAtMs,
      duration_ms: Math.max(0, this.#audioMs() - this.#segmentAtMs),
    });
  }

  #emit(event: AltEvent): void {
    if (!this.#over.signal.aborted) this.#options.emit(event);
  }

  #audioMs(): number {
    return Math.round((this.#samples * 1000) / this.#options.handshake.sampleRateHz);
  }

  #connectionSeconds(): number {
    return Math.round(this.#options.clock.nowMs() - this.#openedMs) / 1000;
  }
}
