import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ModelFolderError } from '../../../../src/speech/models/errors.ts';
import { hasUsedModels, readModels, usedEndOfTurnModel } from '../../../../src/speech/models/read-models.ts';

let folder = '';
beforeEach(async () => {
  folder = await realpath(mkdtempSync(join(tmpdir(), 'offhook-models-')));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const at = (...parts: string[]) => join(folder, ...parts);
function put(...files: readonly string[]): void {
  for (const file of files) write(file, '');
}
function write(file: string, content: unknown): void {
  mkdirSync(dirname(at(file)), { recursive: true });
  writeFileSync(at(file), typeof content === 'string' ? content : JSON.stringify(content));
}

const transducer = ['encoder-epoch-99.onnx', 'encoder-epoch-99.int8.onnx', 'decoder.onnx', 'joiner.onnx', 'tokens.txt'];
const ownRecognition = (language: string, files = transducer): void =>
  put(...files.map((file) => `recognition/${language}/${file}`));

const whisper = {
  name: 'whisper-tiny',
  role: 'recognition',
  kind: 'whisper',
  languages: ['auto', 'en', 'hi'],
  licence: 'MIT',
  files: { encoder: 'tiny-encoder.onnx', decoder: 'tiny-decoder.onnx', tokens: 'tiny-tokens.txt' },
};
const piper = {
  name: 'piper-en',
  role: 'voice',
  kind: 'vits',
  languages: ['en'],
  files: { model: 'en.onnx', tokens: 'tokens.txt', dataDir: 'espeak-ng-data' },
};
function install(model: { readonly name: string; readonly files: Readonly<Record<string, string>> }): void {
  put(...Object.values(model.files).map((file) => `${model.name}/${file}`));
  write(`${model.name}/model.json`, model);
}

describe('installed models', () => {
  it('are used for the languages that used.json names, each opened once', async () => {
    install(whisper);
    install(piper);
    install({ ...whisper, name: 'unused' });
    write('used.json', { recognition: { en: 'whisper-tiny', auto: 'whisper-tiny' }, voices: { en: 'piper-en' } });
    const { encoder, decoder, tokens } = whisper.files;
    expect(await readModels(folder)).toEqual({
      recognition: [
        {
          languages: ['en', 'auto'],
          model: {
            ...whisper,
            files: {
              encoder: at('whisper-tiny', encoder),
              decoder: at('whisper-tiny', decoder),
              tokens: at('whisper-tiny', tokens),
            },
          },
        },
      ],
      voices: [
        {
          languages: ['en'],
          model: {
            ...piper,
            files: {
              model: at('piper-en', 'en.onnx'),
              tokens: at('piper-en', 'tokens.txt'),
              dataDir: at('piper-en', 'espeak-ng-data'),
            },
          },
        },
      ],
    });
  });

  it('give the paths of speaker models', async () => {
    install({ name: 'wespeaker', role: 'speakers', kind: 'embedding', files: { model: 'w.onnx' } } as never);
    install({ name: 'pyannote', role: 'speakers', kind: 'segmentation', files: { model: 'p.onnx' } } as never);
    write('used.json', { embedding: 'wespeaker', segmentation: 'pyannote' });
    expect(await readModels(folder)).toMatchObject({
      embedding: at('wespeaker', 'w.onnx'),
      segmentation: at('pyannote', 'p.onnx'),
    });
  });

  it("go before the user's own where used.json names the language", async () => {
    install(whisper);
    ownRecognition('en');
    ownRecognition('ta');
    write('used.json', { recognition: { en: 'whisper-tiny' } });
    const { recognition } = await readModels(folder);
    expect(recognition.map(({ model, languages }) => [model.name, ...languages])).toEqual([
      ['whisper-tiny', 'en'],
      ['recognition-ta', 'ta'],
    ]);
  });

  it.each([
    [
      'is not installed',
      () => undefined,
      /used\.json names whisper-tiny, which is not installed; install it with npx offhook models get/,
    ],
    [
      'lacks a file',
      () => (install(whisper), rmSync(at('whisper-tiny', 'tiny-decoder.onnx'))),
      /tiny-decoder\.onnx is missing, the decoder of/,
    ],
    ['is described in broken JSON', () => write('whisper-tiny/model.json', '{'), /whisper-tiny.model\.json is not JSON/],
    ['is of an unknown kind', () => write('whisper-tiny/model.json', { ...whisper, kind: 'parrot' }), /model\.json: kind: /],
    [
      'names another',
      () => write('whisper-tiny/model.json', { ...whisper, name: 'other' }),
      /the name is other, expected .*whisper-tiny/,
    ],
    [
      'is a voice',
      () => install({ ...piper, name: 'whisper-tiny' }),
      /names whisper-tiny for recognition, but it is a model for voice/,
    ],
    [
      'reaches out of its folder',
      () => write('whisper-tiny/model.json', { ...whisper, files: { ...whisper.files, tokens: '../../tokens.txt' } }),
      /files\.tokens: a path inside the folder/,
    ],
  ])('say which one, where and what is expected: one that %s', async (_, prepare, message) => {
    write('used.json', { recognition: { en: 'whisper-tiny' } });
    prepare();
    await expect(readModels(folder)).rejects.toThrow(ModelFolderError);
    await expect(readModels(folder)).rejects.toThrow(message);
  });

  it('are nothing to open as long as none is used', async () => {
    expect(await hasUsedModels(at('nowhere'))).toBe(false);
    install(whisper);
    expect(await hasUsedModels(folder)).toBe(false);
    await expect(readModels(folder)).rejects.toThrow(/no model is used; npx offhook models get installs one/);
    write('used.json', { recognition: { en: 'whisper-tiny' } });
    expect(await hasUsedModels(folder)).toBe(true);
    write('used.json', 'damaged');
    expect(await hasUsedModels(folder)).toBe(true);
  });
});

describe('the end-of-turn model', () => {
  const turns = { name: 'turns', role: 'end-of-turn', kind: 'end-of-turn', files: { model: 'turns.onnx' } };

  it('is the one that used.json names, which is nothing for the platform to open', async () => {
    expect(await usedEndOfTurnModel(folder)).toBeUndefined();
    install(turns);
    write('used.json', { 'end-of-turn': 'turns' });
    expect(await usedEndOfTurnModel(folder)).toBe(at('turns/turns.onnx'));
    expect(await hasUsedModels(folder)).toBe(false);
  });

  it('is refused when it is a model of another role, or lacks its file', async () => {
    install(piper);
    write('used.json', { 'end-of-turn': 'piper-en' });
    await expect(usedEndOfTurnModel(folder)).rejects.toThrow(/names piper-en for end-of-turn, but it is a model for voice/);
    install(turns);
    rmSync(at('turns/turns.onnx'));
    write('used.json', { 'end-of-turn': 'turns' });
    await expect(usedEndOfTurnModel(folder)).rejects.toThrow(/turns\.onnx is missing, the model of turns; install it with/);
  });
});

describe("the user's own models", () => {
  it('are voices and speakers as well, each of them optional', async () => {
    put('voices/hi/hi_IN-voice.onnx', 'voices/hi/tokens.txt', 'speakers/embedding.onnx');
    mkdirSync(at('voices', 'hi', 'espeak-ng-data'));
    const { recognition, voices, embedding, segmentation } = await readModels(folder);
    expect(recognition).toEqual([]);
    expect(voices).toMatchObject([
      {
        languages: ['hi'],
        model: {
          kind: 'vits',
          files: {
            model: at('voices/hi/hi_IN-voice.onnx'),
            tokens: at('voices/hi/tokens.txt'),
            dataDir: at('voices/hi/espeak-ng-data'),
          },
        },
      },
    ]);
    expect([embedding, segmentation]).toEqual([at('speakers/embedding.onnx'), undefined]);
    rmSync(at('speakers', 'embedding.onnx'));
    await expect(readModels(folder)).rejects.toThrow(/speakers: no embedding\*\.onnx/);
  });

  it('prefer the smaller variant where there are two', async () => {
    ownRecognition('ta');
    expect((await readModels(folder)).recognition).toMatchObject([
      { model: { kind: 'streaming-transducer', files: { encoder: at('recognition/ta/encoder-epoch-99.int8.onnx') } } },
    ]);
  });

  it('are opened once when two languages have the same files, by links', async () => {
    ownRecognition('en');
    symlinkSync(at('recognition', 'en'), at('recognition', 'hi'));
    ownRecognition('ta');
    const { recognition } = await readModels(folder);
    expect(recognition.map(({ languages }) => languages)).toEqual([['en', 'hi'], ['ta']]);
  });

  it.each([
    ['a folder that is not there', () => rmSync(folder, { recursive: true }), /cannot be read.*ENOENT/],
    ['an empty one', () => mkdirSync(at('recognition')), /recognition is empty/],
    ['a file that is not there', () => ownRecognition('ta', transducer.slice(0, 3)), /recognition.ta: no joiner\*\.onnx/],
    ['a folder that is no language', () => ownRecognition('klingon'), /klingon: .*not the code of a language/],
    [
      'a link to nowhere',
      () => (
        ownRecognition('ta', transducer.slice(1)),
        symlinkSync(at('gone'), at('recognition/ta/encoder.int8.onnx')),
        rmSync(at('recognition/ta/encoder-epoch-99.int8.onnx'))
      ),
      /encoder\.int8\.onnx is missing/,
    ],
  ])('say what is missing: %s', async (_, prepare, message) => {
    prepare();
    await expect(readModels(folder)).rejects.toThrow(ModelFolderError);
    await expect(readModels(folder)).rejects.toThrow(message);
  });
});
