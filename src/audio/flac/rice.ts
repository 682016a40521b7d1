import type { BitWriter } from './bit-writer.ts';

/** A residual in partitions of equal length, each with a Rice parameter of its own (RFC 9639, section 9.2.7). */
export interface RicePlan {
  /** There are two to this power of them. */
  readonly partitionOrder: number;
  readonly parameters: readonly number[];
  /** Never fewer than are written. */
  readonly bits: number;
}

const MOST_PARTITION_ORDER = 6;
/** 15 is the escape in a parameter of 4 bits. */
const MOST_PARAMETER = 14;

/** Signed to unsigned: 0, -1, 1, -2, 2 become 0 to 4. */
export function folded(value: number): number {
  return (value << 1) ^ (value >> 31);
}

/**
 * Chooses partitions and parameters.
 * @param residual as many values as the block has samples, of which the first `order` are no residual
 */
export function planRice(residual: Int32Array, length: number, order: number): RicePlan {
  let deepest = 0;
  while (deepest < MOST_PARTITION_ORDER && length % 2 ** (deepest + 1) === 0 && length >> (deepest + 1) > order) deepest += 1;
  let sums = sumsOf(residual, length, order, deepest);
  let best: RicePlan | undefined;
  for (let partitionOrder = deepest; partitionOrder >= 0; partitionOrder -= 1) {
    const parameters: number[] = [];
    let bits = 6;
    for (const [index, sum] of sums.entries()) {
      const count = (length >> partitionOrder) - (index === 0 ? order : 0);
      const parameter = parameterFor(sum, count);
      parameters.push(parameter);
      bits += 4 + bitsOf(sum, count, parameter);
    }
    if (best === undefined || bits < best.bits) best = { partitionOrder, parameters, bits };
    sums = Array.from({ length: sums.length >> 1 }, (_, index) => sums[2 * index]! + sums[2 * index + 1]!);
  }
  return best!;
}

export function writeRice(writer: BitWriter, plan: RicePlan, residual: Int32Array, length: number, order: number): void {
  const { partitionOrder, parameters } = plan;
  writer.write(0, 2);
  writer.write(partitionOrder, 4);
  const size = length >> partitionOrder;
  let at = order;
  for (const [index, parameter] of parameters.entries()) {
    writer.write(parameter, 4);
    const mark = 1 << parameter;
    for (const end = (index + 1) * size; at < end; at += 1) {
      const value = folded(residual[at]!);
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
    for (; at < end; at += 1) sum += folded(residual[at]!);
    sums.push(sum);
  }
  return sums;
}

/** The parameter nearest to the mean: the cheapest, or next to it. */
function parameterFor(sum: number, count: number): number {
  let parameter = 0;
  while (parameter < MOST_PARAMETER && bitsOf(sum, count, parameter + 1) < bitsOf(sum, count, parameter)) parameter += 1;
  return parameter;
}

function bitsOf(sum: number, count: number, parameter: number): number {
  return count * (parameter + 1) + Math.floor(sum / 2 ** parameter);
}
