import { PLATFORM_RECOGNITION, PLATFORM_SYNTHESIS } from '../../../src/speech/platform-capabilities.ts';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeMulaw } from '../../../src/audio/g711.ts';
import { rmsLevelDb } from '../../../src/audio/level.ts';
import { dtmf } from '../../../src/audio/tone.ts';
import { type AudioFormat, MULAW_8K } from '../../../src/audio/format.ts';
import type { CallIdentity, CallRecord } from '../../../src/call/log/call-record.ts';
import { SoundLibrary } from '../../../src/call/outbound/sounds/sound-library.ts';
import type { Sounds } from '../../../src/call/outbound/sounds/port.ts';
import { CallSession } from '../../../src/call/session.ts';
import type { CallNews } from '../../../src/call/log/call-news.ts';
import type { CallServices } from '../../../src/call/services.ts';
import { DEFAULT_LEAD } from '../../../src/call/outbound/playout-pace.ts';
import { directRecordingFiles } from '../../../src/call/recording/recording-file.ts';
import { ANSWER_READER } from '../../../src/call/control/answer-reader.ts';
import type { RefusedCalls } from '../../../src/call/control/refusals.ts';
import { turnMachine } from '../../../src/call/turn/turn.ts';
import { SecretVault } from '../../../src/call/control/secret-vault.ts';
import { Ticker } from '../../../src/call/ticker.ts';
import type { Attachment, CallControl, CarrierCapabilities, MediaEvent, StreamStarted } from '../../../src/carriers/port.ts';
import { botSettings, type Bot } from '../../../src/config/bots.ts';
import type { DialogAction, DialogTurn } from '../../../src/dialog/port.ts';
import { createEvents } from '../../../src/observability/events.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { createMetrics } from '../../../src/observability/metrics.ts';
import { SentenceCutter } from '../../../src/speech/tts/sentences.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import type { RecognitionEvent, RecognitionOptions } from '../../../src/speech/port.ts';
import { Destinations } from '../../../src/config/destinations.ts';

const QUIET = new Int16Array(160);
export const LOUD = decodeMulaw(Uint8Array.from({ length: 160 }, (_, index) => (index % 20 < 10 ? 0x10 : 0x90)));

/** What the samples of a leg are. */
export interface BenchLeg {
  readonly rateHz: number;
  readonly speechFormat: AudioFormat;
}

const TELEPHONE_LEG: BenchLeg = { rateHz: 8_000, speechFormat: MULAW_8K };

/** A carrier that plays what it gets in real time and echoes marks when they are reached. */
export class BenchAttachment implements Attachment {
  readonly id: string;
  readonly carrier = 'bench';
  readonly bufferedBytes = 0;
  capabilities: CarrierCapabilities = {
    clear: 'native',
    marks: 'native',
    marksReturnOnClear: 'yes',
    pacing: 'burst',
    frameMs: 20,
    dtmfOut: 'reattach',
  };
  /** Keys and transfers that it was sent as messages. */
  readonly messages: string[] = [];
  readonly started: StreamStarted;
  readonly rateHz: number;
  readonly speechFormat: AudioFormat;
  readonly #samplesPerMs: number;
  readonly #clock: ManualClock;
  #listener: (event: MediaEvent) => void = () => undefined;
  #endMs = 0;
  #generation = 0;
  closedBecause: string | undefined;
  clears = 0;
  sentSamples = 0;
  /** How often audio came after the queue had run dry. */
  gaps = 0;
  /** Of each message, in dBFS. */
  readonly levels: number[] = [];
  /** What the caller hears, from the start of the clock on, at the rate of `speechFormat`. */
  heard = new Int16Array(0);
  /** What a mark comes back as, how long after it was reached; undefined for never. */
  echoOf: (name: string) => { readonly name: string; readonly lateMs: number } | undefined = (name) => ({ name, lateMs: 0 });
  /** Samples of `heard` at which marks were reached, by name. */
  readonly markedAt = new Map<string, number>();

  constructor(clock: ManualClock, id: string, { rateHz, speechFormat }: BenchLeg = TELEPHONE_LEG, carrierCallId = 'CA1') {
    this.#clock = clock;
    this.id = id;
    this.rateHz = rateHz;
    this.speechFormat = speechFormat;
    this.#samplesPerMs = speechFormat.rateHz / 1000;
    const inbound = rateHz === 8_000 ? MULAW_8K : ({ encoding: 'pcm16', rateHz } as const);
    this.started = { type: 'started', streamId: id, carrierCallId, inbound, outbound: speechFormat, parameters: {} };
  }

  listen(listener: (event: MediaEvent) => void): void {
    this.#listener = listener;
  }

  emit(event: MediaEvent): void {
    this.#listener(event);
  }

  sendAudio(pcm: Int16Array): void {
    const frameSamples = Math.max(1, this.capabilities.frameMs * this.#samplesPerMs);
    // As `SocketAttachment` does.
    if (pcm.length % frameSamples !== 0) throw new RangeError(`${pcm.length} samples are no whole frames`);
    if (this.sentSamples > 0 && this.#clock.nowMs() > this.#endMs) this.gaps += 1;
    this.levels.push(rmsLevelDb(pcm));
    this.sentSamples += pcm.length;
    const at = Math.round(Math.max(this.#clock.nowMs(), this.#endMs) * this.#samplesPerMs);
    const heard = new Int16Array(at + pcm.length);
    heard.set(this.heard.subarray(0, at));
    heard.set(pcm, at);
    this.heard = heard;
    this.#endMs = (at + pcm.length) / this.#samplesPerMs;
  }

  sendMark(name: string): void {
    const generation = this.#generation;
    const echo = this.echoOf(name);
    if (echo === undefined) return;
    this.#clock.after(this.#endMs - this.#clock.nowMs() + echo.lateMs, () => {
      if (generation !== this.#generation) return;
      this.markedAt.set(name, Math.round(this.#clock.nowMs() * this.#samplesPerMs));
      this.emit({ type: 'mark', name: echo.name });
    });
  }

  sendDigits(digits: string): void {
    this.messages.push(`keys ${digits}`);
  }

  sendTransfer(to: string): void {
    this.messages.push(`transfer ${to}`);
  }

  sendClear(): void {
    this.clears += 1;
    this.#generation += 1;
    this.#endMs = this.#clock.nowMs();
    this.heard = this.heard.slice(0, Math.round(this.#endMs * this.#samplesPerMs));
  }

  close(reason: string): void {
    this.closedBecause ??= reason;
  }

  get playing(): boolean {
    return this.#clock.nowMs() < this.#endMs;
  }
}

export type DialogScript = (turn: DialogTurn, signal: AbortSignal) => AsyncIterable<DialogAction>;

/** One call on a clock that is turned by hand: its carrier, recogniser, synthesizer and dialog are played by the test. */
export class CallBench {
  readonly metrics = createMetrics();
  readonly clock = new ManualClock(10_000);
  readonly news: CallNews[] = [];
  readonly asked: DialogTurn[] = [];
  readonly journal: CallRecord[] = [];
  readonly warnings: string[] = [];
  readonly refused: RefusedCalls[] = [];
  readonly session: CallSession;
  readonly vault = new SecretVault(this.clock);
  /** What the recogniser was sent. */
  readonly listened: number[] = [];
  readonly folder = mkdtempSync(join(tmpdir(), 'offhook-call-'));
  attachment: BenchAttachment;
  commits = 0;
  /** How long a sentence takes to speak, in ms for each character. */
  msPerCharacter = 60;
  /** What a sentence sounds like; a steady mu-law rattle when undefined. */
  voiceOf: ((text: string, format: AudioFormat) => Uint8Array) | undefined;
  /** What speech was asked for as. */
  readonly askedAs: AudioFormat[] = [];
  /** Whether the dialog of the call heeds what it is whispered; said before its construction. */
  readonly takesAdvice: boolean;
  synthesisFails = false;
  synthesisHangs = false;
  newsFails = false;
  detectorFails = false;
  /** How much what the caller voices is like speech, 0 to 1. */
  speechLike = 1;
  dispose: () => Promise<void> = async () => undefined;
  spareSlots = 1;
  control: CallControl | undefined;
  destinations = Destinations.anywhere;
  ambience: Int16Array | undefined;
  sounds: Sounds = new SoundLibrary({ clock: this.clock });
  /** Every recogniser session that was opened, oldest first. */
  readonly recognitions: RecognitionOptions[] = [];
  /** Numbers of the sessions that were closed, in the order of that. */
  readonly aborted: number[] = [];
  readonly #opened: ((event: RecognitionEvent) => void)[] = [];
  #recognise: (event: RecognitionEvent) => void = () => undefined;
  #timestampMs = 0;
  #attachments = 0;
  record: CallRecord | undefined;

  /** @param own what the call has in place of the bench's recogniser and synthesizer */
  constructor(
    dialog: DialogScript,
    bot: Partial<Bot> = {},
    about: Partial<CallIdentity> = {},
    own: (clock: ManualClock) => Partial<CallServices> = () => ({}),
    leg = TELEPHONE_LEG,
    takesAdvice = true,
  ) {
    this.takesAdvice = takesAdvice;
    this.attachment = new BenchAttachment(this.clock, 'att_0', leg);
    const settings = botSettings.parse({ name: 'bench', voice: 'Nisha', dialog: { kind: 'module', file: 'bench.js' } });
    const services: CallServices = {
      clock: this.clock,
      logger: { ...silentLogger, warn: (_, message) => void this.warnings.push(message) },
      events: createEvents(silentLogger, this.metrics, this.clock),
      ticker: new Ticker(this.clock, 20, (error) => {
        throw error;
      }),
      spareRecognition: () => (this.spareSlots > 0 ? this.#takeSlot() : undefined),
      recogniser: {
        capabilities: PLATFORM_RECOGNITION,
        open: (options, listener) => {
          this.recognitions.push(options);
          this.#opened.push(listener);
          if (options.boostPhrases === undefined) this.#recognise = listener;
          const number = this.recognitions.length - 1;
          return {
            send: (pcm) => void this.listened.push(...pcm),
            commit: () => void (this.commits += 1),
            end: async () => undefined,
            abort: () => void this.aborted.push(number),
          };
        },
      },
      synthesizer: { capabilities: PLATFORM_SYNTHESIS, speak: (request) => this.#speak(request.text, request.format) },
      ambienceOf: () => this.ambience,
      sounds: { play: (...asked) => this.sounds.play(...asked) },
      createDetector: () => ({
        process: (frame) => {
          if (this.detectorFails) throw new Error('the detector is broken');
          const voiced = frame.some((sample) => Math.abs(sample) > 1_000);
          return { voiced, speechLike: voiced ? this.speechLike : 0 };
        },
        close: () => undefined,
      }),
      createCutter: () => new SentenceCutter(),
      vault: this.vault,
      recordingsFolder: this.folder,
      recordingFiles: directRecordingFiles,
      playout: DEFAULT_LEAD,
      journal: (record) => void this.journal.push(record),
      dialling: { identityName: 'Acme', callbackNumber: '+18005550100' },
      refused: (refused) => void this.refused.push(refused),
      ended: async (record) => void (this.record = record),
      machine: turnMachine(ANSWER_READER),
      controlOf: () => this.control,
      destinationsOf: () => this.destinations,
      news: (news) => {
        if (this.newsFails) throw new Error('the console is broken');
        this.news.push(news);
      },
      ...own(this.clock),
    };
    const asked = this.asked;
    this.session = new CallSession(
      {
        callId: 'call_bench',
        tenantId: 'default',
        inbound: { carrier: 'bench', carrierCallId: 'CA1', from: '+1', to: '+2', direction: 'inbound', botName: undefined },
        bot: { ...settings, folder: this.folder, ...bot },
        dialog: {
          create: () => ({
            takesAdvice: this.takesAdvice,
            dispose: () => this.dispose(),
            respond(turn, signal) {
              asked.push(turn);
              return dialog(turn, signal);
            },
          }),
        },
        ...about,
      },
      services,
    );
  }

  async *#speak(text: string, format = MULAW_8K): AsyncIterable<Uint8Array> {
    this.askedAs.push(format);
    if (this.synthesisHangs) await new Promise(() => undefined);
    if (this.synthesisFails) throw new Error('no voice');
    const spoken = this.voiceOf?.(text, format);
    for (let at = 0; at < (spoken?.length ?? 0); at += 800) yield spoken?.subarray(at, at + 800) ?? new Uint8Array();
    if (spoken !== undefined) return;
    const bytes = Math.ceil((text.length * this.msPerCharacter) / 20) * 160;
    for (let at = 0; at < bytes; at += 800) yield LOUD_SPEECH.subarray(0, Math.min(800, bytes - at));
  }

  /** Connects the carrier. @param quietMs how long the line is then quiet, beyond its first 100 ms */
  async start(quietMs = 0): Promise<this> {
    this.session.attach(this.attachment);
    return this.quiet(100 + quietMs);
  }

  /** The caller speaks and falls silent, and the recogniser has understood it. @param thenMs how long the line is quiet after that */
  async says(seg: number, text: string, thenMs = 0, voiceMs = 400, silentMs = 660): Promise<this> {
    await this.voice(voiceMs);
    await this.quiet(silentMs);
    return this.recognised(seg, text).quiet(thenMs);
  }

  /** Ends the call. @returns its record */
  async hangUp(reason: string): Promise<CallRecord> {
    this.session.hangUp(reason);
    return this.session.ended;
  }

  /** A new socket for the same call. */
  async reattach(leg: BenchLeg = this.attachment): Promise<this> {
    this.#attachments += 1;
    this.#timestampMs = 0;
    this.attachment = new BenchAttachment(this.clock, `att_${this.#attachments}`, leg);
    this.session.attach(this.attachment);
    return this.settle();
  }

  async quiet(ms: number): Promise<this> {
    return this.#line(ms, new Int16Array(this.attachment.rateHz / 50));
  }

  /** The sound of a key. */
  async tone(key: string, ms: number): Promise<this> {
    return this.#line(ms, dtmf(key, 20, 8_000));
  }

  async voice(ms: number): Promise<this> {
    return this.#line(ms, LOUD);
  }

  /** Connects the carrier of a call that we placed; a person says hello, and is about to be greeted. */
  async answered(): Promise<this> {
    this.session.attach(this.attachment);
    return (await this.voice(400)).quiet(440);
  }

  /** Any sound at the leg's rate; whole frames. */
  async sound(pcm: Int16Array): Promise<this> {
    const samples = this.attachment.rateHz / 50;
    for (let at = 0; at + samples <= pcm.length; at += samples) await this.#line(20, pcm.subarray(at, at + samples));
    return this;
  }

  /** Time in which the carrier sends nothing. */
  async wait(ms: number): Promise<this> {
    for (let passed = 0; passed < ms; passed += 20) {
      this.clock.advance(20);
      await this.settle();
    }
    return this;
  }

  /** What has waited on the line comes all at once. @param frames `v` for 20 ms of voice, `.` for 20 ms of quiet */
  async burst(frames: string): Promise<this> {
    for (const frame of frames) this.#frame(frame === 'v' ? LOUD : QUIET);
    return this.settle();
  }

  /** @param mark whether it is the last final of a commit; `unmarked` where the platform does not say */
  recognised(seg: number, text: string, mark: boolean | 'unmarked' = true): this {
    const endOfUtterance = mark === 'unmarked' ? undefined : mark;
    this.#recognise({ type: 'final', seg, text, endOfUtterance, language: 'en' });
    return this;
  }

  partial(seg: number, text: string): this {
    this.#recognise({ type: 'partial', seg, text });
    return this;
  }

  /** The session that was opened last is ready, and is the one that hears from here on. */
  biasedReady(): this {
    const listener = this.#opened.at(-1);
    listener?.({ type: 'ready' });
    this.#recognise = listener ?? this.#recognise;
    return this;
  }

  /** The session that was opened last is ready, when it is of no use. */
  biasedIsReadyTooLate(): this {
    this.#opened.at(-1)?.({ type: 'ready' });
    return this;
  }

  #takeSlot(): { release(): void } {
    this.spareSlots -= 1;
    return { release: () => void (this.spareSlots += 1) };
  }

  recogniserCloses(error: Error | undefined): this {
    this.#recognise({ type: 'closed', error });
    return this;
  }

  /** Lets everything that is ready to run, run. */
  async settle(): Promise<this> {
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    return this;
  }

  floor(): readonly string[] {
    return this.news.flatMap((news) => (news.type === 'floor' ? [news.what] : []));
  }

  [Symbol.dispose](): void {
    this.session.hangUp('the bench is put away');
    void this.session.ended.then(() => rmSync(this.folder, { recursive: true, force: true }));
  }

  async #line(ms: number, pcm: Int16Array): Promise<this> {
    for (let passed = 0; passed < ms; passed += 20) {
      this.clock.advance(20);
      this.#frame(pcm);
      await this.settle();
    }
    return this;
  }

  #frame(pcm: Int16Array): void {
    // The call may make silence of what it is lent.
    this.attachment.emit({ type: 'audio', pcm: pcm.slice(), timestampMs: this.#timestampMs });
    this.#timestampMs += 20;
  }
}

const LOUD_SPEECH = Uint8Array.from({ length: 800 }, (_, index) => (index % 40 < 20 ? 0x20 : 0xa0));
