import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type RecognitionModel, recognitionModel } from '../../src/speech/models/model.ts';
import { OnnxGraph } from '../../test/support/onnx/onnx-graph.ts';
import { RandomWeights } from './random-weights.ts';

/**
 * The streaming Zipformer of 65 million parameters (icefall, recipe `zipformer`, `--causal True`, chunk 16, left context 128), as which
 * sherpa-onnx publishes English models, with their dynamic quantisation of linear layers to 8 bits. Simplified: the products of
 * constants with the positions' weights are constants, as onnxruntime makes them when it opens the model.
 */
const STACKS = [
  { dimension: 192, layers: 2, feedforward: 512, heads: 4, kernel: 31, downsampling: 1 },
  { dimension: 256, layers: 2, feedforward: 768, heads: 4, kernel: 31, downsampling: 2 },
  { dimension: 384, layers: 3, feedforward: 1024, heads: 4, kernel: 15, downsampling: 4 },
  { dimension: 512, layers: 4, feedforward: 1536, heads: 8, kernel: 15, downsampling: 8 },
  { dimension: 384, layers: 3, feedforward: 1024, heads: 4, kernel: 15, downsampling: 4 },
  { dimension: 256, layers: 2, feedforward: 768, heads: 4, kernel: 31, downsampling: 2 },
] as const;
type Stack = (typeof STACKS)[number];

const QUERY = 32;
const VALUE = 12;
const POSITION = 4;
const CHUNK = 16;
const LEFT = 128;
const FEATURES = 80;
/** A chunk of features, and what its convolutions see behind it. */
const FRAMES = 2 * CHUNK + 13;
const VOCABULARY = 500;
const JOINER = 512;

/**
 * Writes the model with random weights, 70 MB. It costs what a trained one costs, and what it hears means nothing: about as many tokens
 * as in speech.
 * @param folder is made
 */
export function writeZipformer2(folder: string, { name = 'random-zipformer2', languages = ['en'] } = {}): RecognitionModel {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'encoder.int8.onnx'), encoder());
  writeFileSync(join(folder, 'decoder.int8.onnx'), decoder());
  writeFileSync(join(folder, 'joiner.int8.onnx'), joiner());
  const tokens = Array.from({ length: VOCABULARY }, (_, id) => (id === 0 ? '<blk>' : `\u2581t${id}`));
  writeFileSync(join(folder, 'tokens.txt'), tokens.map((token, id) => `${token} ${id}\n`).join(''));
  const files = { encoder: 'encoder.int8.onnx', decoder: 'decoder.int8.onnx', joiner: 'joiner.int8.onnx', tokens: 'tokens.txt' };
  const model = recognitionModel.parse({ name, role: 'recognition', kind: 'streaming-transducer', languages, files });
  writeFileSync(join(folder, 'model.json'), JSON.stringify(model));
  return model;
}

/** Values of a chunk: features over time are [T, N, channels]. */
class Encoder {
  readonly graph = new OnnxGraph();
  readonly weights = new RandomWeights(this.graph);
  /** The states that the next chunk is given, by the names of this one's. */
  readonly states = new Map<string, string>();
  #layers = 0;

  op = this.graph.op.bind(this.graph);

  slice(value: string, from: number, to: number, axis: number, step = 1): string {
    const { graph } = this;
    return graph.op('Slice', [value, ...[from, to, axis, step].map((each) => graph.int64s([each]))]);
  }

  /** A state of the stream: what was kept of the last chunk stands before this one, and its end is kept for the next one. */
  withCache(name: string, value: string, axis: number, kept: number): string {
    const whole = this.op('Concat', [name, value], { axis });
    this.states.set(name, this.slice(whole, -kept, 2 ** 31, axis));
    return whole;
  }

  /** log(1 + exp(x - shift)) - 0.08 x - less, in the operators of the export. */
  swoosh(x: string, kind: 'left' | 'right'): string {
    const { graph } = this;
    const [shift, less] = kind === 'left' ? [4, 0.035] : [1, 0.313_261_687];
    const shifted = graph.op('Sub', [x, graph.floats(shift)]);
    const size = graph.op('Abs', [graph.op('Sub', [graph.floats(0), shifted])]);
    const soft = graph.op('Log', [graph.op('Add', [graph.op('Exp', [graph.op('Neg', [size])]), graph.floats(1)])]);
    const sum = graph.op('Add', [graph.op('Max', [graph.floats(0), shifted]), soft]);
    return graph.op('Sub', [graph.op('Sub', [sum, graph.op('Mul', [x, graph.floats(0.08)])]), graph.floats(less)]);
  }

  biasNorm(x: string, dimension: number): string {
    const { graph } = this;
    const centred = graph.op('Sub', [x, this.weights.floats([dimension], 300)]);
    const mean = graph.op('ReduceMean', [graph.op('Pow', [centred, graph.floats(2)])], { axes: [-1], keepdims: 1 });
    return graph.op('Mul', [x, graph.op('Pow', [mean, graph.floats(-0.5)])]);
  }

  bypass(before: string, after: string, dimension: number): string {
    const scale = this.graph.floats(new Float32Array(dimension).fill(0.5), [dimension]);
    return this.op('Add', [before, this.op('Mul', [this.op('Sub', [after, before]), scale])]);
  }

  /** Features [N, 45, 80] to [16, N, 192] by convolutions. */
  embed(x: string): string {
    const { graph, weights } = this;
    const plane = (value: string, from: number, to: number, attributes: Readonly<Record<string, readonly number[]>>): string => {
      const kernel = weights.floats([to, from, 3, 3], from * 9);
      return this.swoosh(graph.op('Conv', [value, kernel, weights.floats([to], 300)], attributes), 'right');
    };
    const first = plane(graph.op('Unsqueeze', [x, graph.int64s([1])]), 1, 8, { pads: [0, 1, 0, 1] });
    const third = plane(plane(first, 8, 32, { strides: [2, 2] }), 32, 128, { strides: [1, 2] });
    const before = this.slice(third, 0, CHUNK, 2);
    const whole = graph.op('Concat', ['embed_states', third], { axis: 2 });
    this.states.set('embed_states', this.slice(whole, CHUNK, CHUNK + 3, 2));
    const deep = { pads: [0, 3, 0, 3], group: 128 };
    const seen = graph.op('Conv', [whole, weights.floats([128, 1, 7, 7], 49), weights.floats([128], 300)], deep);
    const wide = graph.op('Conv', [seen, weights.floats([384, 128, 1, 1], 128), weights.floats([384], 300)]);
    const thin = graph.op('Conv', [this.swoosh(wide, 'left'), weights.floats([128, 384, 1, 1], 384), weights.floats([128], 300)]);
    const next = graph.op('Transpose', [graph.op('Add', [before, thin])], { perm: [0, 2, 1, 3] });
    const rows = graph.op('Reshape', [next, graph.int64s([0, CHUNK, 128 * 19])]);
    const embedded = this.biasNorm(weights.quantisedLinear(rows, 128 * 19, 192), 192);
    return graph.op('Transpose', [embedded], { perm: [1, 0, 2] });
  }

  layer(x: string, stack: Stack, masks: Masks): string {
    const { weights } = this;
    const { dimension, feedforward } = stack;
    const number = this.#layers++;
    const plus = (value: string, change: string): string => this.op('Add', [value, change]);
    const feed = (value: string, hidden: number): string => {
      const wide = this.swoosh(weights.quantisedLinear(value, dimension, hidden), 'left');
      return plus(value, weights.quantisedLinear(wide, hidden, dimension));
    };
    const attention = this.attention(x, stack, masks, number);
    let value = feed(x, (feedforward * 3) / 4);
    value = plus(value, this.nonlinearAttention(value, attention, stack, number));
    value = plus(value, this.selfAttention(value, attention, stack, `cached_val1_${number}`));
    value = plus(value, this.convolution(value, stack, masks, `cached_conv1_${number}`));
    value = this.bypass(x, feed(value, feedforward), dimension);
    value = plus(value, this.selfAttention(value, attention, stack, `cached_val2_${number}`));
    value = plus(value, this.convolution(value, stack, masks, `cached_conv2_${number}`));
    value = this.biasNorm(feed(value, (feedforward * 5) / 4), dimension);
    return this.bypass(x, value, dimension);
  }

  /** Weights [heads, N, T, left + T] of the attention, with relative positions. */
  attention(x: string, { dimension, heads, downsampling }: Stack, masks: Masks, number: number): string {
    const { graph, weights } = this;
    const [time, left] = [CHUNK / downsampling, LEFT / downsampling];
    const width = heads * QUERY;
    const all = weights.quantisedLinear(x, dimension, (2 * QUERY + POSITION) * heads);
    const inHeads = (value: string, length: number, size: number, perm: readonly number[]): string =>
      graph.op('Transpose', [graph.op('Reshape', [value, graph.int64s([length, -1, heads, size])])], { perm });
    const queries = inHeads(this.slice(all, 0, width, 2), time, QUERY, [2, 1, 0, 3]);
    const keys = this.withCache(`cached_key_${number}`, this.slice(all, width, 2 * width, 2), 0, left);
    const places = inHeads(this.slice(all, 2 * width, 2 ** 31, 2), time, POSITION, [2, 1, 0, 3]);
    const scores = graph.op('MatMul', [queries, inHeads(keys, left + time, QUERY, [2, 1, 3, 0])]);
    const distances = left + 2 * time - 1;
    const far = graph.op('MatMul', [places, weights.floats([heads, 1, POSITION, distances], POSITION)]);
    // Each row looks at another part of the distances: the export gathers them by index.
    const index = Array.from({ length: time }, (_, row) => Array.from({ length: left + time }, (__, at) => time - 1 - row + at));
    const shape = graph.op('Shape', [scores]);
    const indexes = graph.op('Expand', [graph.int64s(index.flat(), [1, 1, time, left + time]), shape]);
    const rows = (value: string, length: number): string => graph.op('Reshape', [value, graph.int64s([-1, length])]);
    const near = graph.op('GatherElements', [rows(far, distances), rows(indexes, left + time)], { axis: 1 });
    const sum = graph.op('Add', [scores, graph.op('Reshape', [near, shape])]);
    const masked = graph.op('Where', [masks.attention, graph.floats(-1_000), sum]);
    return graph.op('Softmax', [masked], { axis: -1 });
  }

  nonlinearAttention(x: string, attention: string, { dimension, downsampling }: Stack, number: number): string {
    const { graph, weights } = this;
    const hidden = (dimension * 3) / 4;
    const [time, left] = [CHUNK / downsampling, LEFT / downsampling];
    const parts = graph.ops('Split', [weights.quantisedLinear(x, dimension, 3 * hidden)], 3, { axis: 2 });
    const [gate = '', value = '', factor = ''] = parts;
    const gated = graph.op('Mul', [value, graph.op('Tanh', [gate])]);
    const aside = graph.op('Unsqueeze', [graph.op('Transpose', [gated], { perm: [1, 0, 2] }), graph.int64s([0])]);
    const whole = this.withCache(`cached_nonlin_attn_${number}`, aside, 2, left);
    const seen = graph.op('MatMul', [this.slice(attention, 0, 1, 0), whole]);
    const back = graph.op('Transpose', [seen], { perm: [2, 1, 0, 3] });
    const rows = graph.op('Reshape', [back, graph.int64s([time, -1, hidden])]);
    return weights.quantisedLinear(graph.op('Mul', [rows, factor]), hidden, dimension);
  }

  selfAttention(x: string, attention: string, { dimension, heads, downsampling }: Stack, name: string): string {
    const { graph, weights } = this;
    const [time, left] = [CHUNK / downsampling, LEFT / downsampling];
    const width = heads * VALUE;
    const whole = this.withCache(name, weights.quantisedLinear(x, dimension, width), 0, left);
    const values = graph.op('Reshape', [whole, graph.int64s([left + time, -1, heads, VALUE])]);
    const seen = graph.op('MatMul', [attention, graph.op('Transpose', [values], { perm: [2, 1, 0, 3] })]);
    const back = graph.op('Transpose', [seen], { perm: [2, 1, 0, 3] });
    return weights.quantisedLinear(graph.op('Reshape', [back, graph.int64s([time, -1, width])]), width, dimension);
  }

  convolution(x: string, { dimension, kernel }: Stack, masks: Masks, name: string): string {
    const { graph, weights } = this;
    const half = (kernel - 1) / 2;
    const [value = '', gate = ''] = graph.ops('Split', [weights.quantisedLinear(x, dimension, 2 * dimension)], 2, { axis: 2 });
    const gated = graph.op('Mul', [value, graph.op('Sigmoid', [gate])]);
    const turned = graph.op('Transpose', [gated], { perm: [1, 2, 0] });
    const masked = graph.op('Where', [masks.chunk, graph.floats(0), turned]);
    const whole = this.withCache(name, masked, 2, half);
    const channels = { from: dimension, to: dimension, groups: dimension };
    const causal = weights.conv(whole, channels, half + 1);
    const within = graph.op('Mul', [weights.conv(masked, channels, kernel, { pads: [half, half] }), graph.floats(0.5)]);
    const sum = this.swoosh(graph.op('Add', [within, causal]), 'right');
    return weights.quantisedLinear(graph.op('Transpose', [sum], { perm: [2, 0, 1] }), dimension, dimension);
  }
}

interface Masks {
  /** [N, 1, left + T], true for what was before the stream began. */
  readonly attention: string;
  /** [N, 1, T] */
  readonly chunk: string;
}

/** Frames as averages of several. */
function downsampled(model: Encoder, x: string, by: number, dimension: number): string {
  const { graph } = model;
  const shares = graph.floats(new Float32Array(by).fill(1 / by), [by, 1, 1]);
  const groups = graph.op('Reshape', [x, graph.int64s([CHUNK / by, by, -1, dimension])]);
  return graph.op('ReduceSum', [graph.op('Mul', [groups, shares]), graph.int64s([1])], { keepdims: 0 });
}

function upsampled(model: Encoder, x: string, by: number, dimension: number): string {
  const { graph } = model;
  const repeated = graph.op('Expand', [graph.op('Unsqueeze', [x, graph.int64s([1])]), graph.int64s([1, by, 1, 1])]);
  return graph.op('Reshape', [repeated, graph.int64s([CHUNK, -1, dimension])]);
}

/** The states of a stream, in the order in which sherpa-onnx gives them. */
function stateShapes(): [name: string, shape: readonly (number | string)[]][] {
  const layers = STACKS.flatMap((stack) => Array.from({ length: stack.layers }, () => stack));
  const ofLayers = layers.flatMap(({ dimension, heads, kernel, downsampling }, number): ReturnType<typeof stateShapes> => {
    const left = LEFT / downsampling;
    return [
      [`cached_key_${number}`, [left, 'N', heads * QUERY]],
      [`cached_nonlin_attn_${number}`, [1, 'N', left, (dimension * 3) / 4]],
      [`cached_val1_${number}`, [left, 'N', heads * VALUE]],
      [`cached_val2_${number}`, [left, 'N', heads * VALUE]],
      [`cached_conv1_${number}`, ['N', dimension, (kernel - 1) / 2]],
      [`cached_conv2_${number}`, ['N', dimension, (kernel - 1) / 2]],
    ];
  });
  return [...ofLayers, ['embed_states', ['N', 128, 3, 19]], ['processed_lens', ['N']]];
}

function encoder(): Uint8Array {
  const model = new Encoder();
  const { graph, weights, states } = model;
  const features = graph.input('x', 'float', ['N', FRAMES, FEATURES]);
  const shapes = stateShapes();
  const typeOf = (name: string): 'int64' | 'float' => (name === 'processed_lens' ? 'int64' : 'float');
  for (const [name, shape] of shapes) graph.input(name, typeOf(name), shape);
  states.set('processed_lens', graph.op('Add', ['processed_lens', graph.int64s([CHUNK])]));

  // Frames that were not there when the stream began are masked, the oldest first.
  const ages = graph.int64s(
    Array.from({ length: LEFT }, (_, at) => LEFT - 1 - at),
    [1, LEFT],
  );
  const processed = graph.op('Unsqueeze', ['processed_lens', graph.int64s([1])]);
  const before = graph.op('LessOrEqual', [processed, ages]);
  const chunk = graph.op('Expand', [
    graph.op('Less', [
      graph.int64s(
        Array.from({ length: CHUNK }, () => 1),
        [1, CHUNK],
      ),
      graph.int64s([0]),
    ]),
    graph.op('Shape', [processed]),
  ]);
  const whole = graph.op('Concat', [before, chunk], { axis: 1 });

  let value = model.embed(features);
  let width = STACKS[0].dimension as number;
  const outputs: { readonly value: string; readonly dimension: number }[] = [];
  for (const stack of STACKS) {
    const { dimension, downsampling } = stack;
    if (dimension > width) {
      const none = graph.op('Mul', [model.slice(value, 0, 1, 2), graph.floats(0)]);
      const zeros = graph.op('Expand', [none, graph.int64s([1, 1, dimension - width])]);
      value = graph.op('Concat', [value, zeros], { axis: 2 });
    } else if (dimension < width) value = model.slice(value, 0, dimension, 2);
    width = dimension;
    const rows = (mask: string): string =>
      graph.op('Unsqueeze', [model.slice(mask, 0, 2 ** 31, 1, downsampling), graph.int64s([1])]);
    const masks = { attention: rows(whole), chunk: rows(chunk) };
    const original = value;
    if (downsampling > 1) value = downsampled(model, value, downsampling, dimension);
    for (let layer = 0; layer < stack.layers; layer += 1) value = model.layer(value, stack, masks);
    if (downsampling > 1) value = model.bypass(original, upsampled(model, value, downsampling, dimension), dimension);
    outputs.push({ value, dimension });
  }
  // All the channels there are: of each stack, from the last one on, those that no later one has.
  let known = 0;
  const pieces = outputs.toReversed().flatMap(({ value: output, dimension }) => {
    if (dimension <= known) return [];
    const piece = model.slice(output, known, dimension, 2);
    known = dimension;
    return [piece];
  });
  const full = graph.op('Concat', pieces, { axis: 2 });
  const halved = graph.op('Transpose', [downsampled(model, full, 2, known)], { perm: [1, 0, 2] });
  graph.output('encoder_out', weights.quantisedLinear(halved, known, JOINER), 'float', ['N', CHUNK / 2, JOINER]);
  for (const [name, shape] of shapes) graph.output(`new_${name}`, states.get(name) ?? name, typeOf(name), shape);
  const list = (of: (stack: Stack) => number): string => STACKS.map(of).join(',');
  return graph.bytes({
    model_type: 'zipformer2',
    version: 1,
    model_author: 'k2-fsa',
    comment: 'random weights',
    decode_chunk_len: 2 * CHUNK,
    T: FRAMES,
    num_encoder_layers: list(({ layers }) => layers),
    encoder_dims: list(({ dimension }) => dimension),
    cnn_module_kernels: list(({ kernel }) => kernel),
    left_context_len: list(({ downsampling }) => LEFT / downsampling),
    query_head_dims: list(() => QUERY),
    value_head_dims: list(() => VALUE),
    num_heads: list(({ heads }) => heads),
  });
}

function decoder(): Uint8Array {
  const graph = new OnnxGraph();
  const weights = new RandomWeights(graph);
  const y = graph.input('y', 'int64', ['N', 2]);
  const embedded = graph.op('Gather', [weights.floats([VOCABULARY, JOINER], 3), y]);
  const turned = graph.op('Transpose', [embedded], { perm: [0, 2, 1] });
  const seen = graph.op('Relu', [weights.conv(turned, { from: JOINER, to: JOINER, groups: JOINER / 4 }, 2)]);
  const flat = graph.op('Squeeze', [seen, graph.int64s([2])]);
  graph.output('decoder_out', weights.quantisedLinear(flat, JOINER, JOINER), 'float', ['N', JOINER]);
  return graph.bytes({ context_size: 2, vocab_size: VOCABULARY });
}

function joiner(): Uint8Array {
  const graph = new OnnxGraph();
  const weights = new RandomWeights(graph);
  const sum = graph.op('Add', [
    graph.input('encoder_out', 'float', ['N', JOINER]),
    graph.input('decoder_out', 'float', ['N', JOINER]),
  ]);
  const logits = weights.quantisedLinear(graph.op('Tanh', [sum]), JOINER, VOCABULARY, { bias: false });
  // The blank is as likely as in speech: some four tokens are heard in a second.
  const bias = graph.floats([BLANK, ...Array.from({ length: VOCABULARY - 1 }, () => 0)]);
  graph.output('logit', graph.op('Add', [logits, bias]), 'float', ['N', VOCABULARY]);
  return graph.bytes({ joiner_dim: JOINER });
}

const BLANK = 0.57;
