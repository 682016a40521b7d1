import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { noise, seededRandom } from '../../../../../src/audio/tone.ts';
import { type TinyKind, writeTinyRecogniser } from '../../../../support/onnx/tiny-recognisers.ts';
import { soundOf } from '../../../../support/onnx/tiny-words.ts';

interface Stream {
  acceptWaveform(audio: { samples: Float32Array; sampleRate: number }): void;
  inputFinished?(): void;
}
interface Recogniser {
  createStream(hotwords?: string): Stream;
  isReady?(stream: Stream): boolean;
  decode(stream: Stream): void;
  getResult(stream: Stream): unknown;
}
type Open = new (config: unknown) => Recogniser;
const isClass = z.custom<Open>((value) => typeof value === 'function');
const { OnlineRecognizer, OfflineRecognizer } = z
  .object({ OnlineRecognizer: isClass, OfflineRecognizer: isClass })
  .parse(createRequire(import.meta.url)('sherpa-onnx-node'));

const folder = mkdtempSync(join(tmpdir(), 'offhook-tiny-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Files = Readonly<Record<string, string>>;
const kinds: Readonly<Record<TinyKind, (files: Files) => object>> = {
  'streaming-transducer': (files) => ({ transducer: files }),
  'streaming-ctc': (files) => ({ zipformer2Ctc: files }),
  'offline-transducer': (files) => ({ transducer: files }),
  'offline-ctc': (files) => ({ nemoCtc: files }),
  whisper: (files) => ({ whisper: files }),
  moonshine: (files) => ({ moonshine: files }),
  'sense-voice': (files) => ({ senseVoice: files }),
};

function open(kind: TinyKind, more: object = {}): Recogniser {
  const model = writeTinyRecogniser(join(folder, kind), { kind });
  const files = Object.fromEntries(Object.entries(model.files).map(([role, file]) => [role, join(folder, kind, String(file))]));
  const hotwords = 'bpeVocab' in files ? { bpeVocab: files['bpeVocab'], modelingUnit: 'bpe' } : {};
  const modelConfig = { ...kinds[kind](files), tokens: files['tokens'], ...hotwords };
  const Recognizer = kind.startsWith('streaming') ? OnlineRecognizer : OfflineRecognizer;
  return new Recognizer({ featConfig: { sampleRate: 16_000, featureDim: 80 }, modelConfig, ...more });
}

function textOf(recogniser: Recogniser, pcm: Int16Array, rateHz: number, hotwords?: string): string {
  const stream = recogniser.createStream(hotwords);
  // Silence at the end, which brings the last words out of a streaming encoder.
  for (const part of [pcm, new Int16Array(rateHz / 2)]) {
    stream.acceptWaveform({ samples: Float32Array.from(part, (sample) => sample / 32_768), sampleRate: rateHz });
  }
  stream.inputFinished?.();
  if (recogniser.isReady === undefined) recogniser.decode(stream);
  while (recogniser.isReady?.(stream) === true) recogniser.decode(stream);
  return z.object({ text: z.string() }).parse(recogniser.getResult(stream)).text.trim();
}

describe('tiny recognisers, as sherpa-onnx opens them', () => {
  const sentence = ['doctor', 'yes', 'yes', 'monday', 'no', 'one', 'two', 'doctor'];

  it.each(Object.keys(kinds) as TinyKind[])('hears words and no silence: %s', (kind) => {
    const recogniser = open(kind);
    expect(textOf(recogniser, soundOf(sentence, 8_000), 8_000)).toBe(sentence.join(' '));
    expect(textOf(recogniser, soundOf(sentence.toReversed(), 16_000), 16_000)).toBe(sentence.toReversed().join(' '));
    expect(textOf(recogniser, noise(1_000, 8_000, 0.005, seededRandom(1)), 8_000)).toBe('');
  });

  it('tells two words that sound alike apart by its hotwords', () => {
    const recogniser = open('offline-transducer', { decodingMethod: 'modified_beam_search', hotwordsScore: 2 });
    const alike = soundOf(['no/two'], 16_000);
    expect(textOf(recogniser, alike, 16_000, 'no')).toBe('no');
    expect(textOf(recogniser, alike, 16_000, 'two')).toBe('two');
  });
});
