import { encodeAudio } from '../../audio/codec.ts';
import { resample } from '../../audio/resample.ts';
import { wavFile } from '../../audio/wav.ts';
import type { Rehearsal } from '../../rehearsal/evals/rehearsal.ts';
import { SeededRandom } from '../../rehearsal/evals/seeded-random.ts';
import type { CallerLine } from '../../sim/caller/caller.ts';
import { CarrierLine, type LineOptions } from '../../sim/carrier-line.ts';

const EAR_HZ = 8_000;
/** From the bot's sound at the caller's ear to its echo in the caller's microphone. */
const ECHO_AFTER_MS = 120;

/** The caller's line of a scenario: loss, noise, delays and echo, by the run's seed. */
export class BadLine {
  readonly options: LineOptions;
  #line: CallerLine | undefined;

  constructor({ scenario: { caller }, seed }: Pick<Rehearsal, 'scenario' | 'seed'>) {
    const { loss, noise, jitterMs, echoDb } = caller.line;
    const random = new SeededRandom(seed, 'line');
    this.options = {
      ...(loss === 0 ? {} : { loses: () => random.next() < loss }),
      ...(noise === 0 ? {} : { lineNoise: noise }),
      ...(jitterMs === 0 ? {} : { toGatewayDelayMs: () => random.next() * jitterMs }),
      ...(echoDb === undefined ? {} : { encode: (frame, fromSample) => this.#echoed(frame, fromSample, 10 ** (-echoDb / 20)) }),
    };
  }

  /** The line as it is open: its sound comes back. */
  opened(line: CallerLine): void {
    this.#line = line;
  }

  #echoed(frame: Int16Array, fromSample: number, gain: number): Uint8Array {
    const line = this.#line;
    if (!(line instanceof CarrierLine)) return encodeAudio('mulaw', frame);
    const { encoding, rateHz } = line.formats.from;
    const { heard } = line.buffer;
    const mixed = frame.map((sample, index) => {
      const at = Math.floor(((fromSample + index) * EAR_HZ) / rateHz) - ECHO_AFTER_MS * (EAR_HZ / 1000);
      return Math.max(-32_768, Math.min(32_767, sample + (heard[at] ?? 0) * gain));
    });
    return encodeAudio(encoding, mixed);
  }
}

/** A call as its caller lived it: a WAV file with the caller on the left and the bot on the right; undefined where nothing was kept. */
export function callSound(line: CallerLine): Uint8Array | undefined {
  if (!(line instanceof CarrierLine)) return undefined;
  const spoken = resample(line.spoken, line.formats.from.rateHz, EAR_HZ);
  const { heard } = line.buffer;
  const both = new Int16Array(Math.max(spoken.length, heard.length) * 2);
  for (const [index, sample] of spoken.entries()) both[index * 2] = sample;
  for (const [index, sample] of heard.entries()) both[index * 2 + 1] = sample;
  return wavFile(both, EAR_HZ, 2);
}
