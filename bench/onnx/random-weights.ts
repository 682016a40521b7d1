import { seededRandom } from '../../src/audio/tone.ts';
import type { OnnxGraph } from '../../test/support/onnx/onnx-graph.ts';

const BLOCK = 1 << 18;

/** Weights of models whose cost is measured: of the right size and spread, and otherwise noise. The same on every run. */
export class RandomWeights {
  readonly #graph: OnnxGraph;
  readonly #floats = new Float32Array(BLOCK);
  readonly #bytes = new Int8Array(BLOCK);
  readonly #quantised = new Map<string, string[]>();

  constructor(graph: OnnxGraph) {
    this.#graph = graph;
    const random = seededRandom(7);
    for (let index = 0; index < BLOCK; index += 1) {
      const value = 2 * random() - 1;
      this.#floats[index] = value;
      this.#bytes[index] = Math.round(127 * value);
    }
  }

  /** Floats with the spread of values that keeps the level of what goes through `inputs` of them; 0 for an exact zero. */
  floats(shape: readonly number[], inputs: number): string {
    const gain = inputs === 0 ? 0 : Math.sqrt(3 / inputs);
    return this.#graph.floats(
      Float32Array.from({ length: size(shape) }, (_, at) => gain * (this.#floats[at % BLOCK] ?? 0)),
      shape,
    );
  }

  /** A linear layer as `onnxruntime` quantises it dynamically: the input is measured and rounded to 8 bits at every call. */
  quantisedLinear(x: string, inputs: number, outputs: number, { bias = true }: { readonly bias?: boolean } = {}): string {
    const graph = this.#graph;
    const [rounded = '', scale = '', zero = ''] = this.#quantised.get(x) ?? graph.ops('DynamicQuantizeLinear', [x], 3);
    this.#quantised.set(x, [rounded, scale, zero]);
    const bytes = new Int8Array(inputs * outputs);
    for (let from = 0; from < bytes.length; from += BLOCK) bytes.set(this.#bytes.subarray(0, bytes.length - from), from);
    const weights = graph.int8s(bytes, [inputs, outputs]);
    const product = graph.op('MatMulInteger', [rounded, weights, zero, graph.int8s(Int8Array.of(0), [])]);
    const weightScale = graph.floats(Math.sqrt(3 / inputs) / 127);
    const real = graph.op('Mul', [graph.op('Cast', [product], { to: 1 }), graph.op('Mul', [scale, weightScale])]);
    return bias ? graph.op('Add', [this.floats([outputs], 300), real]) : real;
  }

  /** A convolution over time, [N, channels, T]. */
  conv(
    x: string,
    channels: { readonly from: number; readonly to: number; readonly groups?: number },
    kernel: number,
    attributes: Readonly<Record<string, readonly number[]>> = {},
  ): string {
    const { from, to, groups = 1 } = channels;
    const weights = this.floats([to, from / groups, kernel], (from / groups) * kernel);
    return this.#graph.op('Conv', [x, weights, this.floats([to], 300)], { kernel_shape: [kernel], group: groups, ...attributes });
  }
}

const size = (shape: readonly number[]): number => shape.reduce((product, each) => product * each, 1);
