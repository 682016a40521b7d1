import { writeFile } from 'node:fs/promises';
import { pcm16Bytes } from '../../audio/codec.ts';
import { NARROW_RATE_HZ } from '../../audio/format.ts';
import { errorText } from '../../kernel/errors.ts';
import { CallerBatch, EarlyAudio, RaisedTrack, StereoWindow } from './stereo-window.ts';
import { directRecordingFiles, type RecordingFile, type RecordingFiles } from './recording-file.ts';
import type { KeptInterval, RecordingGap, RecordingSidecar } from './recording-sidecar.ts';
import { SampleClock } from './sample-clock.ts';

/** A block is written when this much is ready; with the margin it bounds what dies with the process. */
const BLOCK_MS = 300;
/** Audio this recent may still change: a clear can take it back, a late frame can fill it. */
const MARGIN_MS = 120;
/** What may be missing of a window that holds the margin, a block, and what is sent ahead: a tick that comes late. */
const SLACK_MS = 180;
/** Half a second and a message. */
const DEFAULT_AHEAD_MS = 600;
/** The caller's first frames come together where a start was busy: the last of them tells their delay. Nothing is placed before. */
const FIRST_FRAMES_MS = 60;
/** How far ahead of our clock a carrier's timestamps, and its audio, may be. */
const MOST_LEAD_MS = 10_000;

/**
 * When a call's sound begins to be kept. What the recogniser hears is another matter: it hears everything. `messages`: nothing is kept but
 * messages after the tone.
 */
export type KeepRule = 'after-announcement' | 'after-consent' | 'always' | 'messages';

/** A recording that another process began. */
export interface EarlierRecording {
  readonly path: string;
  /** Of audio that is in the file. */
  readonly dataBytes: number;
  /** Wall time of its first sample. */
  readonly startedAtWallMs: number;
  readonly gaps: readonly RecordingGap[];
  readonly kept: readonly KeptInterval[];
}

/**
 * Writes a call as a stereo WAV while it goes: caller left, bot right, on the carrier's sample clock. The header is
 * rewritten with each block, so the file is playable at any moment. A disk error stops the recording, never the call. What
 * may not be kept is silence in the file, whose clock goes on; before anything may be, there is no file.
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
  /** Of audio that came faster than it can have been spoken. */
  #refusedSamples = 0;
  /** Where the caller's audio has come to, by its timestamps. */
  #countedMs = 0;
  /** Where the audio of whoever the caller talks to has come to. */
  #otherEndMs: number | undefined;
  readonly #batch: CallerBatch;
  readonly #rateHz: number;
  readonly #blockMs: number;
  readonly #samplesPerMs: number;
  /** Where the bot's audio has a lower rate. */
  readonly #raised: RaisedTrack | undefined;
  /** Bot audio sent before the caller's first frames, which set the clock; undefined once it stands in the window. */
  #early: EarlyAudio | undefined;
  /** When the first frames have come. */
  #clockSetMs = 0;
  #attached = false;
  readonly #rule: KeepRule;
  readonly #kept: KeptInterval[] = [];
  #keptBeforeMessage = false;
  /** Where the caller's first frame stands: later than 0 behind early bot audio, and in a recording that another process began. */
  #resumesAtMs = 0;

  /**
   * @param aheadMs how long before it is played the bot's audio comes at most
   * @param rateHz of the caller's audio, and of the recording @param botRateHz of the bot's audio, the same or less
   * @param blockMs written when so much is ready @param earlier what another process has recorded of the call: this one goes on in its file
   */
  constructor(
    path: string,
    callId: string,
    rule: KeepRule = 'always',
    files: RecordingFiles = directRecordingFiles,
    aheadMs = DEFAULT_AHEAD_MS,
    rateHz = NARROW_RATE_HZ,
    botRateHz = rateHz,
    blockMs = BLOCK_MS,
    earlier?: EarlierRecording,
  ) {
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

  /** What another process would need to go on with it; undefined before the first frame. */
  get earlier(): { startedAtMs: number; gaps: RecordingGap[]; kept: { fromMs: number; toMs?: number }[] } | undefined {
    if (this.#startedAtWallMs === undefined) return undefined;
    const kept = this.#kept.map(({ fromMs, toMs }) => (toMs === undefined ? { fromMs } : { fromMs, toMs }));
    return { startedAtMs: this.#startedAtWallMs, gaps: [...this.#gaps], kept };
  }

  /** Whether any audio has been kept: without it there is no file. */
  get started(): boolean {
    return this.#startedAtWallMs !== undefined && this.#kept.length > 0;
  }

  /** The bot's greeting was heard to its end. */
  announced(nowMs: number): void {
    if (this.#rule === 'after-announcement') this.#keep(true, nowMs);
  }

  /** The dialog says whether the caller agrees, whatever the bot's rule. */
  consent(given: boolean, nowMs: number): void {
    if (this.#rule !== 'messages') this.#keep(given, nowMs);
  }

  /** The caller leaves a message after the tone, which is kept whatever the rule; behind it everything is as before. */
  message(on: boolean, nowMs: number): void {
    if (on) this.#keptBeforeMessage = this.#keeping;
    if (on || !this.#keptBeforeMessage) this.#keep(on, nowMs);
  }

  /** Why the disk refused a block, if it did. */
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

  /** Puts what has come of the caller where it belongs: before anything is taken out of the window, or silenced in it. */
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

  /** The caller's first frame, which comes now, starts the clock. */
  #begin(beganMs: number, nowMs: number, wallMs: number): void {
    const beganWallMs = wallMs - (nowMs - beganMs);
    if (this.#startedAtWallMs === undefined) this.#resumesAtMs = Math.max(0, beganMs - (this.#early?.startMs ?? beganMs));
    else this.#resumesAtMs = Math.max(this.#resumesAtMs, beganWallMs - this.#startedAtWallMs);
    this.#startedAtWallMs ??= beganWallMs - this.#resumesAtMs;
    this.#clockSetMs = nowMs + FIRST_FRAMES_MS;
  }

  /** Puts the bot's early audio where it belongs. */
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
   * A timestamp far ahead of our clock would make up hours of silence: samples are counted instead. Whatever the timestamps say,
   * and however much audio comes, nothing stands further along than the time since the recording began, with that lead.
   * @returns undefined for audio that would
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
   * Audio of whoever the caller talks to, of a call that is only listened to; it stands where the bot's does otherwise.
   * @param timestampMs the carrier's, on the same clock as the caller's, or undefined to count samples instead
   */
  other(pcm: Int16Array, timestampMs: number | undefined, nowMs: number): void {
    this.#flushUntil(nowMs);
    const durationMs = pcm.length / this.#samplesPerMs;
    const arrivedMs = this.#clock.positionAt(nowMs - durationMs);
    // Before the caller is heard there is no clock.
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

  /** Silences the caller from this moment on, as far as it has not been written: at most the last 120 ms. */
  silenceCaller(nowMs: number): void {
    this.#settle();
    const positionMs = this.#clock.positionAt(nowMs);
    if (positionMs !== undefined) this.#window.silenceFrom('left', Math.round(positionMs * this.#samplesPerMs));
  }

  /** The carrier's socket is gone; the next caller frame starts a new attachment after a marked gap. */
  detached(nowMs: number, reason: string): void {
    this.#settle();
    this.#attached = false;
    const fromMs = this.#clock.positionAt(nowMs);
    if (fromMs !== undefined) this.#openGap ??= { fromMs, reason };
  }

  /** Time alone: writes what is ready although no frame arrived. */
  tick(nowMs: number): void {
    this.#flushUntil(nowMs);
  }

  /** Position of a monotonic moment in the recording, in ms. */
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
    // What the carrier has still to play, and what is on its way here, is no more to be kept either.
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

  /** More frames may tell a lesser delay, and the window has room for them. */
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

  /** Writes what is before this sample: it may be more than the window holds where nothing came for a while. */
  #takeUntil(sample: number): void {
    this.#putEarly();
    if (this.#window.startSample >= sample) return;
    this.#raised?.beforeTaking(sample);
    while (this.#window.startSample < sample) this.#write(this.#window.take(sample));
  }

  #write(interleaved: Int16Array<ArrayBuffer>): void {
    if (interleaved.length === 0 || this.failure !== undefined) return;
    const block = pcm16Bytes(interleaved);
    // What was never to be kept has no file; one that is made later is silent up to there.
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
