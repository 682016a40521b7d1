import { type AudioFormat, callRateHz, durationMs, formatOf, type WireFormat } from '../audio/format.ts';
import { LentBytes, LentSamples } from '../audio/codec.ts';
import { Resampler } from '../audio/resample.ts';

/** Scratch samples shared by all lines; used up before the next message. */
const heard = new LentSamples();
const sent = new LentBytes();

/**
 * Converts between a leg's wire format and its call's linear samples. G.711 at the call's rate is one table look-up a sample and lossless (but
 * mu-law's two zeros become one). Other rates are resampled, 2 or 4 ms late, in whole frames.
 * Calls are linear inside although most legs are G.711, so that every law, rate and mixture is right by design, for one more look-up a sample each
 * way: 4 µs for 200 ms of speech.
 */
export class LineTranscoder {
  readonly #inbound: WireFormat;
  readonly #outbound: WireFormat;
  readonly #sentRateHz: number;
  readonly #down: Resampler | undefined;
  #up: Resampler | undefined;

  /** @param rateHz inbound rate of the call; outbound is the same, or 8 kHz where the wire has no more */
  constructor(inbound: WireFormat, outbound: WireFormat, rateHz = callRateHz(inbound)) {
    this.#inbound = inbound;
    this.#outbound = outbound;
    this.#sentRateHz = Math.min(rateHz, callRateHz(outbound));
    this.#down = inbound.rateHz === rateHz ? undefined : Resampler.forLine(inbound.rateHz, rateHz);
    this.cut();
  }

  /** Best synthesis format for this leg: its own law where that needs no resampling, else linear samples. Outbound audio has its rate. */
  get speechFormat(): AudioFormat {
    const rateHz = this.#sentRateHz;
    return this.#outbound.rateHz === rateHz ? formatOf(this.#outbound) : { encoding: 'pcm16', rateHz };
  }

  /** Duration of this many bytes of inbound wire audio. */
  durationMs(byteLength: number): number {
    return durationMs(this.#inbound, byteLength);
  }

  /** @returns samples at the call's rate, valid until the next message of any line */
  decode(payload: Uint8Array): Int16Array {
    const pcm = heard.decode(this.#inbound.encoding, payload);
    return this.#down === undefined ? pcm : this.#down.process(pcm);
  }

  /** @param pcm at the rate of `speechFormat` @returns wire audio as long as the samples are, valid until the next message of any line */
  encode(pcm: Int16Array): Uint8Array {
    return sent.encode(this.#outbound.encoding, this.#up === undefined ? pcm : this.#up.process(pcm));
  }

  /** The next outbound audio does not continue the last: drops what the resampler still has. */
  cut(): void {
    const { rateHz } = this.#outbound;
    this.#up = rateHz === this.#sentRateHz ? undefined : Resampler.forLine(this.#sentRateHz, rateHz);
  }
}
