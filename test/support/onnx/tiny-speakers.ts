import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type SpeakerModel, speakerModel } from '../../../src/speech/models/model.ts';
import { OnnxGraph } from './onnx-graph.ts';

/**
 * Writes a speaker model that sherpa-onnx opens, and its `model.json`. It tells bright voices from deep ones: by the energy in eight parts
 * of the spectrum (`embedding`), or by how fast the wave moves (`segmentation`).
 * @param folder is made
 */
export function writeTinySpeakers(
  folder: string,
  { kind, name = `tiny-${kind}` }: { readonly kind: SpeakerModel['kind']; readonly name?: string },
): SpeakerModel {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${kind}.onnx`), kind === 'embedding' ? embedding() : segmentation());
  const model = speakerModel.parse({ name, role: 'speakers', kind, files: { model: `${kind}.onnx` } });
  writeFileSync(join(folder, 'model.json'), JSON.stringify(model));
  return model;
}

const BANDS = 80;
const PARTS = 8;

function embedding(): Uint8Array {
  const graph = new OnnxGraph();
  const features = graph.input('feats', 'float', ['N', 'T', BANDS]);
  const mean = graph.op('ReduceMean', [features], { axes: [1], keepdims: 0 });
  const share = PARTS / BANDS;
  const weights = Array.from({ length: BANDS }, (_, band) =>
    Array.from({ length: PARTS }, (__, part) => (Math.floor(band * share) === part ? share : 0)),
  );
  const parts = graph.op('MatMul', [mean, graph.floats(weights.flat(), [BANDS, PARTS])]);
  // How the spectrum differs from that of any voice, however loud.
  const level = graph.op('ReduceMean', [parts], { axes: [1], keepdims: 1 });
  const own = graph.op('Sub', [graph.op('Sub', [parts, level]), graph.floats([-3.5, 3.1, 4, 3.4, 5.8, 4, -8.3, -8.6])]);
  graph.output('embs', own, 'float', ['N', PARTS]);
  const metadata = { framework: 'wespeaker', language: 'English', url: '', comment: '', feature_normalize_type: '' };
  return graph.bytes({ ...metadata, output_dim: PARTS, sample_rate: 16_000, normalize_samples: 1 });
}

/** Ten seconds in steps of 17 ms, as the models of pyannote have them. */
const WINDOW = 160_000;
const FIELD = { size: 991, shift: 270 };
/** Mean squares: of samples that are sound, and of their differences by those of the samples where a voice is bright. */
const SOUND = 1e-5;
const BRIGHT = 0.45;

function segmentation(): Uint8Array {
  const graph = new OnnxGraph();
  const x = graph.input('x', 'float', ['N', 1, WINDOW]);
  const pooled = (value: string): string =>
    graph.op('AveragePool', [graph.op('Mul', [value, value])], { kernel_shape: [FIELD.size], strides: [FIELD.shift] });
  const change = graph.op('Conv', [x, graph.floats([-1, 1], [1, 1, 2])], { pads: [1, 0] });
  const energy = pooled(x);
  const brightness = graph.op('Sub', [pooled(change), graph.op('Mul', [energy, graph.floats(BRIGHT)])]);
  const steep = (value: string): string => graph.op('Tanh', [graph.op('Mul', [value, graph.floats(1e6)])]);
  const silence = steep(graph.op('Sub', [graph.floats(SOUND), energy]));
  const bright = steep(brightness);
  const never = graph.op('Sub', [graph.op('Abs', [bright]), graph.floats(100)]);
  // Nobody, each of three speakers alone, and each two of them together.
  const classes = [graph.op('Mul', [silence, graph.floats(10)]), graph.op('Neg', [bright]), bright, never, never, never, never];
  const turned = graph.op('Transpose', [graph.op('Concat', classes, { axis: 1 })], { perm: [0, 2, 1] });
  graph.output('y', turned, 'float', ['N', 'F', classes.length]);
  return graph.bytes({
    sample_rate: 16_000,
    window_size: WINDOW,
    receptive_field_size: FIELD.size,
    receptive_field_shift: FIELD.shift,
    num_speakers: 3,
    powerset_max_classes: 2,
    num_classes: classes.length,
  });
}
