import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OwnModelError, findModels } from '../../../../../src/platform/engines/own/own-models.ts';
import { loadSherpa, openRecognizer, openVoice } from '../../../../../src/platform/engines/own/sherpa.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'offhook-models-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function model(language: string, files: readonly string[]): void {
  mkdirSync(join(folder, 'recognition', language), { recursive: true });
  for (const file of files) writeFileSync(join(folder, 'recognition', language, file), '');
}
const whole = ['encoder-epoch-99.onnx', 'encoder-epoch-99.int8.onnx', 'decoder.onnx', 'joiner.onnx', 'tokens.txt'];

describe('the folder of models', () => {
  it('holds voice and speaker models, each of them optional', async () => {
    mkdirSync(join(folder, 'voices', 'hi', 'espeak-ng-data'), { recursive: true });
    mkdirSync(join(folder, 'speakers'));
    for (const file of ['voices/hi/hi_IN-voice.onnx', 'voices/hi/tokens.txt', 'speakers/embedding.onnx']) {
      writeFileSync(join(folder, file), '');
    }
    const at = (...parts: string[]) => join(folder, ...parts);
    const hindi = at('voices', 'hi');
    expect(await findModels(folder)).toEqual({
      recognition: [],
      voices: [
        {
          language: 'hi',
          model: join(hindi, 'hi_IN-voice.onnx'),
          tokens: join(hindi, 'tokens.txt'),
          lexicon: '',
          dataDir: join(hindi, 'espeak-ng-data'),
        },
      ],
      embedding: at('speakers', 'embedding.onnx'),
    });
    rmSync(at('speakers', 'embedding.onnx'));
    await expect(findModels(folder)).rejects.toThrow(/speakers: no embedding\*\.onnx/);
  });

  it('holds one model a language, the smaller variant where there are two', async () => {
    model('ta', whole);
    const at = (file: string) => join(folder, 'recognition', 'ta', file);
    expect((await findModels(folder)).recognition).toEqual([
      {
        language: 'ta',
        encoder: at('encoder-epoch-99.int8.onnx'),
        decoder: at('decoder.onnx'),
        joiner: at('joiner.onnx'),
        tokens: at('tokens.txt'),
      },
    ]);
  });

  it.each([
    ['a folder that is not there', () => rmSync(folder, { recursive: true }), /cannot be read.*ENOENT/],
    ['one that holds none of them', () => undefined, /holds none of recognition, voices and speakers/],
    ['an empty one', () => mkdirSync(join(folder, 'recognition')), /is empty/],
    ['a file that is not there', () => model('ta', whole.slice(0, 3)), /recognition.ta: no joiner\*\.onnx/],
    ['a language that nobody knows', () => model('klingon', whole), /klingon: .*not the code of a language/],
  ])('says what is missing: %s', async (_, prepare, message) => {
    prepare();
    await expect(findModels(folder)).rejects.toThrow(OwnModelError);
    await expect(findModels(folder)).rejects.toThrow(message);
  });
});

describe('the package for models', () => {
  const voice = { language: 'ta', model: 'voice.onnx', tokens: 'tokens.txt', lexicon: '', dataDir: '' };

  function install(code: string): void {
    mkdirSync(join(folder, 'node_modules', 'sherpa-onnx-node'), { recursive: true });
    writeFileSync(join(folder, 'node_modules', 'sherpa-onnx-node', 'index.js'), code);
  }

  it('is asked for by name when it is not installed', () => {
    expect(() => loadSherpa(folder)).toThrow(/sherpa-onnx-node: it is not installed: npm install sherpa-onnx-node/);
  });

  it('is told apart from another package of its name', () => {
    install('module.exports = {};');
    expect(() => openVoice(loadSherpa(folder), voice)).toThrow(/sherpa-onnx-node has no OfflineTts/);
  });

  it('says why it cannot be loaded', () => {
    install('throw new Error("no library for this machine");');
    expect(() => loadSherpa(folder)).toThrow(/no library for this machine/);
  });

  it("passes the library's own words on when a file is no model", async () => {
    install(`module.exports = { OnlineRecognizer: class { constructor({ modelConfig }) {
      throw new Error('cannot read ' + modelConfig.transducer.encoder);
    } } };`);
    model('ta', whole);
    const [files] = (await findModels(folder)).recognition;
    expect(() => openRecognizer(loadSherpa(folder), files!)).toThrow(
      /models for ta could not be opened: cannot read .*int8\.onnx/,
    );
  });
});
