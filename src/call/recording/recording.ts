import { writeFile } from 'node:fs/promises';
import { pcm16Bytes } from '../../audio/codec.ts';
import { NARROW_RATE_HZ } from '../../audio/format.ts';
import { errorText } from '../../kernel/errors.ts';
import { CallerBatch, EarlyAudio, RaisedTrack, StereoWindow } from './stereo-window.ts';
import { directRecordingFiles, type RecordingFile, type RecordingFiles } from './recording-file.ts';
import type { KeptInterval, RecordingGap, RecordingSidecar } from './recording-sidecar.ts';
import { SampleClock } from './sample-clock.ts';

/** A block is written when this much is ready; with the margin, it bounds what a crash loses. */
const BLOCK_MS = 300;
/** Newer audio may still change: a clear can take it back, a late frame can fill it. */
const MARGIN_MS = 120;
/** Extra room in the window for a late tick, beside the margin, a block, and what is sent ahead. */
const SLACK_MS = 180;
/** Half a second and a message. */
const DEFAULT_AHEAD_MS = 600;
/** On a busy start the caller's first frames arrive together: the last one shows their delay. Nothing is placed before. */
const FIRST_FRAMES_MS = 60;
/** How far ahead of our clock a carrier's timestamps and audio may be. */
const MOST_LEAD_MS = 10_000;

/** When recording begins; recognition is not affected. `messages`: only messages after the tone are kept. */
export type KeepRule = 'after-announcement' | 'after-consent' | 'always' | 'messages';

/** A recording that another process began. */
export interface EarlierRecording {
  readonly path: string;
  /** Bytes of audio in the file. */
  readonly dataBytes: number;
  /** Wall time of its first sample. */
  readonly startedAtWallMs: number;
  readonly gaps: readonly RecordingGap[];
  readonly kept: readonly KeptInterval[];
}

interface RecordingOptions {
  readonly rule?: KeepRule;
  readonly files?: RecordingFiles | undefined;
  /** Most time between sending the bot's audio and its playout. */
  readonly aheadMs?: number;
  /** Rate of the caller's audio, and of the recording. */
  readonly rateHz?: number;
  /** Rate of the bot's audio: the same as the caller's, or lower. */
  readonly botRateHz?: number;
  /** Length of a written block. */
  readonly blockMs?: number;
  /** The recording so far, by another process: this one continues its file. */
  readonly earlier?: EarlierRecording | undefined;
}

/**
 * Writes a call as a stereo WAV while it lasts: caller left, bot right, on the carrier's sample clock. The header is rewritten with each block, so
 * the file is always playable. A disk error stops the recording, never the call. Parts that may not be kept are silence in the file, whose clock goes
 * on; before the first kept part there is no file.
 */
export class Recording {
  readonly path: string;
  readonly #clock = new SampleClock();
  readonly #window: StereoWindow;
  readonly #gaps: RecordingGap[] = [];
  #openGap: { readonly fromMs: number; readonly reason: string } | undefined;
  readonly #callId: string;
  readonly #file: RecordingFile;
  #dataBytes = 0;
  #failure: string | undefined;
  #startedAtWallMs: number | undefined;
  /** When the first frame began, on the monotonic clock. */
  #beganMs: number | undefined;
  /** Samples that came faster than they can have been spoken. */
  #refusedSamples = 0;
  /** End of the caller's audio, by its timestamps. */
  #countedMs = 0;
  /** End of the other party's audio. */
  #otherEndMs: number | undefined;
  readonly #batch: CallerBatch;
  readonly #rateHz: number;
  readonly #blockMs: number;
  readonly #samplesPerMs: number;
  /** Resamples the bot's audio where its rate is lower. */
  readonly #raised: RaisedTrack | undefined;
  /** Bot audio from before the caller's first frames, which set the clock; undefined once placed. */
  #early: EarlyAudio | undefined;
  /** When the first frames had arrived. */
  #clockSetMs = 0;
  #attached = false;
  readonly #rule: KeepRule;
  readonly #kept: KeptInterval[] = [];
  #keptBeforeMessage = false;
  /** Position of the caller's first frame: above 0 after early bot audio, and in a resumed recording. */
  #resumesAtMs = 0;

  constructor(path: string, callId: string, options: RecordingOptions = {}) {
    const { rule = 'always', files = directRecordingFiles, aheadMs = DEFAULT_AHEAD_MS, earlier } = options;
    const { rateHz = NARROW_RATE_HZ, botRateHz = rateHz, blockMs = BLOCK_MS } = options;
    this.#blockMs = blockMs;
    this.path = path;
    this.#rateHz = rateHz;
    this.#samplesPerMs = rateHz / 1000;
    this.#batch = new CallerBatch(rateHz);
    this.#window = new StereoWindow((MARGIN_MS + blockMs + aheadMs + SLACK_MS) * this.#samplesPerMs);
    this.#raised = botRateHz === rateHz ? undefined : new RaisedTrack(this.#window, botRateHz, rateHz);
    this.#early = new EarlyAudio(botRateHz);
    this.#file = files.create(path, rateHz, earlier !== undefined);
    this.#callId = callId;
    this.#rule = rule;
    if (earlier !== undefined) this.#goOn(earlier);
    else if (rule === 'always') this.#kept.push({ fromMs: 0, toMs: undefined });
  }

  #goOn({ dataBytes, startedAtWallMs, gaps, kept }: EarlierRecording): void {
    this.#dataBytes = dataBytes;
    this.#window.startAt(dataBytes / 4);
    this.#startedAtWallMs = startedAtWallMs;
    this.#gaps.push(...gaps);
    this.#kept.push(...kept);
    this.#resumesAtMs = dataBytes / 4 / this.#samplesPerMs;
    this.#openGap = { fromMs: this.#resumesAtMs, reason: 'process-died' };
  }

  /** The state another process needs to continue it; undefined before the first frame. */
  get earlier(): { startedAtMs: number; gaps: RecordingGap[]; kept: { fromMs: number; toMs?: number }[] } | undefined {
    if (this.#startedAtWallMs === undefined) return undefined;
    const kept = this.#kept.map(({ fromMs, toMs }) => (toMs === undefined ? { fromMs } : { fromMs, toMs }));
    return { startedAtMs: this.#startedAtWallMs, gaps: [...this.#gaps], kept };
  }

  /** Whether any audio has been kept; without it there is no file. */
  get started(): boolean {
    return this.#startedAtWallMs !== undefined && this.#kept.length > 0;
  }

  /** The greeting was heard to its end. */
  announced(nowMs: number): void {
    if (this.#rule === 'after-announcement') this.#keep(true, nowMs);
  }

  /** The dialog reports the caller's consent, which overrides the bot's rule. */
  consent(given: boolean, nowMs: number): void {
    if (this.#rule !== 'messages') this.#keep(given, nowMs);
  }

  /** A message after the tone begins or ends; it is kept whatever the rule. */
  message(on: boolean, nowMs: number): void {
    if (on) this.#keptBeforeMessage = this.#keeping;
    if (on || !this.#keptBeforeMessage) this.#keep(on, nowMs);
  }

  /** The first disk error, if any. */
  get failure(): string | undefined {
    return this.#failure ?? this.#file.failure;
  }

  get gaps(): readonly RecordingGap[] {
    return this.#gaps;
  }

  /** Caller audio as it arrives. @param timestampMs the carrier's, or undefined to count samples instead */
  caller(pcm: Int16Array, timestampMs: number | undefined, nowMs: number, wallMs: number): void {
    // A frame arrives when its last sample is over, and its timestamp is its first one's.
    const beganMs = nowMs - pcm.length / this.#samplesPerMs;
    if (this.#batch.add(pcm, timestampMs, beganMs)) return;
    this.#settle();
    if (this.#beganMs === undefined) this.#begin(beganMs, nowMs, wallMs);
    this.#beganMs ??= beganMs;
    const stampMs = this.#believed(timestampMs, pcm.length / this.#samplesPerMs, nowMs);
    if (stampMs === undefined) {
      this.#refusedSamples += pcm.length;
      return;
    }
    if (!this.#attached) this.#attach(stampMs, beganMs);
    if (!this.#batch.begin(pcm, stampMs, beganMs)) this.#put(pcm, stampMs, beganMs);
    this.#flushUntil(nowMs);
  }

  /** Places the caller's pending audio, before the window is read or silenced. */
  #settle(): void {
    if (!this.#batch.isEmpty) this.#put(this.#batch.take(), this.#batch.stampMs, this.#batch.beganMs);
  }

  #put(pcm: Int16Array, stampMs: number, beganMs: number): void {
    this.#countedMs = stampMs + pcm.length / this.#samplesPerMs;
    this.#clock.observe(stampMs, beganMs);
    const atSample = Math.round(this.#clock.position(stampMs) * this.#samplesPerMs);
    if (atSample + pcm.length > this.#window.endSample) this.#takeUntil(atSample - MARGIN_MS * this.#samplesPerMs);
    if (this.#keeping) this.#window.put('left', atSample, pcm);
  }

  /** The caller's first frame starts the clock. */
  #begin(beganMs: number, nowMs: number, wallMs: number): void {
    const beganWallMs = wallMs - (nowMs - beganMs);
    if (this.#startedAtWallMs === undefined) this.#resumesAtMs = Math.max(0, beganMs - (this.#early?.startMs ?? beganMs));
    else this.#resumesAtMs = Math.max(this.#resumesAtMs, beganWallMs - this.#startedAtWallMs);
    this.#startedAtWallMs ??= beganWallMs - this.#resumesAtMs;
    this.#clockSetMs = nowMs + FIRST_FRAMES_MS;
  }

  /** Places the bot's early audio. */
  #putEarly(): void {
    if (this.#early === undefined) return;
    const pieces = this.#early.take();
    this.#early = undefined;
    const callerSample = Math.floor(this.#resumesAtMs * this.#samplesPerMs);
    for (const { pcm, startMs } of pieces) {
      const readyMs = (this.#clock.positionAt(startMs) ?? 0) - MARGIN_MS;
      this.#takeUntil(Math.min(callerSample, Math.floor(readyMs * this.#samplesPerMs)));
      this.#putBot(pcm, startMs);
    }
  }

  /**
   * Checks a timestamp: one far ahead of our clock would insert hours of silence, so samples are counted instead. In any case, nothing is placed
   * further along than the time since the recording began, plus that lead.
   * @returns undefined for audio that would be
   */
  #believed(timestampMs: number | undefined, durationMs: number, nowMs: number): number | undefined {
    const atMs = this.#clock.positionAt(nowMs);
    if (!this.#attached || atMs === undefined) return timestampMs ?? this.#countedMs;
    const isAhead = timestampMs !== undefined && this.#clock.position(timestampMs) > atMs + MOST_LEAD_MS;
    const stampMs = timestampMs === undefined || isAhead ? this.#countedMs : timestampMs;
    const passedMs = this.#resumesAtMs + nowMs - (this.#beganMs ?? nowMs);
    return this.#clock.position(stampMs) + durationMs > passedMs + MOST_LEAD_MS ? undefined : stampMs;
  }

  /** Bot audio that the carrier will start playing at `startMs` on the monotonic clock. */
  bot(pcm: Int16Array, startMs: number, nowMs: number): void {
    this.#flushUntil(nowMs);
    if (!this.#keeping) return;
    if (this.#early === undefined) this.#putBot(pcm, startMs);
    else this.#early.add(pcm, startMs);
  }

  #putBot(pcm: Int16Array, startMs: number): void {
    const positionMs = this.#clock.positionAt(startMs);
    if (positionMs === undefined) return;
    const atSample = Math.round(positionMs * this.#samplesPerMs);
    if (this.#raised === undefined) this.#window.put('right', atSample, pcm);
    else this.#raised.put(atSample, pcm);
  }

  /**
   * Audio of the other party in a call that is only listened to; it takes the bot's channel.
   * @param timestampMs the carrier's, on the same clock as the caller's, or undefined to count samples instead
   */
  other(pcm: Int16Array, timestampMs: number | undefined, nowMs: number): void {
    this.#flushUntil(nowMs);
    const durationMs = pcm.length / this.#samplesPerMs;
    const arrivedMs = this.#clock.positionAt(nowMs - durationMs);
    // The clock starts with the caller.
    if (arrivedMs === undefined || !this.#keeping) return;
    const told = timestampMs === undefined ? this.#otherEndMs : this.#clock.position(timestampMs);
    const atMs = told === undefined || Math.abs(told - arrivedMs) > MOST_LEAD_MS ? arrivedMs : told;
    this.#otherEndMs = atMs + durationMs;
    this.#window.put('right', Math.round(atMs * this.#samplesPerMs), pcm);
  }

  /** The carrier was told to drop what it had not played by `nowMs`. */
  cleared(nowMs: number): void {
    const positionMs = this.#clock.positionAt(nowMs);
    this.#early?.cut(nowMs);
    this.#raised?.end();
    if (positionMs !== undefined) this.#window.silenceFrom('right', Math.round(positionMs * this.#samplesPerMs));
  }

  /** Silences the caller from now on, and in the part not yet written: at most the last 120 ms. */
  silenceCaller(nowMs: number): void {
    this.#settle();
    const positionMs = this.#clock.positionAt(nowMs);
    if (positionMs !== undefined) this.#window.silenceFrom('left', Math.round(positionMs * this.#samplesPerMs));
  }

  /** The carrier's socket was lost; the next caller frame starts a new attachment after a marked gap. */
  detached(nowMs: number, reason: string): void {
    this.#settle();
    this.#attached = false;
    const fromMs = this.#clock.positionAt(nowMs);
    if (fromMs !== undefined) this.#openGap ??= { fromMs, reason };
  }

  /** Writes what is ready although no frame arrived. */
  tick(nowMs: number): void {
    this.#flushUntil(nowMs);
  }

  /** Recording position of a monotonic time, in ms. */
  positionMs(nowMs: number): number | undefined {
    return this.#clock.positionAt(nowMs);
  }

  /** Writes the rest and the sidecar, and closes the file. Never rejects; see `failure`. */
  async finish(nowMs: number): Promise<void> {
    this.#settle();
    this.#putEarly();
    const endMs = this.#clock.positionAt(nowMs);
    const endSample = Math.round((endMs ?? 0) * this.#samplesPerMs);
    this.#raised?.end();
    this.#takeUntil(endSample);
    const exists = await this.#file.finish();
    const durationMs = this.#dataBytes / 4 / this.#samplesPerMs;
    try {
      const sidecarPath = this.path.replace(/\.wav$/u, '.recording.json');
      if (exists) await writeFile(sidecarPath, `${JSON.stringify(this.#sidecar(durationMs), null, 2)}\n`, { mode: 0o600 });
    } catch (error) {
      this.#failure ??= errorText(error);
    }
  }

  get #keeping(): boolean {
    const last = this.#kept.at(-1);
    return last !== undefined && last.toMs === undefined;
  }

  #keep(on: boolean, nowMs: number): void {
    if (on === this.#keeping) return;
    this.#settle();
    const atMs = this.#clock.positionAt(nowMs) ?? 0;
    if (on) {
      this.#kept.push({ fromMs: atMs, toMs: undefined });
      return;
    }
    this.#kept.push({ fromMs: this.#kept.pop()?.fromMs ?? 0, toMs: atMs });
    // Audio the carrier still has to play, and audio on its way here, is not kept.
    this.#early?.cut(nowMs);
    this.#raised?.end();
    for (const channel of ['left', 'right'] as const) this.#window.silenceFrom(channel, Math.round(atMs * this.#samplesPerMs));
  }

  #attach(stampMs: number, beganMs: number): void {
    const resumesAtMs = this.#clock.positionAt(beganMs) ?? this.#resumesAtMs;
    this.#clock.attach(resumesAtMs, stampMs, beganMs);
    this.#attached = true;
    if (this.#openGap !== undefined) this.#gaps.push({ ...this.#openGap, toMs: resumesAtMs });
    this.#openGap = undefined;
  }

  /** More frames may show a smaller delay while the window has room for them. */
  #waitsForClock(positionMs: number, nowMs: number): boolean {
    if (this.#early === undefined || nowMs >= this.#clockSetMs) return false;
    return (positionMs + SLACK_MS) * this.#samplesPerMs < this.#window.endSample;
  }

  #flushUntil(nowMs: number): void {
    const positionMs = this.#clock.positionAt(nowMs);
    if (positionMs === undefined || this.#waitsForClock(positionMs, nowMs)) return;
    const readySample = Math.floor((positionMs - MARGIN_MS) * this.#samplesPerMs);
    if (readySample - this.#window.startSample < this.#blockMs * this.#samplesPerMs) return;
    this.#settle();
    this.#takeUntil(readySample);
  }

  /** Writes everything before this sample, which after a pause may be more than a window. */
  #takeUntil(sample: number): void {
    this.#putEarly();
    if (this.#window.startSample >= sample) return;
    this.#raised?.beforeTaking(sample);
    while (this.#window.startSample < sample) this.#write(this.#window.take(sample));
  }

  #write(interleaved: Int16Array<ArrayBuffer>): void {
    if (interleaved.length === 0 || this.failure !== undefined) return;
    const block = pcm16Bytes(interleaved);
    // Audio never kept has no file; a later file starts with silence for it.
    if (this.#kept.length > 0) this.#file.write(this.#dataBytes, block);
    this.#dataBytes += block.length;
  }

  #sidecar(durationMs: number): RecordingSidecar {
    return {
      version: 1,
      callId: this.#callId,
      rateHz: this.#rateHz,
      channels: ['caller', 'bot'],
      startedAtWallMs: this.#startedAtWallMs ?? 0,
      durationMs,
      gaps: this.#gaps,
      kept: this.#kept,
      lostSamples: this.#window.droppedSamples + this.#refusedSamples,
      failure: this.failure,
    };
  }
}
