import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { stringify } from 'yaml';
import { getModelInProcess } from '../../../src/cli/setup/get-model.ts';
import { hasLibrary, installLibrary, SHERPA } from '../../../src/speech/models/model-library.ts';
import { type Finished, lastJson, runCommand } from '../../support/command.ts';
import { bzip2, type ModelServer, sendFile, startModelServer, tarOf } from '../../support/models.ts';
import { nodeArguments } from '../../support/program.ts';
import { untilPasses } from '../../support/eventually.ts';
import { writeTinyRecogniser } from '../../support/onnx/tiny-recognisers.ts';
import { writeTinyVoice } from '../../support/onnx/tiny-voices.ts';

const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const noise = createHash('shake256', { outputLength: 400_000 }).update('model').digest();
// Small models that the library opens: `get` opens each of them once.
const made = mkdtempSync(join(tmpdir(), 'offhook-models-made-'));
writeTinyRecogniser(join(made, 'ear'), { kind: 'streaming-transducer' });
await writeTinyVoice(join(made, 'voice'), { kind: 'vits' });
const archive = bzip2(
  tarOf([
    { name: 'hears-en/README', content: noise },
    ...['encoder.onnx', 'decoder.onnx', 'joiner.onnx', 'tokens.txt'].map((file) => ({
      name: `hears-en/${file}`,
      content: readFileSync(join(made, 'ear', file)),
    })),
  ]),
);
const ASKED = '/models.example/hears-en.tar.bz2';
const voice = readFileSync(join(made, 'voice/model.onnx'));
const voiceTokens = readFileSync(join(made, 'voice/tokens.txt'));
rmSync(made, { recursive: true });
const transducer = { encoder: 'encoder.onnx', decoder: 'decoder.onnx', joiner: 'joiner.onnx', tokens: 'tokens.txt' };
const common = { licence: 'MIT', licenceFrom: 'https://models.example/licence' };
const manifest = {
  hashSources: { list: "the publisher's list" },
  redirects: {},
  sets: { en: ['hears-en', 'speaks-en'] },
  models: [
    {
      name: 'hears-en',
      title: 'Hears English',
      role: 'recognition',
      kind: 'streaming-transducer',
      languages: ['en', 'hi'],
      ...common,
      downloads: [
        { archive: 'https://models.example/hears-en.tar.bz2', bytes: archive.length, sha256: hashOf(archive), hashFrom: 'list' },
      ],
      files: transducer,
    },
    {
      name: 'speaks-en',
      title: 'Speaks English',
      role: 'voice',
      kind: 'vits',
      languages: ['en'],
      ...common,
      downloads: [
        { file: 'https://models.example/voice.onnx', as: 'voice.onnx' },
        { file: 'https://models.example/tokens.txt', as: 'tokens.txt' },
      ],
      files: { model: 'voice.onnx', tokens: 'tokens.txt' },
    },
  ],
};

let home = '';
let server: ModelServer;
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'offhook-models-command-'));
  writeFileSync(join(home, 'models.yaml'), stringify(manifest));
  server = await startModelServer();
  server.files.set(ASKED, archive);
  server.files.set('/models.example/voice.onnx', voice);
  server.files.set('/models.example/tokens.txt', voiceTokens);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await server[Symbol.asyncDispose]();
  rmSync(home, { recursive: true, force: true });
});

const folder = (): string => join(home, 'data/models');
const environment = () => ({ OFFHOOK_DATA_DIR: join(home, 'data'), OFFHOOK_MODELS_MIRROR: server.url });
const models = (...args: readonly string[]): Promise<Finished> =>
  runCommand(['models', ...args, '--manifest', join(home, 'models.yaml')], environment());

describe('offhook models', () => {
  it('installs what is recommended for a language, and uses it for that language', async () => {
    const { code, stdout, stderr } = await models('get', 'en', '--yes');
    expect([code, stderr]).toEqual([0, expect.stringContaining('hears-en: 100 % of')]);
    for (const line of [
      'hears-en: Hears English',
      '  licence  MIT (https://models.example/licence)',
      '  cost     memory and processor time not measured',
      '  from     https://models.example/hears-en.tar.bz2',
      `  SHA-256  ${hashOf(archive)} (the publisher's list)`,
      '  SHA-256  nobody was found to publish it',
      `hears-en is installed in ${join(folder(), 'hears-en')}; used for en`,
      `nobody was found to publish the hash of https://models.example/voice.onnx; what came has SHA-256 ${hashOf(voice)}`,
      'The next start uses them: npm start, or npx offhook start.',
    ])
      expect(stdout.split('\n')).toContain(line);
    expect(JSON.parse(readFileSync(join(folder(), 'used.json'), 'utf8'))).toEqual({
      recognition: { en: 'hears-en' },
      voices: { en: 'speaks-en' },
    });
    const { models: listed, ...rest } = lastJson(await models('list', '--json')) as { models: object[] };
    expect(rest).toEqual({ folder: folder(), sets: manifest.sets });
    expect(listed).toMatchObject([
      { name: 'hears-en', kind: 'streaming-transducer', bytes: archive.length, installed: true, usedFor: ['en'] },
      {
        name: 'speaks-en',
        licence: 'MIT',
        installed: true,
        usedFor: ['en'],
        downloads: [{ url: 'https://models.example/voice.onnx' }, {}],
      },
    ]);
    mkdirSync(join(folder(), 'by-hand'));
    writeFileSync(
      join(folder(), 'by-hand/model.json'),
      JSON.stringify({
        name: 'by-hand',
        role: 'voice',
        kind: 'vits',
        languages: ['ta'],
        files: { model: 'a.onnx', tokens: 't.txt' },
      }),
    );
    const table = (await models('list')).stdout;
    expect(table).toMatch(/by-hand +voice +installed\n/);
    expect(table).toMatch(/hears-en +recognition en, hi +\d+ kB +used for en\n/);
    expect((await models('get', 'hears-en', '--yes')).stdout).toContain('hears-en is installed already, and whole; used for hi');
  });

  it('installs for a gateway in a process of its own, tells it how far it is, and gives it the reason of a failure', async () => {
    for (const [name, value] of Object.entries(environment())) vi.stubEnv(name, value);
    const steps = new Set<string>();
    const watch = { onProgress: ({ step }: { step: string }) => void steps.add(step), signal: new AbortController().signal };
    const manifestHere = ['--manifest', join(home, 'models.yaml')];
    await getModelInProcess('hears-en', watch, manifestHere);
    expect([...steps]).toEqual(['download', 'check', 'unpack', 'open']);
    expect(JSON.parse(readFileSync(join(folder(), 'used.json'), 'utf8'))).toMatchObject({ recognition: { en: 'hears-en' } });
    server.files.set('/models.example/voice.onnx', noise);
    await expect(getModelInProcess('speaks-en', watch, manifestHere)).rejects.toThrow(
      /^speaks-en is no voice model .* it is removed again/u,
    );
    await expect(getModelInProcess('speaks-en', { ...watch, signal: AbortSignal.abort(new Error('cancelled')) })).rejects.toThrow(
      'cancelled',
    );
  });

  it('does nothing without a terminal to ask at, and says so', async () => {
    const { code, stdout, stderr } = await models('get', 'hears-en');
    expect(code).toBe(1);
    expect(stdout).toContain('licence  MIT');
    expect(stderr).toContain('Nothing was done: there is no terminal to ask at. Add --yes');
    expect([existsSync(folder()), server.asked]).toEqual([false, []]);
  });

  it.each([
    [['get', 'hear', '--yes'], 2, /there is no model hear\. Did you mean hears-en\? npx offhook models list shows all/],
    [['use', 'hears-en'], 2, /hears-en is not installed in .*models: npx offhook models get hears-en/],
    [['remove', 'hears-en'], 2, /hears-en is not installed/],
    [['verify'], 2, /no model is installed/],
    [['verify', 'hears-en'], 1, /no such model is installed/],
    [['get', 'en', '--yes', '--from', 'a.tar.bz2'], 2, /--from goes with one model at a time/],
    [['get', 'hears-en', '--yes', '--from', 'nowhere'], 1, /nowhere: there is no such file or folder/],
  ])('says what is wrong with %j', async (args, expected, message) => {
    const { code, stderr } = await models(...args);
    expect([code, stderr]).toEqual([expected, expect.stringMatching(message)]);
  });

  it('says what to do without a network', async () => {
    // Nobody listens on its port from then on.
    await server[Symbol.asyncDispose]();
    const { code, stderr } = await models('get', 'hears-en', '--yes');
    server = await startModelServer();
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /127\.0\.0\.1:\d+ cannot be reached.*\nThe same command goes on.*\nWithout internet: set OFFHOOK_MODELS_MIRROR/,
    );
  });

  it('installs from a file, verifies, changes the use, removes', async () => {
    writeFileSync(join(home, 'hears-en.tar.bz2'), archive);
    const got = await models('get', 'hears-en', '--yes', '--from', join(home, 'hears-en.tar.bz2'));
    expect([got.code, server.asked]).toEqual([0, []]);
    expect(got.stdout).toContain('used for en, hi');
    const whole = await models('verify');
    expect([whole.code, whole.stdout]).toEqual([0, expect.stringContaining('unchanged  hears-en/encoder.onnx')]);
    writeFileSync(join(folder(), 'hears-en/tokens.txt'), 'damaged');
    const damaged = await models('verify', 'hears-en');
    expect([damaged.code, damaged.stdout]).toEqual([1, expect.stringContaining('changed    hears-en/tokens.txt')]);
    expect(damaged.stderr).toContain('1 of these files are not as they were installed');
    expect((await models('use', 'hears-en')).stdout).toBe('hears-en: used for en, hi already\n');
    expect((await models('use', 'hears-en', '--language', 'ta')).stderr).toContain(
      'hears-en is no model for ta; its languages are en, hi',
    );
    expect((await models('remove', 'hears-en')).stdout).toBe('hears-en is removed; it was used for en, hi\n');
    expect(readdirSync(folder()).filter((name) => !name.startsWith('.'))).toEqual([]);
  });

  it('removes a model that is of another kind than its publisher says, in one sentence', async () => {
    server.files.set('/models.example/voice.onnx', Buffer.from('no voice'));
    const { code, stdout, stderr } = await models('get', 'speaks-en', '--yes');
    expect(code).toBe(1);
    expect(stdout).not.toContain('used for');
    expect(stderr).toMatch(
      /speaks-en is no voice model of the kind vits: .* cannot be opened: .*; it is removed again, and nothing uses it/,
    );
    expect(readdirSync(folder()).filter((name) => !name.startsWith('.'))).toEqual(['first-seen.json']);
  });

  it('writes verified hashes into the manifest', async () => {
    await models('get', 'speaks-en', '--yes');
    const { code, stdout } = await models('pin', 'speaks-en', '--source', 'the list of the publisher');
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^speaks-en: 2 hashes are in /)]);
    const pinned = readFileSync(join(home, 'models.yaml'), 'utf8');
    expect(pinned).toContain(
      `sha256: ${hashOf(voice)}\n        bytes: ${voice.length}\n        hashFrom: the list of the publisher`,
    );
    await models('remove', 'speaks-en');
    expect((await models('get', 'speaks-en', '--yes')).stdout).not.toContain('nobody was found');
  });

  it('survives a kill in the middle of a download, and two runs at once', async () => {
    const half = Math.floor(archive.length / 2);
    server.files.set(ASKED, (request, response) => {
      sendFile(archive, request, response, { cutAt: half, arrived: () => new Promise(() => {}) });
    });
    const start = async (): Promise<ChildProcess> => {
      const program = await nodeArguments(join(import.meta.dirname, '../../../src/main.ts'));
      const args = [...program, 'models', 'get', 'hears-en', '--yes', '--manifest', join(home, 'models.yaml')];
      return spawn(process.execPath, args, { env: { ...process.env, ...environment() }, stdio: ['ignore', 'pipe', 'pipe'] });
    };
    const killed = await start();
    const partial = join(folder(), '.partial/hears-en.0.part');
    await untilPasses(() => expect(statSync(partial).size).toBe(half));
    killed.kill('SIGKILL');
    await once(killed, 'close');
    expect(existsSync(join(folder(), 'hears-en'))).toBe(false);
    server.files.set(ASKED, archive);
    server.asked.length = 0;
    const other = await start();
    const outputs = await Promise.all([
      models('get', 'hears-en', '--yes').then(({ stdout }) => stdout),
      other.stdout === null ? '' : text(other.stdout),
    ]);
    expect(outputs.filter((output) => output.includes('hears-en is installed in')).length).toBe(1);
    expect(outputs.filter((output) => output.includes('hears-en is installed already, and whole')).length).toBe(1);
    expect(server.asked).toEqual([`${ASKED} bytes=${half}-`]);
    expect(readdirSync(join(folder(), '.partial'))).toEqual([]);
  });
});

describe('the library that opens models', () => {
  it('is installed beside the models by npm, without scripts, at one version', async () => {
    const bin = join(home, 'bin');
    mkdirSync(bin);
    // Stands in for npm: notes what it was asked, and makes the package.
    writeFileSync(
      join(bin, 'npm'),
      `#!/bin/sh\necho "$@" > "${home}/asked"\n[ -e "${home}/refuses" ] && echo "npm error network" >&2 && exit 1\nmkdir -p node_modules/sherpa-onnx-node && echo > node_modules/sherpa-onnx-node/index.js\n`,
    );
    chmodSync(join(bin, 'npm'), 0o755);
    const places = [join(folder(), 'package.json')];
    expect(hasLibrary(SHERPA, places)).toBe(false);
    vi.stubEnv('PATH', `${bin}:${process.env['PATH'] ?? ''}`);
    try {
      writeFileSync(join(home, 'refuses'), '');
      await expect(installLibrary(SHERPA, folder())).rejects.toThrow(
        /sherpa-onnx-node could not be installed \(npm error network\); by hand: npm install --prefix/,
      );
      rmSync(join(home, 'refuses'));
      await installLibrary(SHERPA, folder());
      vi.stubEnv('PATH', home);
      await expect(installLibrary(SHERPA, folder())).rejects.toThrow('there is no npm on the path');
    } finally {
      vi.unstubAllEnvs();
    }
    expect(readFileSync(join(home, 'asked'), 'utf8')).toBe(
      `install --prefix ${folder()} --ignore-scripts --save-exact --no-audit --no-fund sherpa-onnx-node@${SHERPA.version}\n`,
    );
    expect(hasLibrary(SHERPA, places)).toBe(true);
  });
});
