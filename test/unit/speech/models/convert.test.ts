import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readOnnxMetadata } from '../../../../src/platform/engines/models/model-speaker-names.ts';
import { convert, moonshineTokens } from '../../../../src/speech/models/convert.ts';
import type { ModelDescription } from '../../../../src/speech/models/model.ts';
import { OnnxGraph } from '../../../support/onnx/onnx-graph.ts';

const ear: ModelDescription = {
  name: 'ear',
  role: 'recognition',
  kind: 'moonshine-v2',
  languages: ['en'],
  files: { encoder: 'encoder.ort', mergedDecoder: 'decoder.ort', tokens: 'tokens.txt' },
};
const voice: ModelDescription = {
  name: 'voice',
  role: 'voice',
  kind: 'vits',
  languages: ['en'],
  files: { model: 'joe.onnx', tokens: 'tokens.txt' },
};
const about = {
  audio: { sample_rate: 22_050 },
  espeak: { voice: 'en-us' },
  num_speakers: 1,
  language: { name_english: 'English' },
  phoneme_id_map: { _: [0], ' ': [3], a: [14], ð: [41] },
};

let folder = '';
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'offhook-convert-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('the tokens of Moonshine', () => {
  it('are read with lengths of one byte and of two', () => {
    const long = 'x'.repeat(300);
    const bytes = Buffer.concat([Buffer.from([3]), Buffer.from('\u2581'), Buffer.from([0, 172, 2]), Buffer.from(long)]);
    const lines = moonshineTokens(bytes).trimEnd().split('\n');
    expect(lines.slice(0, 2)).toEqual(['4paB\t0', '\t1']);
    expect(Buffer.from(lines[2]?.split('\t')[0] ?? '', 'base64').toString()).toBe(long);
  });

  it('are refused when the file ends within one', () => {
    expect(() => moonshineTokens(Buffer.from([5, 65]))).toThrow('tokenizer.bin ends within a token');
  });

  it('take the place of the package’s file', async () => {
    writeFileSync(join(folder, 'tokenizer.bin'), Buffer.from([1, 65]));
    await convert('moonshine-tokenizer', folder, ear);
    expect(readdirSync(folder)).toEqual(['tokens.txt']);
    expect(readFileSync(join(folder, 'tokens.txt'), 'utf8')).toBe('QQ==\t0\n');
  });
});

describe('a voice of Piper', () => {
  it('gets its tokens, and what sherpa-onnx reads in the model itself', async () => {
    const graph = new OnnxGraph();
    writeFileSync(join(folder, 'joe.onnx'), graph.bytes());
    writeFileSync(join(folder, 'joe.onnx.json'), JSON.stringify(about));
    await convert('piper-voice', folder, voice);
    expect(readFileSync(join(folder, 'tokens.txt'), 'utf8')).toBe('_ 0\n  3\na 14\nð 41\n');
    expect(Object.fromEntries(await readOnnxMetadata(join(folder, 'joe.onnx')))).toMatchObject({
      comment: 'piper',
      voice: 'en-us',
      language: 'English',
      n_speakers: '1',
      sample_rate: '22050',
      has_espeak: '1',
    });
    expect(readdirSync(folder).toSorted()).toEqual(['joe.onnx', 'tokens.txt']);
  });

  it.each([
    ['is described by no file', undefined, /joe\.onnx\.json is missing/],
    ['is described by something else', '{"audio": 1}', /joe\.onnx\.json does not describe a Piper voice/],
  ])('is refused when it %s', async (_, content, message) => {
    if (content !== undefined) writeFileSync(join(folder, 'joe.onnx.json'), content);
    await expect(convert('piper-voice', folder, voice)).rejects.toThrow(message);
  });
});
