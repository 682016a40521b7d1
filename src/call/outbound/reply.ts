import { LentSamples } from '../../audio/codec.ts';
import type { AudioFormat } from '../../audio/format.ts';
import { sleep } from '../../kernel/waiting.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Interruptible, MadeSpeech } from '../../dialog/port.ts';
import type { Synthesizer } from '../../speech/port.ts';
import type { OutboundAudio } from './outbound-audio.ts';

export interface Utterance {
  readonly text: string;
  readonly voice: string;
  readonly language: string;
  readonly speed: number;
  readonly interruptible: Interruptible;
  /** The audio of the text; synthesized where absent. */
  readonly made?: MadeSpeech | undefined;
}

/** A sound on its way to the caller, and the words spoken if it cannot be played. */
export interface SoundToPlay {
  readonly source: string;
  readonly label: string;
  readonly loop: number;
  readonly preemptible: boolean;
  readonly interruptible: Interruptible;
  readonly instead: Utterance | undefined;
}

/** Notes when a sentence was requested, and when its first audio came. */
export interface SynthesisTimes {
  add(event: {
    readonly type: 'tts-asked' | 'tts-first-byte';
    readonly atMs: number;
    readonly turn: number;
    readonly unitId: string;
  }): void;
}

/** Makes the audio of a reply. */
export interface AudioMakers {
  readonly synthesizer: Synthesizer;
  /** @param format of the returned bytes */
  readonly sound: (source: string, format: AudioFormat, signal: AbortSignal) => AsyncIterable<Uint8Array>;
}

/** Whose words a reply begins with: the dialog's, a stock phrase of the bot, or a text from outside of it, such as an operator's. */
export type ReplySource = 'dialog' | 'phrase' | 'interjection';

export interface ReplyOptions {
  readonly turnIndex: number;
  readonly source: ReplySource;
  /** Prefix of its sentence ids; unique in the call. */
  readonly unitPrefix: string;
  /** Called once when a sentence could not be synthesized; the reply ends there. */
  readonly onFailure: (error: unknown) => void;
  /** Called for each sound that could not be played; the reply goes on. */
  readonly onMissing: (source: string, error: unknown) => void;
}

/** Sentences that may wait for synthesis; beyond it the dialog waits. */
const MOST_WAITING = 10;
/** Audio made ahead of playout: an interrupted reply then costs little. */
const MOST_AHEAD_MS = 20_000;
const LOOK_EVERY_MS = 250;

/** The chunk being pushed, shared by all replies: playout copies it. */
const made = new LentSamples();

export interface Queued {
  readonly audible: Utterance | SoundToPlay;
  readonly unitId: string;
}

/** A sound that ends as soon as something follows it. */
interface GivingWay {
  readonly abort: AbortController;
  readonly unitIds: string[];
}

/**
 * One reply on its way to the caller: its sentences are synthesized in order, ahead of playout, and streamed into the line. Ends when closed and its
 * last sentence is made, or when aborted.
 */
export class Reply {
  readonly turnIndex: number;
  readonly source: ReplySource;
  readonly #outbound: OutboundAudio;
  readonly #makers: AudioMakers;
  readonly #clock: Clock;
  readonly #timeline: SynthesisTimes;
  readonly #options: ReplyOptions;
  readonly #abort = new AbortController();
  /** Mirrors the signal, which is slow to query. */
  #aborted = false;
  readonly #queue: Queued[] = [];
  /** Everything queued so far, heard or not. */
  readonly said: Queued[] = [];
  /** Sentences the caller heard before a crash: each is skipped once. */
  heardBefore: Set<string> | undefined;
  readonly #policies = new Map<string, Interruptible>();
  #made = 0;
  #closed = false;
  #running = false;
  #loading = false;
  #madeRoom: () => void = () => undefined;
  #firstAudioMs: number | undefined;
  #madeMs = 0;
  #givingWay: GivingWay | undefined;

  constructor(outbound: OutboundAudio, makers: AudioMakers, clock: Clock, timeline: SynthesisTimes, options: ReplyOptions) {
    this.#outbound = outbound;
    this.#makers = makers;
    this.#clock = clock;
    this.#timeline = timeline;
    this.#options = options;
    this.turnIndex = options.turnIndex;
    this.source = options.source;
  }

  /** Aborted with the reply; the dialog's answer is bound to it. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get aborted(): boolean {
    return this.#aborted;
  }

  /** No more audio will be queued. */
  get done(): boolean {
    return this.#aborted || (this.#closed && !this.#running && this.#queue.length === 0);
  }

  /** A sentence is being synthesized. Loading a sound has a deadline of its own. */
  get synthesizing(): boolean {
    return this.#running && !this.#loading;
  }

  /** The policy of a sentence of this reply; undefined for other audio. */
  policyOf(unitId: string): Interruptible | undefined {
    return this.#policies.get(unitId);
  }

  say(utterance: Utterance): void {
    if (utterance.made === undefined && this.heardBefore?.delete(utterance.text) === true) return;
    this.#enqueue(utterance);
  }

  play(sound: SoundToPlay): void {
    this.#enqueue(sound);
  }

  #enqueue(audible: Utterance | SoundToPlay): void {
    if (this.#aborted) return;
    const unitId = this.#newUnit(audible.interruptible);
    const queued = { audible, unitId };
    this.#queue.push(queued);
    this.said.push(queued);
    this.#endSound();
    if (!this.#running) void this.#run();
  }

  #newUnit(policy: Interruptible): string {
    const unitId = `${this.#options.unitPrefix}${this.#made}`;
    this.#made += 1;
    this.#policies.set(unitId, policy);
    return unitId;
  }

  /** What was queued so far comes again and is skipped. */
  passOverSaid(): void {
    this.heardBefore = new Set(this.said.flatMap(({ audible }) => ('source' in audible ? [] : [audible.text])));
  }

  /** Resolves when more can be queued, or on abort: an endless dialog must not fill the memory. */
  async room(): Promise<void> {
    while (this.#queue.length >= MOST_WAITING && !this.#aborted) {
      await new Promise<void>((resolve) => {
        this.#madeRoom = resolve;
      });
    }
  }

  /** Ends the reply after the sentences queued so far. */
  close(): void {
    this.#closed = true;
  }

  abort(): void {
    this.#aborted = true;
    this.#queue.length = 0;
    this.#abort.abort(new Error('the reply was cancelled'));
    this.#madeRoom();
  }

  async #run(): Promise<void> {
    this.#running = true;
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      this.#madeRoom();
      this.#givingWay = undefined;
      try {
        await this.#notFarAhead(this.signal);
        await ('source' in next.audible ? this.#play(next.audible, next.unitId) : this.#speak(next.audible, next.unitId));
      } catch (error) {
        if (!this.#aborted) this.#options.onFailure(error);
        this.#queue.length = 0;
        this.#madeRoom();
      }
    }
    this.#running = false;
  }

  /** Waits while enough audio is made ahead. */
  async #notFarAhead(signal: AbortSignal): Promise<void> {
    const aheadMs = (): number => this.#madeMs - (this.#clock.nowMs() - (this.#firstAudioMs ?? 0));
    while (this.#firstAudioMs !== undefined && aheadMs() > MOST_AHEAD_MS) await sleep(this.#clock, LOOK_EVERY_MS, signal);
  }

  async #speak({ text, voice, language, speed, made: own }: Utterance, unitId: string): Promise<void> {
    this.#outbound.begin({ unitId, turnIndex: this.turnIndex, text, ...(own === undefined ? {} : { grows: true }) });
    const { ledger, speechFormat: format } = this.#outbound;
    own?.placed(() => ledger.heardOf(unitId));
    this.#asked(unitId);
    let first = true;
    let whole = true;
    try {
      const request = { text, voice, language, speed, format };
      const source = own?.audio(format, this.signal) ?? this.#makers.synthesizer.speak(request, this.signal);
      for await (const audio of source) {
        if (this.#aborted) return;
        if (own !== undefined) ledger.rewrite(unitId, own.text);
        this.#push(unitId, audio, first);
        first = false;
      }
    } catch (error) {
      whole = this.#aborted;
      throw error;
    } finally {
      if (own !== undefined) ledger.rewrite(unitId, own.text);
      // Also after a failure: a unit without an end would block the line.
      this.#outbound.end(unitId, this.#clock.nowMs(), whole && own?.isWhole !== false);
    }
  }

  async #play(sound: SoundToPlay, firstUnitId: string): Promise<void> {
    const giveWay: GivingWay = { abort: new AbortController(), unitIds: [] };
    const signal = AbortSignal.any([this.signal, giveWay.abort.signal]);
    if (sound.preemptible) this.#givingWay = giveWay;
    if (this.#queue.length > 0) this.#endSound();
    try {
      for (let time = 0; time < sound.loop && !signal.aborted; time += 1) {
        const unitId = time === 0 ? firstUnitId : this.#newUnit(sound.interruptible);
        // Each repetition is a unit, and only the first has words, so that the history has them once.
        await this.#playOnce(sound.source, { unitId, text: time === 0 ? sound.label : '' }, giveWay.unitIds, signal);
      }
    } catch (error) {
      if (this.#aborted) throw error;
      if (giveWay.abort.signal.aborted) return;
      this.#options.onMissing(sound.source, error);
      if (giveWay.unitIds.length === 0 && sound.instead !== undefined) await this.#speak(sound.instead, firstUnitId);
    }
  }

  /** @param begun gets the unit once part of it can be heard */
  async #playOnce(
    source: string,
    { unitId, text }: { readonly unitId: string; readonly text: string },
    begun: string[],
    signal: AbortSignal,
  ): Promise<void> {
    this.#asked(unitId);
    let first = true;
    this.#loading = true;
    try {
      for await (const audio of this.#makers.sound(source, this.#outbound.speechFormat, signal)) {
        this.#loading = false;
        if (first) {
          this.#outbound.begin({ unitId, turnIndex: this.turnIndex, text });
          begun.push(unitId);
        } else await this.#notFarAhead(signal);
        if (signal.aborted) return;
        this.#push(unitId, audio, first);
        first = false;
      }
    } finally {
      this.#loading = false;
      if (!first) this.#outbound.end(unitId, this.#clock.nowMs());
    }
  }

  /** Ends a sound that yields to what follows. */
  #endSound(): void {
    this.#givingWay?.abort.abort(new Error('the next sentence ended the sound'));
    this.#madeMs -= this.#outbound.shorten(this.#givingWay?.unitIds ?? [], this.#clock.nowMs());
    this.#givingWay = undefined;
  }

  #asked(unitId: string): void {
    this.#timeline.add({ type: 'tts-asked', atMs: this.#clock.nowMs(), turn: this.turnIndex, unitId });
  }

  #push(unitId: string, audio: Uint8Array, first: boolean): void {
    const nowMs = this.#clock.nowMs();
    if (first) this.#timeline.add({ type: 'tts-first-byte', atMs: nowMs, turn: this.turnIndex, unitId });
    this.#firstAudioMs ??= nowMs;
    const { encoding, rateHz } = this.#outbound.speechFormat;
    const pcm = made.decode(encoding, audio);
    this.#madeMs += (pcm.length * 1000) / rateHz;
    this.#outbound.push(unitId, pcm, nowMs);
  }
}
