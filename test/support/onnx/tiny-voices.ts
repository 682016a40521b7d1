import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type VoiceModel, voiceModel } from '../../../src/speech/models/model.ts';
import { MARKS, PHONEMES, writeEspeakData } from './espeak-data.ts';
import { OnnxGraph } from './onnx-graph.ts';

/** What a tiny voice makes of a letter, a space or a mark: so much sound, or so much silence. */
export const TOKEN_MS = 80;
/** Rates of published voices differ; this one is none of the telephone's. */
export const VOICE_RATE_HZ = 22_050;
const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
/** Letters of Hindi; those of other scripts are unknown to the voice. */
const DEVANAGARI = Array.from({ length: 0x80 }, (_, at) => String.fromCodePoint(0x900 + at))
  .filter((each) => each !== '\u0964')
  .join('');

/** Hertz of a letter's hum by the first speaker: 120 for a, 10 more for each letter after it; every later speaker hums a fifth higher. */
export const pitchOf = (letter: string, speaker = 0): number => (120 + 10 * LETTERS.indexOf(letter)) * 1.5 ** speaker;

interface TinyVoice<Kind extends VoiceModel['kind']> {
  readonly kind: Kind;
  readonly name?: string;
  readonly languages?: readonly string[];
  /** How many, or their names, which only Kokoro tells. */
  readonly speakers?: number | readonly string[];
  /** Products of large matrices that each piece of text costs, some 5 ms each; 0 for a voice that costs nothing. */
  readonly slowness?: number;
}

/**
 * Writes a voice that hums, which sherpa-onnx opens, and its `model.json`. A VITS one hums the letters of English and Hindi as they are
 * written, the others what espeak makes of English.
 * @param folder is made
 */
export async function writeTinyVoice<Kind extends VoiceModel['kind']>(
  folder: string,
  { kind, name = `tiny-${kind}`, languages = ['en'], speakers = 1, slowness = 0 }: TinyVoice<Kind>,
): Promise<VoiceModel> {
  mkdirSync(folder, { recursive: true });
  const names = typeof speakers === 'number' ? Array.from({ length: speakers }, (_, at) => `speaker${at}`) : speakers;
  const letters = kind === 'vits' ? Array.from(MARKS + LETTERS + DEVANAGARI) : Array.from(PHONEMES);
  writeFileSync(join(folder, 'tokens.txt'), letters.map((letter, id) => `${letter} ${id}\n`).join(''));
  const files: Record<string, string> = { tokens: 'tokens.txt' };
  for (const [role, bytes] of Object.entries(makers[kind](letters, names, slowness))) {
    files[role] = role === 'voices' ? 'voices.bin' : `${role}.onnx`;
    writeFileSync(join(folder, files[role] ?? ''), bytes);
  }
  if (kind !== 'vits') {
    await writeEspeakData(join(folder, 'espeak-ng-data'));
    files['dataDir'] = 'espeak-ng-data';
  }
  const model = voiceModel.parse({ name, role: 'voice', kind, languages, files });
  writeFileSync(join(folder, 'model.json'), JSON.stringify(model));
  return model;
}

type Makers = Readonly<
  Record<
    VoiceModel['kind'],
    (letters: readonly string[], names: readonly string[], slowness: number) => Readonly<Record<string, Uint8Array>>
  >
>;

const makers: Makers = {
  vits(letters, { length: speakers }, slowness) {
    const graph = new OnnxGraph();
    const x = graph.input('x', 'int64', ['N', 'T']);
    graph.input('x_length', 'int64', ['N']);
    const scales = graph.input('scales', 'float', [3]);
    const speaker = graph.op('Cast', [graph.input('sid', 'int64', [1])], { to: 1 });
    const pace = graph.op('Slice', [scales, graph.int64s([1]), graph.int64s([2])]);
    const height = graph.op('Pow', [graph.floats(1.5), speaker]);
    graph.output('y', hum(graph, frames(graph, x, letters, height, slowness), pace), 'float', [1, 1, 'S']);
    const comment = { model_type: 'vits', comment: 'coqui', frontend: 'characters', language: 'English', n_speakers: speakers };
    const ids = { use_eos_bos: 0, add_blank: 0, blank_id: 0, bos_id: 0, eos_id: 0, pad_id: 0 };
    return { model: graph.bytes({ ...comment, ...ids, sample_rate: VOICE_RATE_HZ, punctuation: '' }) };
  },
  matcha(letters, { length: speakers }, slowness) {
    const graph = new OnnxGraph();
    const x = graph.input('x', 'int64', ['N', 'T']);
    graph.input('x_length', 'int64', ['N']);
    graph.input('noise_scale', 'float', [1]);
    const pace = graph.input('length_scale', 'float', [1]);
    // Two bands in place of a mel spectrum: pitch and loudness, and a third one for the pace.
    const bands = frames(graph, x, letters, graph.floats([1]), slowness);
    const paces = graph.op('Add', [graph.op('Mul', [bands.pitch, graph.floats(0)]), pace]);
    const rows = [bands.pitch, bands.loudness, paces].map((each) => graph.op('Unsqueeze', [each, graph.int64s([1])]));
    graph.output('mel', graph.op('Concat', rows, { axis: 1 }), 'float', [1, 3, 'T']);
    const vocoder = new OnnxGraph();
    const mel = vocoder.input('mel', 'float', [1, 3, 'T']);
    const [pitch = '', loudness = '', given = ''] = vocoder
      .ops('Split', [mel], 3, { axis: 1 })
      .map((row) => vocoder.op('Squeeze', [row, vocoder.int64s([1])]));
    const first = vocoder.op('Slice', [given, ...[0, 1, 1].map((each) => vocoder.int64s([each]))]);
    const sound = hum(vocoder, { pitch, loudness }, vocoder.op('Squeeze', [first, vocoder.int64s([0])]));
    vocoder.output('audio', sound, 'float', [1, 1, 'S']);
    const espeak = { has_espeak: 1, jieba: 0, voice: 'en-us', use_eos_bos: 1, pad_id: 0, add_blank: 0, version: 1 };
    return {
      acousticModel: graph.bytes({ model_type: 'matcha-tts', sample_rate: VOICE_RATE_HZ, n_speakers: speakers, ...espeak }),
      vocoder: vocoder.bytes({ model_type: 'hifigan', sample_rate: VOICE_RATE_HZ }),
    };
  },
  kokoro(letters, names, slowness) {
    const graph = new OnnxGraph();
    const x = graph.input('tokens', 'int64', [1, 'T']);
    const style = graph.input('style', 'float', [1, 1]);
    const pace = graph.op('Div', [graph.floats(1), graph.input('speed', 'float', [1])]);
    const height = graph.op('Squeeze', [style, graph.int64s([0])]);
    graph.output('audio', hum(graph, frames(graph, x, letters, height, slowness), pace), 'float', [1, 1, 'S']);
    // A style of one number, how high the speaker hums, for each length that a text may have.
    const most = 510;
    const styles = Float32Array.from({ length: most * names.length }, (_, at) => 1.5 ** Math.floor(at / most));
    const shape = { style_dim: `${most},1,1`, n_speakers: names.length, speaker_names: names.join(','), version: 1 };
    return {
      model: graph.bytes({ model_type: 'kokoro', sample_rate: VOICE_RATE_HZ, has_espeak: 1, voice: 'en-us', ...shape }),
      voices: Buffer.from(styles.buffer),
    };
  },
};

interface Frames {
  /** Hertz of each token, [1, T]. */
  readonly pitch: string;
  /** 0 to 1, [1, T]. */
  readonly loudness: string;
}

/** @param height what the pitch is multiplied by, [1] */
function frames(graph: OnnxGraph, x: string, letters: readonly string[], height: string, slowness: number): Frames {
  const heard = letters.map((letter) => !`_^$${MARKS}`.includes(letter));
  const pitches = letters.map((letter, id) => {
    if (heard[id] !== true) return 100;
    return LETTERS.includes(letter) ? pitchOf(letter) : 120 + 10 * (id % LETTERS.length);
  });
  const pitch = graph.op('Mul', [graph.op('Gather', [graph.floats(pitches), x]), height]);
  const loudness = graph.op('Gather', [graph.floats(heard.map(Number)), x]);
  if (slowness === 0) return { pitch, loudness };
  const nothing = graph.op('Mul', [graph.op('ReduceMean', [loudness], { keepdims: 0 }), graph.floats(0)]);
  let work = graph.op('Expand', [nothing, graph.int64s([512, 512])]);
  for (let at = 0; at < slowness; at += 1) work = graph.op('MatMul', [work, work]);
  return { pitch, loudness: graph.op('Add', [loudness, graph.op('ReduceMean', [work], { keepdims: 0 })]) };
}

/** @param pace how much longer than `TOKEN_MS` a token takes, [1] @returns samples, [1, 1, S] */
function hum(graph: OnnxGraph, { pitch, loudness }: Frames, pace: string): string {
  const length = graph.op('Round', [graph.op('Mul', [pace, graph.floats((TOKEN_MS * VOICE_RATE_HZ) / 1_000)])]);
  const shape = graph.op('Concat', [graph.int64s([1, 1]), graph.op('Cast', [length], { to: 7 })], { axis: 0 });
  const stretched = (value: string): string => {
    const repeated = graph.op('Expand', [graph.op('Unsqueeze', [value, graph.int64s([2])]), shape]);
    return graph.op('Reshape', [repeated, graph.int64s([1, 1, -1])]);
  };
  const step = graph.op('Mul', [stretched(pitch), graph.floats((2 * Math.PI) / VOICE_RATE_HZ)]);
  const phase = graph.op('CumSum', [step, graph.int64s(2)]);
  const harmonic = (number: number, level: number): string =>
    graph.op('Mul', [graph.op('Sin', [graph.op('Mul', [phase, graph.floats(number)])]), graph.floats(level)]);
  const throat = graph.op('Add', [graph.op('Add', [harmonic(1, 0.3), harmonic(2, 0.15)]), harmonic(3, 0.1)]);
  return graph.op('Mul', [throat, stretched(loudness)]);
}
