import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type RecognitionModel, recognitionModel } from '../../../src/speech/models/model.ts';
import { OnnxGraph } from './onnx-graph.ts';
import {
  BANDS,
  BEGUN,
  beginnings,
  END,
  formantHz,
  KALDI,
  logarithm,
  NEMO,
  NO_POWER,
  probabilities,
  SENSE_VOICE,
  STEEPNESS,
  steps,
  SUBSAMPLING,
  swapped,
  TINY_WORDS,
  WHISPER,
} from './tiny-words.ts';

/** The kinds that can be made small: the merged decoder of Moonshine v2 has a cache in it. */
export type TinyKind = Exclude<RecognitionModel['kind'], 'moonshine-v2'>;

interface TinyOptions<Kind extends TinyKind> {
  readonly kind: Kind;
  readonly name?: string;
  readonly languages?: readonly string[];
  /** At most a dozen, so that their formants stay apart. */
  readonly words?: readonly string[];
}

/**
 * Writes a recogniser of about a kilobyte, which sherpa-onnx opens, and its `model.json`. It knows words by the band in which they are
 * loudest (`soundOf`) and says nothing about silence and soft noise; speech of a person or a voice becomes some of its words.
 * @param folder is made
 */
export function writeTinyRecogniser<Kind extends TinyKind>(
  folder: string,
  { kind, name = `tiny-${kind}`, languages = ['en'], words = TINY_WORDS }: TinyOptions<Kind>,
): RecognitionModel {
  mkdirSync(folder, { recursive: true });
  const { files, more = {} } = makers[kind](words);
  for (const [file, bytes] of Object.entries(files)) writeFileSync(join(folder, file), bytes);
  const names = Object.keys(files);
  const inRoles = Object.fromEntries(names.map((file) => [file.replace(/\.[a-z]+$/u, ''), file]));
  const description = recognitionModel.parse({ name, role: 'recognition', kind, languages, files: inRoles, ...more });
  writeFileSync(join(folder, 'model.json'), JSON.stringify(description));
  return description;
}

/** Files are named after their roles in `model.json`. */
interface TinyFiles {
  readonly files: Readonly<Record<string, Uint8Array | string>>;
  /** What else stands in `model.json`. */
  readonly more?: Readonly<Record<string, string>>;
}

const makers: Readonly<Record<TinyKind, (words: readonly string[]) => TinyFiles>> = {
  'streaming-transducer': (words) => ({
    files: { 'encoder.onnx': streamingEncoder(words), ...transducer(words) },
  }),
  'offline-transducer': (words) => ({
    files: { 'encoder.onnx': offlineEncoder(words), ...transducer(words) },
  }),
  'streaming-ctc': (words) => ({
    files: { 'model.onnx': streamingCtc(words), 'tokens.txt': tokenList(['<blk>', ...units(words)]) },
    more: { family: 'zipformer2' },
  }),
  'offline-ctc': (words) => ({
    // A model of NeMo, whose blank is the last token.
    files: { 'model.onnx': nemoCtc(words), 'tokens.txt': tokenList([...units(words), '<blk>']) },
    more: { family: 'nemo' },
  }),
  'sense-voice': (words) => ({
    files: { 'model.onnx': senseVoice(words), 'tokens.txt': tokenList(['<unk>', ...units(words), ...SENSE_MARKS]) },
  }),
  whisper: (words) => ({ files: whisper(words) }),
  moonshine: (words) => ({ files: moonshine(words) }),
};

const units = (words: readonly string[]): string[] => words.map((word) => `\u2581${word}`);
const tokenList = (tokens: readonly string[]): string => tokens.map((token, id) => `${token} ${id}\n`).join('');

/** Logit of a word that surely begins. */
const SURE = 10;

/** Logits of a transducer: a word where it begins. The blank has a constant one, in the joiner. */
function transducerLogits(graph: OnnxGraph, begun: string, tokens: number): string {
  return graph.op('Mul', [begun, graph.floats([0, ...Array.from({ length: tokens - 1 }, () => SURE)])]);
}

/** A chunk of 160 ms; one stream or several at once. */
function streamingEncoder(words: readonly string[]): Uint8Array {
  const graph = new OnnxGraph();
  const tokens = words.length + 1;
  const chunk = 16;
  const x = graph.input('x', 'float', ['N', chunk + 7, BANDS]);
  const h = graph.input('h', 'float', [1, 'N', tokens]);
  const c = graph.input('c', 'float', [1, 'N', 1]);
  const now = probabilities(graph, steps(graph, x, 0, chunk), ['', ...words], KALDI);
  // The state begins as zeros, and so stands for how sure sound is: 1 less the probability of the blank.
  const flip = graph.floats([1, ...words.map(() => 0)]);
  const flipped = (step: string): string => graph.op('Transpose', [graph.op('Sub', [flip, step])], { perm: [1, 0, 2] });
  const begun = beginnings(graph, now, flipped(h));
  graph.output('encoder_out', transducerLogits(graph, begun, tokens), 'float', ['N', chunk / SUBSAMPLING, tokens]);
  graph.output('next_h', flipped(steps(graph, now, -1, END)), 'float', [1, 'N', tokens]);
  graph.output('next_c', c, 'float', [1, 'N', 1]);
  // The recurrent one has the fewest states: two.
  const shape = { num_encoder_layers: 1, d_model: tokens, rnn_hidden_size: 1 };
  return graph.bytes({ model_type: 'lstm', T: chunk + 7, decode_chunk_len: chunk, ...shape });
}

function offlineEncoder(words: readonly string[]): Uint8Array {
  const graph = new OnnxGraph();
  const tokens = words.length + 1;
  const x = graph.input('x', 'float', ['N', 'T', BANDS]);
  const lengths = graph.input('x_lens', 'int64', ['N']);
  const now = probabilities(graph, x, ['', ...words], KALDI);
  graph.output('encoder_out', transducerLogits(graph, beginnings(graph, now, silence(graph, now, tokens)), tokens), 'float', [
    'N',
    'U',
    tokens,
  ]);
  graph.output('encoder_out_lens', graph.op('Div', [lengths, graph.int64s(SUBSAMPLING)]), 'int64', ['N']);
  return graph.bytes({ model_type: 'zipformer2' });
}

/** A step of silence, which is before the first one. */
function silence(graph: OnnxGraph, now: string, tokens: number): string {
  const nothing = graph.op('Mul', [steps(graph, now, 0, 1), graph.floats(0)]);
  return graph.op('Add', [nothing, graph.floats([1, ...Array.from({ length: tokens - 1 }, () => 0)])]);
}

/** The decoder, which does not look at the last tokens, the joiner, and the units of words, with which hotwords are written. */
function transducer(words: readonly string[]): TinyFiles['files'] {
  const tokens = words.length + 1;
  const decoder = new OnnxGraph();
  const y = decoder.input('y', 'int64', ['N', 2]);
  const nothing = decoder.floats(new Float32Array(tokens), [1, tokens]);
  const zero = decoder.op('Mul', [y, decoder.int64s(0)]);
  const seen = decoder.op('ReduceMean', [decoder.op('Gather', [nothing, zero])], { axes: [1], keepdims: 0 });
  decoder.output('decoder_out', seen, 'float', ['N', tokens]);

  const joiner = new OnnxGraph();
  const both = joiner.op('Add', [
    joiner.input('encoder_out', 'float', ['N', tokens]),
    joiner.input('decoder_out', 'float', ['N', tokens]),
  ]);
  const blank = joiner.floats([SURE * BEGUN, ...Array.from({ length: tokens - 1 }, () => 0)]);
  joiner.output('logit', joiner.op('Add', [both, blank]), 'float', ['N', tokens]);
  return {
    'decoder.onnx': decoder.bytes({ context_size: 2, vocab_size: tokens }),
    'joiner.onnx': joiner.bytes({ joiner_dim: tokens }),
    'tokens.txt': tokenList(['<blk>', ...units(words)]),
    'bpeVocab.txt': units(words)
      .map((unit) => `${unit}\t-1\n`)
      .join(''),
  };
}

/** A chunk of 320 ms. It has the states of one zipformer2 layer, as small as they can be, and returns them as they came. */
function streamingCtc(words: readonly string[]): Uint8Array {
  const graph = new OnnxGraph();
  const tokens = words.length + 1;
  const chunk = 32;
  const x = graph.input('x', 'float', ['N', chunk + 13, BANDS]);
  const dimension = 4;
  const states = {
    cached_key_0: [1, 'N', 1],
    cached_nonlin_attn_0: [1, 'N', 1, (3 * dimension) / 4],
    cached_val1_0: [1, 'N', 1],
    cached_val2_0: [1, 'N', 1],
    cached_conv1_0: ['N', dimension, 1],
    cached_conv2_0: ['N', dimension, 1],
    embed_states: ['N', 128, 3, 19],
    processed_lens: ['N'],
  } as const;
  const inputs = Object.entries(states).map(([name, shape]) => {
    const type = name === 'processed_lens' ? 'int64' : 'float';
    return { name, shape, type, value: graph.input(name, type, shape) } as const;
  });
  const log = logarithm(graph, probabilities(graph, steps(graph, x, 0, chunk), ['', ...words], KALDI));
  graph.output('log_probs', log, 'float', ['N', chunk / SUBSAMPLING, tokens]);
  for (const { name, shape, type, value } of inputs) graph.output(`new_${name}`, value, type, shape);
  return graph.bytes({
    model_type: 'zipformer2',
    T: chunk + 13,
    decode_chunk_len: chunk,
    encoder_dims: dimension,
    query_head_dims: 1,
    value_head_dims: 1,
    num_heads: 1,
    num_encoder_layers: 1,
    cnn_module_kernels: 3,
    left_context_len: 1,
  });
}

function nemoCtc(words: readonly string[]): Uint8Array {
  const graph = new OnnxGraph();
  const tokens = words.length + 1;
  const signal = graph.input('audio_signal', 'float', ['N', BANDS, 'T']);
  graph.input('length', 'int64', ['N']);
  const heard = probabilities(graph, swapped(graph, signal), [...words, ''], NEMO);
  graph.output('logprobs', logarithm(graph, heard), 'float', ['N', 'U', tokens]);
  return graph.bytes({
    model_type: 'EncDecCTCModelBPE',
    vocab_size: tokens,
    subsampling_factor: SUBSAMPLING,
    normalize_type: '',
  });
}

/** What a SenseVoice says before the words: language, emotion, event, and how numbers are written. */
const SENSE_MARKS = ['<|en|>', '<|NEUTRAL|>', '<|Speech|>', '<|woitn|>'];

function senseVoice(words: readonly string[]): Uint8Array {
  const graph = new OnnxGraph();
  // Seven frames stand beside each other; the middle one is heard.
  const window = 7;
  const x = graph.input('x', 'float', ['N', 'T', BANDS * window]);
  graph.input('x_length', 'int32', ['N']);
  graph.input('language', 'int32', ['N']);
  graph.input('text_norm', 'int32', ['N']);
  const middle = steps(graph, x, 3 * BANDS, 4 * BANDS, 2);
  const tokens = ['', ...words, ...SENSE_MARKS.map(() => undefined)];
  const log = logarithm(graph, probabilities(graph, middle, tokens, SENSE_VOICE, 1));
  const marks = SENSE_MARKS.flatMap((_, mark) => tokens.map((__, token) => (token === words.length + 1 + mark ? 0 : -20)));
  const empty = graph.op('Mul', [steps(graph, log, 0, 1), graph.floats(0)]);
  const first = graph.op('Add', [empty, graph.floats(marks, [1, SENSE_MARKS.length, tokens.length])]);
  graph.output('logits', graph.op('Concat', [first, log], { axis: 1 }), 'float', ['N', 'U', tokens.length]);
  const languages = { lang_auto: 0, lang_zh: 3, lang_en: 4, lang_ja: 11, lang_ko: 12, lang_yue: 7 };
  return graph.bytes({
    model_type: 'sense_voice',
    comment: 'a tiny model for tests',
    vocab_size: tokens.length,
    lfr_window_size: window,
    lfr_window_shift: 6,
    normalize_samples: 1,
    with_itn: 14,
    without_itn: 15,
    neg_mean: Array.from({ length: BANDS * window }, () => 0).join(','),
    inv_stddev: Array.from({ length: BANDS * window }, () => 1).join(','),
    ...languages,
  });
}

/**
 * The words of an utterance as Whisper and Moonshine want them, one a step of the decoder.
 * @param now [1, steps, tokens] with the blank first
 * @param number which word is wanted, the first one is 1; an int64 of one element
 * @returns [1, 1, tokens]: 1 for the word, and ½ for the blank
 */
function wordOfNumber(graph: OnnxGraph, now: string, number: string, tokens: number): string {
  const rise = beginnings(graph, now, silence(graph, now, tokens));
  const words = graph.floats([0, ...Array.from({ length: tokens - 1 }, () => 1)]);
  const sure = graph.op('Cast', [graph.op('Greater', [rise, graph.floats(BEGUN)])], { to: 1 });
  const begun = graph.op('Mul', [sure, words]);
  const counted = graph.op('CumSum', [graph.op('ReduceSum', [begun, graph.int64s([2])], { keepdims: 1 }), graph.int64s(1)]);
  const wanted = graph.op('Equal', [graph.op('Cast', [counted], { to: 7 }), number]);
  const here = graph.op('Mul', [begun, graph.op('Cast', [wanted], { to: 1 })]);
  const word = graph.op('ReduceSum', [here, graph.int64s([1])], { keepdims: 1 });
  return graph.op('Add', [word, graph.floats([0.5, ...Array.from({ length: tokens - 1 }, () => 0)])]);
}

/** English alone: [start, no timestamps] is what the decoder is given first. */
function whisper(words: readonly string[]): Readonly<Record<string, Uint8Array | string>> {
  const tokens = words.length + 1;
  const [start, noTimestamps] = [tokens, tokens + 1];
  const encoder = new OnnxGraph();
  const mel = encoder.input('mel', 'float', [1, BANDS, 'T']);
  const now = probabilities(encoder, swapped(encoder, mel), ['', ...words], WHISPER);
  const layers = encoder.op('Unsqueeze', [now, encoder.int64s([0])]);
  encoder.output('n_layer_cross_k', layers, 'float', [1, 1, 'U', tokens]);
  encoder.output('n_layer_cross_v', layers, 'float', [1, 1, 'U', tokens]);

  const decoder = new OnnxGraph();
  const said = decoder.input('tokens', 'int64', [1, 'S']);
  const caches = ['n_layer_self_k_cache', 'n_layer_self_v_cache'].map((name) => ({
    name,
    value: decoder.input(name, 'float', [1, 1, 'C', 1]),
  }));
  const [crossK] = ['n_layer_cross_k', 'n_layer_cross_v'].map((name) => decoder.input(name, 'float', [1, 1, 'U', tokens]));
  const offset = decoder.input('offset', 'int64', [1]);
  // The first call asks for the first word with two tokens, every later one has a higher offset: 2, 3 and so on.
  const number = decoder.op('Max', [decoder.int64s([1]), offset]);
  const heard = decoder.op('Squeeze', [crossK ?? '', decoder.int64s([0])]);
  const logits = wordOfNumber(decoder, heard, number, tokens);
  const each = decoder.op('Unsqueeze', [
    decoder.op('Mul', [decoder.op('Cast', [said], { to: 1 }), decoder.floats(0)]),
    decoder.int64s([2]),
  ]);
  decoder.output('logits', decoder.op('Add', [logits, each]), 'float', [1, 'S', tokens]);
  for (const { name, value } of caches) decoder.output(`out_${name}`, value, 'float', [1, 1, 'C', 1]);
  const metadata = {
    model_type: 'whisper-tiny',
    n_mels: BANDS,
    n_text_layer: 1,
    n_text_ctx: 64,
    n_text_state: 1,
    n_vocab: tokens,
    sot: start,
    eot: 0,
    blank_id: 0,
    translate: start,
    transcribe: start,
    is_multilingual: 0,
    no_timestamps: noTimestamps,
    no_speech: noTimestamps,
    sot_sequence: start,
  };
  const list = words.map((word, index) => `${Buffer.from(` ${word}`).toString('base64')} ${index + 1}\n`);
  return {
    'encoder.onnx': encoder.bytes(metadata),
    'decoder.onnx': decoder.bytes(metadata),
    'tokens.txt': list.join(''),
  };
}

/** It hears samples at 16 kHz: the power near each formant, in windows of 25 ms. Its tokens are unknown, start, end, and the words. */
function moonshine(words: readonly string[]): Readonly<Record<string, Uint8Array | string>> {
  const tokens = words.length + 1;
  const window = 384;
  const preprocessor = new OnnxGraph();
  const audio = preprocessor.input('args_0', 'float', [1, 'samples']);
  const waves = words.flatMap((_, index) => [0, Math.PI / 2].map((phase) => ({ hz: formantHz(index, words.length), phase })));
  const kernels = waves.flatMap(({ hz, phase }) =>
    Array.from({ length: window }, (_, at) => {
      const fade = Math.sin((Math.PI * at) / window) ** 2;
      return fade * Math.sin((2 * Math.PI * hz * at) / 16_000 + phase);
    }),
  );
  const wave = preprocessor.op('Unsqueeze', [audio, preprocessor.int64s([1])]);
  const parts = preprocessor.op('Conv', [wave, preprocessor.floats(kernels, [waves.length, 1, window])], { strides: [window] });
  const squares = preprocessor.op('Mul', [parts, parts]);
  preprocessor.output('sequential', swapped(preprocessor, squares), 'float', [1, 'T', waves.length]);

  const encoder = new OnnxGraph();
  const features = encoder.input('args_0', 'float', [1, 'T', waves.length]);
  encoder.input('args_1', 'int32', [1]);
  const together = encoder.floats(
    waves.flatMap((_, row) => Array.from({ length: tokens }, (__, column) => (column === 1 + (row >> 1) ? 1 : 0))),
    [waves.length, tokens],
  );
  const energies = logarithm(encoder, encoder.op('MatMul', [features, together]));
  // The logarithm of the blank's power, which is none, is raised to that of sound.
  const heard = encoder.op('Add', [energies, encoder.floats([-Math.log(NO_POWER), ...words.map(() => 0)])]);
  const now = encoder.op('Softmax', [encoder.op('Mul', [heard, encoder.floats(STEEPNESS)])], { axis: -1 });
  encoder.output('layer_normalization', now, 'float', [1, 'T', tokens]);

  const decoder = (cached: boolean): Uint8Array => {
    const graph = new OnnxGraph();
    graph.input('args_0', 'int32', [1, 1]);
    const heard = graph.input('args_1', 'float', [1, 'T', tokens]);
    const number = graph.op('Cast', [graph.input('args_2', 'int32', [1])], { to: 7 });
    const state = cached ? graph.input('args_3', 'float', [1]) : graph.floats([0]);
    const logits = wordOfNumber(graph, heard, number, tokens);
    const [end, spoken] = [steps(graph, logits, 0, 1, 2), steps(graph, logits, 1, END, 2)];
    const never = graph.op('Sub', [end, graph.floats(100)]);
    graph.output('logits', graph.op('Concat', [never, never, end, spoken], { axis: 2 }), 'float', [1, 1, tokens + 2]);
    graph.output('state', state, 'float', [1]);
    return graph.bytes();
  };
  return {
    'preprocessor.onnx': preprocessor.bytes(),
    'encoder.onnx': encoder.bytes(),
    'uncachedDecoder.onnx': decoder(false),
    'cachedDecoder.onnx': decoder(true),
    'tokens.txt': tokenList(['<unk>', '<s>', '</s>', ...units(words)]),
  };
}
