import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type VoiceModel, voiceModel } from '../../src/speech/models/model.ts';
import { PHONEMES, writeEspeakData } from '../../test/support/onnx/espeak-data.ts';
import { OnnxGraph } from '../../test/support/onnx/onnx-graph.ts';
import { RandomWeights } from './random-weights.ts';

/**
 * A Piper voice of medium quality: VITS with 192 channels, six layers of text encoder, four flows, and a HiFi-GAN of 256 channels that
 * makes 256 samples of each frame (`piper_train`, `--quality medium`; one speaker). Simplified, since it costs next to nothing: attention
 * without relative positions, duration flows without their splines, and three frames for every token, whatever the pace. That is the
 * pace of speech: Piper puts a token between any two phonemes.
 */
const CHANNELS = 192;
const FILTERS = 768;
const HEADS = 2;
const LAYERS = 6;
const FLOWS = 4;
const FRAMES_PER_TOKEN = 3;
const SLOPE = { alpha: { float: 0.1 } };
const UPSAMPLING = [
  { rate: 8, kernel: 16 },
  { rate: 8, kernel: 16 },
  { rate: 4, kernel: 8 },
] as const;
const RESIDUALS = [
  { kernel: 3, dilations: [1, 2] },
  { kernel: 5, dilations: [2, 6] },
  { kernel: 7, dilations: [3, 12] },
] as const;

/** Writes the voice with random weights, 60 MB, and espeak's data for English. Its sound is noise. @param folder is made */
export async function writePiperVits(folder: string, { name = 'random-piper', languages = ['en'] } = {}): Promise<VoiceModel> {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'model.onnx'), voice());
  writeFileSync(join(folder, 'tokens.txt'), Array.from(PHONEMES, (phoneme, id) => `${phoneme} ${id}\n`).join(''));
  await writeEspeakData(join(folder, 'espeak-ng-data'));
  const files = { model: 'model.onnx', tokens: 'tokens.txt', dataDir: 'espeak-ng-data' };
  const model = voiceModel.parse({ name, role: 'voice', kind: 'vits', languages, files });
  writeFileSync(join(folder, 'model.json'), JSON.stringify(model));
  return model;
}

function voice(): Uint8Array {
  const graph = new OnnxGraph();
  const weights = new RandomWeights(graph);
  const op = graph.op.bind(graph);
  const same = (kernel: number, dilation = 1): Readonly<Record<string, readonly number[]>> => {
    const pad = ((kernel - 1) * dilation) / 2;
    return { pads: [pad, pad], dilations: [dilation] };
  };
  const pointwise = (x: string, from: number, to: number): string => weights.conv(x, { from, to }, 1);
  const within = (x: string, kernel: number, to = CHANNELS, from = CHANNELS): string =>
    weights.conv(x, { from, to }, kernel, same(kernel));

  /** Over the channels of [1, channels, T]. */
  const layerNorm = (x: string): string => {
    const centred = op('Sub', [x, op('ReduceMean', [x], { axes: [1] })]);
    const variance = op('ReduceMean', [op('Pow', [centred, graph.floats(2)])], { axes: [1] });
    const scaled = op('Div', [centred, op('Sqrt', [op('Add', [variance, graph.floats(1e-5)])])]);
    const gamma = graph.floats(new Float32Array(CHANNELS).fill(1), [CHANNELS, 1]);
    return op('Add', [op('Mul', [scaled, gamma]), weights.floats([CHANNELS, 1], 300)]);
  };

  const attention = (x: string): string => {
    const heads = (perm: readonly number[]): string => {
      const split = op('Reshape', [pointwise(x, CHANNELS, CHANNELS), graph.int64s([1, HEADS, CHANNELS / HEADS, -1])]);
      return op('Transpose', [split], { perm });
    };
    const scores = op('MatMul', [heads([0, 1, 3, 2]), heads([0, 1, 2, 3])]);
    const shares = op('Softmax', [op('Div', [scores, graph.floats(Math.sqrt(CHANNELS / HEADS))])], { axis: -1 });
    const seen = op('Transpose', [op('MatMul', [shares, heads([0, 1, 3, 2])])], { perm: [0, 1, 3, 2] });
    return pointwise(op('Reshape', [seen, graph.int64s([1, CHANNELS, -1])]), CHANNELS, CHANNELS);
  };

  const gelu = (x: string): string => {
    const erf = op('Erf', [op('Div', [x, graph.floats(Math.SQRT2)])]);
    return op('Mul', [op('Mul', [x, graph.floats(0.5)]), op('Add', [erf, graph.floats(1)])]);
  };

  /** Three layers of separable convolutions, dilated by 1, 3 and 9. */
  const separable = (input: string): string => {
    let x = input;
    for (const dilation of [1, 3, 9]) {
      const deep = weights.conv(x, { from: CHANNELS, to: CHANNELS, groups: CHANNELS }, 3, same(3, dilation));
      const wide = pointwise(gelu(layerNorm(deep)), CHANNELS, CHANNELS);
      x = op('Add', [x, gelu(layerNorm(wide))]);
    }
    return x;
  };

  const tokens = graph.input('input', 'int64', [1, 'T']);
  graph.input('input_lengths', 'int64', [1]);
  const scales = graph.input('scales', 'float', [3]);
  const embedded = op('Gather', [weights.floats([256, CHANNELS], 3), tokens]);
  let x = op('Transpose', [embedded], { perm: [0, 2, 1] });
  for (let layer = 0; layer < LAYERS; layer += 1) {
    x = layerNorm(op('Add', [x, attention(x)]));
    const wide = op('Relu', [within(x, 3, FILTERS)]);
    x = layerNorm(op('Add', [x, within(wide, 3, CHANNELS, FILTERS)]));
  }
  const [mean = '', spread = ''] = graph.ops('Split', [pointwise(x, CHANNELS, 2 * CHANNELS)], 2, { axis: 1 });

  // Durations: the predictor and three of its flows, whose result is replaced.
  let durations = pointwise(separable(pointwise(x, CHANNELS, CHANNELS)), CHANNELS, CHANNELS);
  for (let flow = 0; flow < 3; flow += 1) durations = pointwise(separable(durations), CHANNELS, CHANNELS);
  const nothing = op('Mul', [op('ReduceMean', [durations], { axes: [1] }), graph.floats(0)]);

  const stretched = (value: string): string => {
    const repeated = op('Expand', [op('Unsqueeze', [value, graph.int64s([3])]), graph.int64s([1, 1, 1, FRAMES_PER_TOKEN])]);
    return op('Reshape', [repeated, graph.int64s([1, CHANNELS, -1])]);
  };
  const frames = stretched(op('Add', [mean, nothing]));
  const noiseScale = op('Slice', [scales, graph.int64s([0]), graph.int64s([1])]);
  const noise = op('Mul', [op('RandomNormalLike', [frames]), op('Mul', [op('Exp', [stretched(spread)]), noiseScale])]);
  let z = op('Add', [frames, noise]);

  for (let flow = 0; flow < FLOWS; flow += 1) {
    z = op('Slice', [z, ...[-1, -(2 ** 31), 1, -1].map((each) => graph.int64s([each]))]);
    const [kept = '', changed = ''] = graph.ops('Split', [z], 2, { axis: 1 });
    let hidden = pointwise(kept, CHANNELS / 2, CHANNELS);
    let skipped: string | undefined;
    for (let layer = 0; layer < 4; layer += 1) {
      const [tanh = '', sigmoid = ''] = graph.ops('Split', [within(hidden, 5, 2 * CHANNELS)], 2, { axis: 1 });
      const gated = op('Mul', [op('Tanh', [tanh]), op('Sigmoid', [sigmoid])]);
      const last = layer === 3;
      const result = pointwise(gated, CHANNELS, last ? CHANNELS : 2 * CHANNELS);
      const [rest = '', skip = ''] = last ? ['', result] : graph.ops('Split', [result], 2, { axis: 1 });
      if (!last) hidden = op('Add', [hidden, rest]);
      skipped = skipped === undefined ? skip : op('Add', [skipped, skip]);
    }
    const shift = pointwise(skipped ?? hidden, CHANNELS, CHANNELS / 2);
    z = op('Concat', [kept, op('Sub', [changed, shift])], { axis: 1 });
  }

  let sound = within(z, 7, 256);
  let channels = 256;
  for (const { rate, kernel } of UPSAMPLING) {
    const to = channels / 2;
    const pad = (kernel - rate) / 2;
    const kernels = weights.floats([channels, to, kernel], (channels * kernel) / rate);
    const wide = [op('LeakyRelu', [sound], SLOPE), kernels, weights.floats([to], 300)];
    const up = op('ConvTranspose', wide, { kernel_shape: [kernel], strides: [rate], pads: [pad, pad] });
    const blocks = RESIDUALS.map(({ kernel: size, dilations }) => {
      let block = up;
      for (const dilation of dilations) {
        const next = weights.conv(op('LeakyRelu', [block], SLOPE), { from: to, to }, size, same(size, dilation));
        block = op('Add', [block, next]);
      }
      return block;
    });
    const sum = blocks.reduce((before, block) => op('Add', [before, block]));
    sound = op('Div', [sum, graph.floats(RESIDUALS.length)]);
    channels = to;
  }
  const mono = weights.conv(op('LeakyRelu', [sound]), { from: channels, to: 1 }, 7, same(7));
  graph.output('output', op('Unsqueeze', [op('Tanh', [mono]), graph.int64s([0])]), 'float', [1, 1, 1, 'S']);
  const espeak = { has_espeak: 1, voice: 'en-us', language: 'English', add_blank: 1 };
  return graph.bytes({ model_type: 'vits', comment: 'piper', sample_rate: 22_050, n_speakers: 1, ...espeak });
}
