import type { CallRecord } from '../../src/call/log/call-record.ts';
import type { CallNews } from '../../src/call/log/call-news.ts';
import { encodeMulaw } from '../../src/audio/g711.ts';
import { joinSamples } from '../../src/audio/samples.ts';
import type { WireTap } from '../../src/sim/carrier-line.ts';
import type { SimulatedCall } from '../../src/sim/twilio/carrier.ts';
import type { SimulatedStream, StreamOptions } from '../../src/sim/twilio/stream.ts';
import { monotonicOffsetMs } from '../capacity/processor.ts';
import type { Stimulus } from './stimuli.ts';
import { stamp } from './watermark.ts';

/** What the gateway's process tells of one call; times are on the machine's monotonic clock. */
export interface CallWitness {
  readonly news: (CallNews & { readonly atMs: number })[];
  readonly record: Promise<CallRecord>;
  readonly recorded: (record: CallRecord) => void;
}

export interface Said {
  readonly stimulus: Stimulus;
  /** First sample on the carrier's clock, counted from the start of the stream. */
  readonly atSample: number;
  /** When the frame with that sample was written to the gateway's socket; machine's monotonic clock. */
  readonly onsetMs: () => number;
}

const FRAME_SAMPLES = 160;
const SAMPLES_PER_MS = 8;
const offsetMs = monotonicOffsetMs();

/** One call as caller and carrier see it. Times of the wire are on the machine's monotonic clock. */
export class BenchCall {
  readonly clearsMs: number[] = [];
  readonly options: Required<Pick<StreamOptions, 'tap' | 'encode'>>;
  readonly #sentMs: number[] = [];
  /** Marks to stamp, by the frame they begin in. */
  readonly #marks = new Map<number, number>();
  #call: SimulatedCall | undefined;
  #witness: CallWitness | undefined;
  #silentSinceMs = 0;

  constructor() {
    const tap: WireTap = {
      sent: (frame, atMs) => {
        this.#sentMs[frame] = atMs + offsetMs;
      },
      received: (message, _isBinary, atMs) => {
        if (message.includes('"event":"clear"')) this.clearsMs.push(atMs + offsetMs);
      },
    };
    const encode = (frame: Int16Array, fromSample: number): Uint8Array => {
      const codes = encodeMulaw(frame);
      const id = this.#marks.get(fromSample / FRAME_SAMPLES);
      if (id !== undefined) stamp(codes, id);
      return codes;
    };
    this.options = { tap, encode };
  }

  begin(call: SimulatedCall, witness: CallWitness): void {
    this.#call = call;
    this.#witness = witness;
    this.stream.watch(() => {
      if (this.stream.playout.queuedMs > 0) this.#silentSinceMs = this.stream.nowMs;
    });
  }

  get stream(): SimulatedStream {
    return this.#call!.stream;
  }

  get news(): CallWitness['news'] {
    return this.#witness!.news;
  }

  get record(): Promise<CallRecord> {
    return this.#witness!.record;
  }

  /** For how long the carrier has had nothing to play. */
  get silentMs(): number {
    return this.stream.nowMs - this.#silentSinceMs;
  }

  /** Number of replies that began. */
  get replies(): number {
    return this.news.filter(({ type }) => type === 'reply').length;
  }

  /** Begins to make a sound, anywhere in a frame. @param lead samples of the frame that are still quiet, 0 to 159 */
  say(stimulus: Stimulus, lead = 0): Said {
    const pcm = lead === 0 ? stimulus.pcm : joinSamples([new Int16Array(lead), stimulus.pcm]);
    const atSample = Math.round(this.stream.say(pcm) * SAMPLES_PER_MS) + lead;
    if (stimulus.words.length > 0) this.#marks.set(Math.ceil(atSample / FRAME_SAMPLES), stimulus.id);
    const frame = Math.floor(atSample / FRAME_SAMPLES);
    return { stimulus, atSample, onsetMs: () => this.#sentMs[frame] ?? Number.NaN };
  }

  /** Waits, looking every 20 ms of the stream. @returns whether it came about in time */
  async until(holds: () => boolean, withinMs: number): Promise<boolean> {
    const untilMs = this.stream.nowMs + withinMs;
    return new Promise((resolve) => {
      const look = (): void => {
        const held = holds();
        if (!held && this.stream.open && this.stream.nowMs < untilMs) return;
        stop();
        resolve(held);
      };
      const stop = this.stream.watch(look);
    });
  }

  /** Lets this much time of the call pass. */
  async pass(durationMs: number): Promise<void> {
    await this.until(() => false, durationMs);
  }

  /** Waits until a reply has begun. @param before number of replies that had begun already */
  async replyAfter(before: number, withinMs = 8_000): Promise<boolean> {
    return this.until(() => this.replies > before && this.stream.playout.queuedMs > 0, withinMs);
  }

  /** Says something in turn, when the bot has finished, and waits for the answer to begin. */
  async ask(stimulus: Stimulus, politeMs = 250): Promise<{ readonly said: Said; readonly answered: boolean }> {
    await this.until(() => this.silentMs >= politeMs, 100_000);
    const before = this.replies;
    const said = this.say(stimulus);
    return { said, answered: await this.replyAfter(before, stimulus.pcm.length / SAMPLES_PER_MS + 8_000) };
  }

  async hangUp(): Promise<CallRecord> {
    await this.#call!.hangUp();
    return this.record;
  }
}
