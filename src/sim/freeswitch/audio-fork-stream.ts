import type { Clock } from '../../kernel/clock.ts';
import { CarrierLine, type LineOptions } from '../carrier-line.ts';
import type { CarrierWire } from '../carrier-wire.ts';

export interface AudioForkOptions {
  /** What the module sends first: JSON, or any text. */
  readonly metadata: Readonly<Record<string, unknown>> | string;
  /** Of the audio in both directions. */
  readonly rateHz: number;
  /** Both sides, interleaved. */
  readonly stereo?: boolean;
  /** What is said of a key; jambonz' own message when absent. */
  readonly keyMessage?: (digit: string) => object;
  /** Whether the module takes a raw stream of samples from us, in place of whole clips. */
  readonly streaming?: boolean;
}

/** Samples at the telephone's rate that the first audio waits for, and that later audio moves on by. */
const PREBUFFER_SAMPLES = 1_280;
const STEP_SAMPLES = 640;
const TELEPHONE_HZ = 8_000;
const MOST_MARKS = 30;
/** In place of a name in the playout. */
const MARKER = 'marker';

/**
 * mod_audio_fork's side of one socket (jambonz/freeswitch-modules mod_audio_fork: README.md, lws_glue.cpp): metadata, then binary samples both ways. Its
 * marks are samples of their own in the playout, which are given the names that wait, oldest first, and outlive a clear.
 */
export class SimulatedAudioFork extends CarrierLine {
  readonly texts: string[] = [];
  /** The gateway asked for the end of the fork. */
  onDisconnect: () => void = () => this.stop();
  readonly #options: AudioForkOptions;
  readonly #step: number;
  #isPrimed = false;
  /** Samples that have not moved to the playout. */
  #input: Buffer[] = [];
  #inputBytes = 0;
  #oddByte: Buffer = Buffer.alloc(0);
  /** Names without a marker yet, with one, and with one that was thrown away by a clear. */
  readonly #unsent: string[] = [];
  readonly #inUse: string[] = [];
  readonly #cleared: string[] = [];

  constructor(wire: CarrierWire, clock: Clock, options: AudioForkOptions, line: LineOptions = {}) {
    const { rateHz, stereo = false, metadata } = options;
    const format = { encoding: 'pcm16', rateHz } as const;
    super(wire, clock, { from: format, to: format, ...(stereo ? { sides: 'stereo' } : {}) }, line);
    this.#options = options;
    this.#step = STEP_SAMPLES * 2 * Math.max(1, rateHz / TELEPHONE_HZ);
    this.send(typeof metadata === 'string' ? metadata : JSON.stringify(metadata));
    this.begin();
    this.watch(() => this.#tick());
  }

  protected override sendDigit(digit: string): void {
    this.tell(this.#options.keyMessage?.(digit) ?? { event: 'dtmf', dtmf: digit, duration: '1600' });
  }

  protected override received(message: Buffer, isBinary: boolean): void {
    if (!isBinary) this.#command(message.toString('utf8'));
    else if (this.#options.streaming === false) this.complain('binary audio without bidirectionalAudio.streaming is thrown away');
    else this.#audio(message);
  }

  protected override markPlayed(): void {
    const cleared = this.#cleared.shift();
    const name = cleared ?? this.#inUse.shift();
    if (name !== undefined) this.#report(name, cleared === undefined ? 'playout' : 'cleared');
  }

  #audio(message: Buffer): void {
    const whole = Buffer.concat([this.#oddByte, message]);
    const even = whole.length - (whole.length % 2);
    this.#oddByte = Buffer.from(whole.subarray(even));
    for (let at = 0; at < even; at += 2)
      if (whole.readInt16LE(at) === -1) return this.complain('a sample of -1 is taken for a mark');
    // Marks move with the first audio behind them.
    for (const name of this.#unsent.splice(0)) {
      this.#move();
      this.mark(MARKER);
      this.#inUse.push(name);
    }
    this.#input.push(Buffer.from(whole.subarray(0, even)));
    this.#inputBytes += even;
    const needed = this.#isPrimed ? this.#step : (this.#step * PREBUFFER_SAMPLES) / STEP_SAMPLES;
    if (this.#inputBytes < needed) return;
    this.#isPrimed = true;
    this.#move();
  }

  #move(): void {
    if (this.#inputBytes > 0) this.play(Buffer.concat(this.#input));
    this.#input = [];
    this.#inputBytes = 0;
  }

  #command(text: string): void {
    this.texts.push(text);
    const { type, data } = JSON.parse(text) as { readonly type?: unknown; readonly data?: { readonly name?: unknown } };
    switch (type) {
      case 'killAudio':
        this.clear();
        this.#input = [];
        this.#inputBytes = 0;
        this.#cleared.push(...this.#inUse.splice(0));
        return;
      case 'mark':
        if (this.#unsent.length + this.#inUse.length + this.#cleared.length < MOST_MARKS) this.#unsent.push(String(data?.name));
        return;
      case 'disconnect':
        return this.onDisconnect();
      default:
        this.complain(`unknown message ${text.slice(0, 60)}`);
    }
  }

  /** Marks that no audio came behind, one every 20 ms, unless others wait for a marker that was thrown away. */
  #tick(): void {
    if (this.playout.queuedMs > 0 || this.#inUse.length > 0 || this.#cleared.length > 0) return;
    const name = this.#unsent.shift();
    if (name !== undefined) this.#report(name, 'playout');
  }

  #report(name: string, event: 'playout' | 'cleared'): void {
    this.tell({ type: 'mark', data: { name, event } });
  }
}
