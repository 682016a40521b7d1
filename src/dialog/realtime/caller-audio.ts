import { encodeAudio } from '../../audio/codec.ts';
import { type AudioFormat } from '../../audio/format.ts';
import { Resampler } from '../../audio/resample.ts';
import { joinSamples } from '../../audio/samples.ts';

/** Sound before the caller was found to speak: a turn's first syllable is decided late. */
const EARLIER_MS = 600;
/** Audio that was sent and became no turn is withdrawn after this long: a cough. */
const WITHDRAW_MS = 2_000;
/** Length of a message; what is shorter waits for more, or for the end of the turn. */
const MESSAGE_MS = 100;
/** Longest turn that waits for the vendor, as while a session is opened; the oldest audio goes first. */
const MOST_WAITING_MS = 60_000;
/** Shortest turn that a vendor takes (OpenAI: "buffer too small", 100 ms). */
export const LEAST_TURN_MS = 100;

/** What becomes of the caller's audio at the vendor. */
export interface AudioSink {
  /** Whether it takes audio now; else it is kept. */
  readonly takes: boolean;
  send(audio: Uint8Array, isFirst: boolean): void;
  withdraw(): void;
}

/**
 * The caller's audio on its way to a model: sent while the caller may be speaking, with what was heard just before, so that silence between turns is
 * neither sent nor paid for.
 */
export class CallerAudio {
  readonly #sink: AudioSink;
  readonly #always: boolean;
  #rateHz = 8_000;
  #encode: (pcm: Int16Array) => Uint8Array = (pcm) => encodeAudio('mulaw', pcm);
  /** Heard before a turn, or not sent yet. */
  #kept: Int16Array[] = [];
  #keptMs = 0;
  #isTurn = false;
  #quietMs = 0;
  #sentMs = 0;
  /** The session that had the beginning of the turn is gone. */
  #isBroken = false;

  /** @param always sends silence too, for a vendor that finds the turns */
  constructor(sink: AudioSink, always: boolean) {
    this.#sink = sink;
    this.#always = always;
  }

  /** @param rateHz of the samples @param wire format that is sent */
  open(rateHz: number, wire: AudioFormat): void {
    this.#rateHz = rateHz;
    const resampler = rateHz === wire.rateHz ? undefined : new Resampler(rateHz, wire.rateHz);
    this.#encode = (pcm) => encodeAudio(wire.encoding, resampler?.process(pcm) ?? pcm);
  }

  /** Whether a turn's audio has begun that the vendor does not know to be over. */
  get isTurn(): boolean {
    return this.#isTurn && !this.#always;
  }

  hear(pcm: Int16Array, mayBeTurn: boolean): void {
    const ms = (pcm.length * 1000) / this.#rateHz;
    this.#quietMs = mayBeTurn ? 0 : this.#quietMs + ms;
    this.#isTurn ||= mayBeTurn || this.#always;
    if (this.#isTurn && !this.#always && this.#quietMs >= WITHDRAW_MS) this.drop();
    this.#kept.push(pcm.slice());
    this.#keptMs += ms;
    if (this.#isTurn && this.#keptMs >= MESSAGE_MS) this.#send();
    this.#forget(this.#isTurn ? MOST_WAITING_MS : EARLIER_MS);
  }

  /** Ends the turn. @returns ms of it that the vendor has; 0 where it does not have all of it */
  commit(): number {
    if (this.#isBroken) {
      // The end of a turn alone would mislead.
      this.drop();
      return 0;
    }
    if (this.#isTurn) this.#send();
    const sentMs = this.#sentMs;
    this.#reset();
    return sentMs;
  }

  /** What was heard is no turn, or is not to be sent. */
  drop(): void {
    if (this.#sentMs > 0) this.#sink.withdraw();
    this.#reset();
  }

  /** The session with what was sent is gone. */
  lost(): void {
    this.#isBroken = this.#isTurn && !this.#always && this.#sentMs > 0;
    this.#sentMs = 0;
  }

  #reset(): void {
    this.#kept = [];
    this.#keptMs = 0;
    this.#sentMs = 0;
    this.#quietMs = 0;
    this.#isBroken = false;
    this.#isTurn = this.#always;
  }

  #send(): void {
    if (!this.#sink.takes || this.#keptMs === 0) return;
    const audio = this.#encode(joinSamples(this.#kept));
    this.#sink.send(audio, this.#sentMs === 0);
    this.#sentMs += this.#keptMs;
    this.#kept = [];
    this.#keptMs = 0;
  }

  #forget(mostMs: number): void {
    while (this.#keptMs > mostMs) {
      const oldest = this.#kept.shift();
      if (oldest === undefined) return;
      this.#keptMs -= (oldest.length * 1000) / this.#rateHz;
    }
  }
}
