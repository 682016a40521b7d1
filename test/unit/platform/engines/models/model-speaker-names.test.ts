import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Used, VoiceModel } from '../../../../../src/speech/models/model.ts';
import { namedSpeakers, readOnnxMetadata, speakerFor } from '../../../../../src/platform/engines/models/model-speaker-names.ts';
import { OnnxGraph } from '../../../../support/onnx/onnx-graph.ts';

const folder = mkdtempSync(join(tmpdir(), 'offhook-names-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function modelFile(name: string, metadata: Readonly<Record<string, string | number>>): string {
  const graph = new OnnxGraph();
  // Weights of some size, behind which the metadata stands.
  const x = graph.input('x', 'float', ['N']);
  graph.output('y', graph.op('Mul', [x, graph.floats(new Float32Array(5_000).fill(1))]), 'float', ['N']);
  const path = join(folder, `${name}.onnx`);
  writeFileSync(path, graph.bytes(metadata));
  return path;
}

function used(kind: 'vits' | 'kokoro', name: string, languages: readonly string[], path: string): Used<VoiceModel> {
  const common = { name, role: 'voice' as const, languages: [...languages] };
  const model: VoiceModel =
    kind === 'vits'
      ? { ...common, kind, files: { model: path, tokens: 'tokens.txt' } }
      : { ...common, kind, files: { model: path, voices: 'voices.bin', tokens: 'tokens.txt' } };
  return { model, languages };
}

describe('names of the speakers of models', () => {
  it('come from a Kokoro model, with languages and genders', async () => {
    const names = 'af_bella,am_adam,hf_alpha,hm_omega,ff_siwis';
    const path = modelFile('kokoro', { n_speakers: 5, speaker_names: names });
    const speakers = await namedSpeakers([used('kokoro', 'kokoro', ['en', 'hi'], path)], new Set());
    expect(speakers.map(({ name, gender, languages }) => [name, gender, languages])).toEqual([
      ['af_bella', 'female', ['en']],
      ['am_adam', 'male', ['en']],
      ['hf_alpha', 'female', ['hi']],
      ['hm_omega', 'male', ['hi']],
      // A language that the model is not used for: any of the others.
      ['ff_siwis', 'female', ['en', 'hi']],
    ]);
    const chosen = (['en', 'hi'] as const).map((code) => [
      speakerFor(speakers, 0, code, 'male'),
      speakerFor(speakers, 0, code, 'female'),
    ]);
    expect(chosen.flat().map((speaker) => speaker?.name)).toEqual(['am_adam', 'af_bella', 'hm_omega', 'hf_alpha']);
  });

  it('are those of the models where these do not say', async () => {
    const one = used('vits', 'vits-piper-en_US-ryan-medium', ['en'], modelFile('one', { n_speakers: 1 }));
    const three = used('vits', 'vits-vctk', ['hi'], modelFile('three', { n_speakers: 3 }));
    const speakers = await namedSpeakers([one, three], new Set());
    expect(speakers.map(({ name }) => name)).toEqual([
      'vits-piper-en_US-ryan-medium',
      'vits-vctk-0',
      'vits-vctk-1',
      'vits-vctk-2',
    ]);
    expect(speakerFor(speakers, 0, 'en', 'female')?.speaker).toBe(0);
    expect(speakerFor(speakers, 1, 'hi', 'male')?.speaker).toBe(0);
    expect(speakerFor(speakers, 1, 'hi', 'female')?.speaker).toBe(1);
  });

  it('are told apart from names that are taken, and from those of an endless list', async () => {
    const path = modelFile('again', { n_speakers: 1, speaker_names: 'Nisha' });
    const many = modelFile('many', { n_speakers: 904 });
    const speakers = await namedSpeakers([used('vits', 'a', ['en'], path), used('vits', 'b', ['hi'], many)], new Set(['nisha']));
    expect(speakers[0]?.name).toBe('a-Nisha');
    expect(speakers).toHaveLength(101);
  });
});

describe('the metadata of a model', () => {
  it('is read without the weights', async () => {
    const path = modelFile('metadata', { model_type: 'vits', speaker_names: 'हिन्दी', comment: '' });
    expect(Object.fromEntries(await readOnnxMetadata(path))).toEqual({ model_type: 'vits', speaker_names: 'हिन्दी', comment: '' });
  });

  it.each([
    ['an empty file', Buffer.alloc(0)],
    ['text', Buffer.from('version https://git-lfs.github.com/spec/v1\n')],
    ['a file that was cut', Buffer.from([0x72, 0x7f, 0x0a])],
    ['zeros', Buffer.alloc(1_000)],
    ['a length without an end', Buffer.alloc(40, 0xff)],
  ])('is empty for %s', async (_, bytes) => {
    const path = join(folder, 'none.onnx');
    writeFileSync(path, bytes);
    expect((await readOnnxMetadata(path)).size).toBe(0);
  });
});
