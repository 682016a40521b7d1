import { type AudioFormat, callRateHz, durationMs, formatOf, type WireFormat } from '../audio/format.ts';
import { LentBytes, LentSamples } from '../audio/codec.ts';
import { Resampler } from '../audio/resample.ts';

/** One message of whichever line at a time: what they give is used up before the next. */
const heard = new LentSamples();
const sent = new LentBytes();

/**
 * Between a leg's wire and the linear samples of its call. G.711 at the call's rate is one table look-up a sample, and every code
 * comes back as it went (mu-law's two codes for nothing become one). Another rate is resampled, 2 or 4 ms late, so that whole frames
 * stay whole.
 *
 * Calls are linear inside although most legs are G.711: every law, rate and mixture is right by design then. It costs one more
 * look-up a sample on the way out and one on the way in, 4 µs for 200 ms of speech.
 */
export class LineTranscoder {
  readonly #inbound: WireFormat;
  readonly #outbound: WireFormat;
  readonly #sentRateHz: number;
  readonly #down: Resampler | undefined;
  #up: Resampler | undefined;

  /** @param rateHz of what the call hears; what it sends has the same, or the telephone's 8 kHz where the wire has no more */
  constructor(inbound: WireFormat, outbound: WireFormat, rateHz = callRateHz(inbound)) {
    this.#inbound = inbound;
    this.#outbound = outbound;
    this.#sentRateHz = Math.min(rateHz, callRateHz(outbound));
    this.#down = inbound.rateHz === rateHz ? undefined : Resampler.forLine(inbound.rateHz, rateHz);
    this.cut();
  }

  /** What speech is best made as for this leg: its own law where that needs no resampling, else linear samples. What is sent has its rate. */
  get speechFormat(): AudioFormat {
    const rateHz = this.#sentRateHz;
    return this.#outbound.rateHz === rateHz ? formatOf(this.#outbound) : { encoding: 'pcm16', rateHz };
  }

  /** How long inbound wire audio of this many bytes is. */
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

  /** What is sent next does not go on from what was sent last: the end of that, still in the resampler, is not heard before it. */
  cut(): void {
    const { rateHz } = this.#outbound;
    this.#up = rateHz === this.#sentRateHz ? undefined : Resampler.forLine(this.#sentRateHz, rateHz);
  }
}
