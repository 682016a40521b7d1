/** Writes numbers of any width, highest bit first, into a buffer of fixed size. */
export class BitWriter {
  readonly #bytes: Uint8Array<ArrayBuffer>;
  #length = 0;
  /** The last bits, fewer than 8, which do not fill a byte yet. */
  #pending = 0;
  #pendingBits = 0;

  /** @param maxBytes writing more throws RangeError */
  constructor(maxBytes: number) {
    this.#bytes = new Uint8Array(maxBytes);
  }

  /** @param value its lowest `bits` are written, two's complement. @param bits 0 to 32 */
  write(value: number, bits: number): void {
    if (bits > 24) {
      this.write(value >>> 16, bits - 16);
      this.write(value, 16);
      return;
    }
    this.#pending = (this.#pending << bits) | (value & ((1 << bits) - 1));
    this.#pendingBits += bits;
    while (this.#pendingBits >= 8) {
      this.#pendingBits -= 8;
      if (this.#length === this.#bytes.length) throw new RangeError('the buffer of the bit writer is full');
      this.#bytes[this.#length++] = this.#pending >>> this.#pendingBits;
    }
    this.#pending &= (1 << this.#pendingBits) - 1;
  }

  /** Writes this many zeros and a one. */
  unary(zeros: number): void {
    let left = zeros;
    for (; left >= 24; left -= 24) this.write(0, 24);
    this.write(1, left + 1);
  }

  /** Fills the last byte with zeros. */
  align(): void {
    if (this.#pendingBits > 0) this.write(0, 8 - this.#pendingBits);
  }

  /** The whole bytes so far: a view that is valid until the next write. */
  get written(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(0, this.#length);
  }

  clear(): void {
    this.#length = 0;
    this.#pending = 0;
    this.#pendingBits = 0;
  }
}

const SAMPLE_BITS = 16;
const MOST_ORDER = 4;
/** Types of a subframe (RFC 9639, section 9.2.1); `fixed` with the order added. */
const CONSTANT = 0;
const VERBATIM = 1;
const FIXED = 8;

/** The most bits that one channel of a block can take. */
export function mostSubframeBits(samples: number): number {
  return 8 + samples * SAMPLE_BITS;
}

/**
 * Writes one channel of a block as a constant, with fixed prediction or verbatim, whichever takes the fewest bits. Low bits that
 * are 0 in all samples are left out, as in audio that was G.711 once.
 * @param samples 16-bit values; overwritten
 * @param residual working memory, as long or longer
 * @param mayBeConstant whether a constant subframe, a few bytes for half a second, is allowed
 */
export function writeSubframe(writer: BitWriter, samples: Int32Array, residual: Int32Array, mayBeConstant: boolean): void {
  const first = samples[0] ?? 0;
  if (mayBeConstant && samples.every((sample) => sample === first)) {
    writeHead(writer, CONSTANT, 0);
    writer.write(first, SAMPLE_BITS);
    return;
  }
  const wasted = wastedBits(samples);
  if (wasted > 0) for (let at = 0; at < samples.length; at += 1) samples[at] = (samples[at] ?? 0) >> wasted;
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
  for (let at = 0; at < order; at += 1) writer.write(samples[at] ?? 0, bits);
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

/** The order with the smallest sum of absolute differences. */
function bestOrder(samples: Int32Array): number {
  if (samples.length <= MOST_ORDER) return 0;
  let [sum0, sum1, sum2, sum3, sum4] = [0, 0, 0, 0, 0];
  let [last0, last1, last2, last3] = [0, 0, 0, 0];
  let at = 0;
  for (const d0 of samples) {
    const d1 = d0 - last0;
    const d2 = d1 - last1;
    const d3 = d2 - last2;
    const d4 = d3 - last3;
    [last0, last1, last2, last3] = [d0, d1, d2, d3];
    at += 1;
    // Earlier differences would reach back before the block.
    if (at <= MOST_ORDER) continue;
    sum0 += Math.abs(d0);
    sum1 += Math.abs(d1);
    sum2 += Math.abs(d2);
    sum3 += Math.abs(d3);
    sum4 += Math.abs(d4);
  }
  const sums = [sum0, sum1, sum2, sum3, sum4];
  return sums.indexOf(Math.min(...sums));
}

/** Differences of this order (RFC 9639, section 9.2.5). */
function predict(samples: Int32Array, order: number, residual: Int32Array): void {
  residual.set(samples);
  for (let pass = 1; pass <= order; pass += 1) {
    for (let at = samples.length - 1; at >= pass; at -= 1) residual[at] = (residual[at] ?? 0) - (residual[at - 1] ?? 0);
  }
}

/** How to code a residual: in partitions of equal length, each with a Rice parameter (RFC 9639, section 9.2.7). */
interface RicePlan {
  /** The number of partitions is two to this power. */
  readonly partitionOrder: number;
  readonly parameters: readonly number[];
  /** An upper bound of the bits written. */
  readonly bits: number;
}

const MOST_PARTITION_ORDER = 6;
/** A parameter has 4 bits, and 15 is an escape code. */
const MOST_PARAMETER = 14;

/** Signed to unsigned: 0, -1, 1, -2, 2 become 0 to 4. */
function folded(value: number): number {
  return (value << 1) ^ (value >> 31);
}

/**
 * Chooses partitions and parameters.
 * @param residual one value for each sample of the block; the first `order` are warm-up samples and not counted
 */
function planRice(residual: Int32Array, length: number, order: number): RicePlan {
  let deepest = 0;
  while (deepest < MOST_PARTITION_ORDER && length % 2 ** (deepest + 1) === 0 && length >> (deepest + 1) > order) deepest += 1;
  let sums = sumsOf(residual, length, order, deepest);
  let best = planPartitions(sums, deepest, length, order);
  for (let partitionOrder = deepest - 1; partitionOrder >= 0; partitionOrder -= 1) {
    sums = Array.from({ length: sums.length >> 1 }, (_, index) => (sums[2 * index] ?? 0) + (sums[2 * index + 1] ?? 0));
    const plan = planPartitions(sums, partitionOrder, length, order);
    if (plan.bits < best.bits) best = plan;
  }
  return best;
}

function planPartitions(sums: readonly number[], partitionOrder: number, length: number, order: number): RicePlan {
  const parameters: number[] = [];
  let bits = 6;
  for (const [index, sum] of sums.entries()) {
    const count = (length >> partitionOrder) - (index === 0 ? order : 0);
    const parameter = parameterFor(sum, count);
    parameters.push(parameter);
    bits += 4 + bitsOf(sum, count, parameter);
  }
  return { partitionOrder, parameters, bits };
}

function writeRice(writer: BitWriter, plan: RicePlan, residual: Int32Array, length: number, order: number): void {
  const { partitionOrder, parameters } = plan;
  writer.write(0, 2);
  writer.write(partitionOrder, 4);
  const size = length >> partitionOrder;
  let at = order;
  for (const [index, parameter] of parameters.entries()) {
    writer.write(parameter, 4);
    const mark = 1 << parameter;
    for (const end = (index + 1) * size; at < end; at += 1) {
      const value = folded(residual[at] ?? 0);
      const quotient = value >>> parameter;
      if (quotient + parameter < 24) writer.write(mark | (value & (mark - 1)), quotient + 1 + parameter);
      else {
        writer.unary(quotient);
        writer.write(value, parameter);
      }
    }
  }
}

function sumsOf(residual: Int32Array, length: number, order: number, partitionOrder: number): number[] {
  const size = length >> partitionOrder;
  const sums: number[] = [];
  for (let at = order, end = size; end <= length; end += size) {
    let sum = 0;
    for (; at < end; at += 1) sum += folded(residual[at] ?? 0);
    sums.push(sum);
  }
  return sums;
}

/** The cheapest parameter, found by going up while the size falls. */
function parameterFor(sum: number, count: number): number {
  let parameter = 0;
  while (parameter < MOST_PARAMETER && bitsOf(sum, count, parameter + 1) < bitsOf(sum, count, parameter)) parameter += 1;
  return parameter;
}

function bitsOf(sum: number, count: number, parameter: number): number {
  return count * (parameter + 1) + Math.floor(sum / 2 ** parameter);
}
