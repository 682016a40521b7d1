import type { BitWriter } from './bit-writer.ts';
import { planRice, type RicePlan, writeRice } from './rice.ts';

const SAMPLE_BITS = 16;
const MOST_ORDER = 4;
/** Types of a subframe (RFC 9639, section 9.2.1); `fixed` with the order added. */
const CONSTANT = 0;
const VERBATIM = 1;
const FIXED = 8;

/** The most bits that a channel of a block takes. */
export function mostSubframeBits(samples: number): number {
  return 8 + samples * SAMPLE_BITS;
}

/**
 * Writes one channel of a block in the fewest bits of these: one value, fixed prediction, as it stands. Low bits that are 0
 * in all samples, as in sound that was G.711 once, are left out.
 * @param samples 16 bits; used up
 * @param residual to work in, as long or longer
 * @param mayBeConstant whether one value may stand for all: a few bytes, for half a second
 */
export function writeSubframe(writer: BitWriter, samples: Int32Array, residual: Int32Array, mayBeConstant: boolean): void {
  const first = samples[0] ?? 0;
  if (mayBeConstant && samples.every((sample) => sample === first)) {
    writeHead(writer, CONSTANT, 0);
    writer.write(first, SAMPLE_BITS);
    return;
  }
  const wasted = wastedBits(samples);
  if (wasted > 0) for (let at = 0; at < samples.length; at += 1) samples[at] = samples[at]! >> wasted;
  const bits = SAMPLE_BITS - wasted;
  const order = bestOrder(samples);
  predict(samples, order, residual);
  const plan: RicePlan = planRice(residual, samples.length, order);
  if (plan.bits + order * bits >= samples.length * bits) {
    writeHead(writer, VERBATIM, wasted);
    for (const sample of samples) writer.write(sample, bits);
    return;
  }
  writeHead(writer, FIXED + order, wasted);
  for (let at = 0; at < order; at += 1) writer.write(samples[at]!, bits);
  writeRice(writer, plan, residual, samples.length, order);
}

function writeHead(writer: BitWriter, type: number, wasted: number): void {
  writer.write(type, 7);
  writer.write(wasted === 0 ? 0 : 1, 1);
  if (wasted > 0) writer.unary(wasted - 1);
}

function wastedBits(samples: Int32Array): number {
  let all = 0;
  for (const sample of samples) all |= sample;
  return all === 0 ? 0 : 31 - Math.clz32(all & -all);
}

/** The order whose differences are smallest in sum. */
function bestOrder(samples: Int32Array): number {
  const sums = [0, 0, 0, 0, 0];
  let [last0, last1, last2, last3] = [0, 0, 0, 0];
  for (let at = 0; at < samples.length; at += 1) {
    const d0 = samples[at]!;
    const d1 = d0 - last0;
    const d2 = d1 - last1;
    const d3 = d2 - last2;
    const d4 = d3 - last3;
    [last0, last1, last2, last3] = [d0, d1, d2, d3];
    // Before that a difference would reach back behind the block.
    if (at < MOST_ORDER) continue;
    sums[0]! += Math.abs(d0);
    sums[1]! += Math.abs(d1);
    sums[2]! += Math.abs(d2);
    sums[3]! += Math.abs(d3);
    sums[4]! += Math.abs(d4);
  }
  return samples.length <= MOST_ORDER ? 0 : sums.indexOf(Math.min(...sums));
}

/** Differences of so high an order (RFC 9639, section 9.2.5). */
function predict(samples: Int32Array, order: number, residual: Int32Array): void {
  residual.set(samples);
  for (let pass = 1; pass <= order; pass += 1) {
    for (let at = samples.length - 1; at >= pass; at -= 1) residual[at] = residual[at]! - residual[at - 1]!;
  }
}
