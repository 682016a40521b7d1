import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../../../src/kernel/clock.ts';
import type { OfferedModel, PackagedFile } from '../../../../src/speech/models/catalogue.ts';
import { ModelContentError, ModelDownloadError, ModelFolderError } from '../../../../src/speech/models/errors.ts';
import { installModel, type InstallOptions } from '../../../../src/speech/models/install.ts';
import { bzip2, type Entry, type ModelServer, startModelServer, tarOf, zipOf } from '../../../support/models.ts';

const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const LICENCE = 'tiny-1.0.dist-info/LICENSE';
const members: readonly Entry[] = [
  { name: 'tiny/run.py', content: 'never run' },
  { name: 'tiny/data/encoder.ort', content: 'encoder' },
  { name: 'tiny/data/decoder.ort', content: 'decoder' },
  { name: 'tiny/data/tokenizer.bin', content: Buffer.from([1, 65]) },
  { name: LICENCE, content: 'MIT License' },
];
const WHEEL = 'tiny-1.0-cp311-abi3-manylinux_2_17_x86_64.manylinux2014_x86_64.whl';

function packaged(bytes: Uint8Array, facts: Partial<PackagedFile> = {}): PackagedFile {
  return {
    package: 'pypi',
    name: 'tiny',
    version: '1.0',
    file: WHEEL,
    bytes: bytes.length,
    sha256: hashOf(bytes),
    hashFrom: 'registry',
    licenceFile: LICENCE,
    take: { 'tiny/data/': '.' },
    convert: 'moonshine-tokenizer',
    ...facts,
  };
}

const archive = bzip2(
  tarOf(
    ['encoder.ort', 'decoder.ort', 'tokens.txt'].map((name) => ({ name: `tiny/${name}`, content: `${name} of the archive` })),
  ),
);

function tiny(source: PackagedFile, elsewhere: OfferedModel['elsewhere'] = []): OfferedModel {
  return {
    title: 'Tiny',
    licence: 'MIT',
    licenceFrom: 'https://models.example/licence',
    downloads: [source],
    elsewhere,
    description: {
      name: 'tiny',
      role: 'recognition',
      kind: 'moonshine-v2',
      languages: ['en'],
      files: { encoder: 'encoder.ort', mergedDecoder: 'decoder.ort', tokens: 'tokens.txt' },
    },
  };
}
const fromArchive = [[{ archive: 'https://models.example/tiny.tar.bz2', sha256: hashOf(archive) }]];

let home = '';
let server: ModelServer;
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'offhook-packages-'));
  mkdirSync(join(home, 'bin'));
  server = await startModelServer();
  server.files.set('/models.example/tiny.tar.bz2', archive);
  vi.stubEnv('PATH', join(home, 'bin'));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await server[Symbol.asyncDispose]();
  rmSync(home, { recursive: true, force: true });
});

/** Stands in for a client of a registry: notes what it was asked, and does this. Without a PATH there are no other programs. */
function client(name: string, script: string): void {
  writeFileSync(join(home, 'bin', name), `#!/bin/sh\nPATH=/usr/bin:/bin\necho "$@" >> "${home}/asked"\n${script}\n`);
  chmodSync(join(home, 'bin', name), 0o755);
}
/** One that brings this file where it is told to by `--dest=` or `--pack-destination`. */
function brings(name: string, file: string, bytes: Uint8Array): void {
  writeFileSync(join(home, 'served'), bytes);
  client(
    name,
    `for each in "$@"; do case "$each" in --dest=*) cp "${home}/served" "\${each#--dest=}/${file}";; /*) cp "${home}/served" "$each/${file}";; esac; done`,
  );
}
const asked = (): string => readFileSync(join(home, 'asked'), 'utf8');
const models = (): string => join(home, 'models');
const installed = (): string[] => readdirSync(models()).filter((name) => !name.startsWith('.'));
const install = (model: OfferedModel, options: Partial<InstallOptions> = {}) =>
  installModel(model, { modelsFolder: models(), redirects: {}, mirror: server.url, clock: systemClock, pauseMs: 0, ...options });

describe('a model in a package', () => {
  it('comes by pip, for the tags of the wheel alone, and keeps its licence', async () => {
    const wheel = zipOf(members);
    brings('python3', WHEEL, wheel);
    expect((await install(tiny(packaged(wheel)))).state).toBe('installed');
    expect(readdirSync(join(models(), 'tiny')).toSorted()).toEqual([
      'LICENSE-tiny',
      'decoder.ort',
      'encoder.ort',
      'installed.json',
      'model.json',
      'tokens.txt',
    ]);
    expect(readFileSync(join(models(), 'tiny/tokens.txt'), 'utf8')).toBe('QQ==\t0\n');
    expect(asked()).toMatch(
      /^-m pip download --no-deps --only-binary=:all: .*--dest=\S+ --abi=abi3 --python-version=3\.11 --implementation=cp --platform=manylinux_2_17_x86_64 --platform=manylinux2014_x86_64 tiny==1\.0\n$/,
    );
    expect(server.asked).toEqual([]);
    expect(readdirSync(join(models(), '.partial'))).toEqual([]);
  });

  it('comes by npm, without its scripts', async () => {
    const tarball = gzipSync(tarOf(members.map(({ name, content = '' }) => ({ name: `package/${name}`, content }))));
    brings('npm', 'tiny-1.0.tgz', tarball);
    const source = packaged(tarball, {
      package: 'npm',
      file: 'tiny-1.0.tgz',
      licenceFile: `package/${LICENCE}`,
      take: { 'package/tiny/data/': '.' },
    });
    await install(tiny(source));
    expect(readFileSync(join(models(), 'tiny/encoder.ort'), 'utf8')).toBe('encoder');
    expect(asked()).toMatch(/^pack --ignore-scripts --silent --pack-destination \S+ tiny@1\.0\n$/);
  });

  it('comes from elsewhere without pip, and the reason is told', async () => {
    client('python3', 'echo "/usr/bin/python3: No module named pip" >&2; exit 1');
    const reasons: string[] = [];
    const model = tiny(packaged(zipOf(members)), fromArchive);
    await install(model, { onElsewhere: (reason) => reasons.push(reason) });
    expect(reasons).toEqual(['there is no pip on the path to fetch tiny with']);
    expect(readFileSync(join(models(), 'tiny/tokens.txt'), 'utf8')).toBe('tokens.txt of the archive');
  });

  it('says what each source answered when none has it', async () => {
    client(
      'pip3',
      'echo "ERROR: Could not find a version" >&2; echo "ERROR: No matching distribution found for tiny==1.0" >&2; exit 1',
    );
    server.files.delete('/models.example/tiny.tar.bz2');
    const failed = install(tiny(packaged(zipOf(members)), fromArchive));
    await expect(failed).rejects.toThrow(ModelDownloadError);
    await expect(failed).rejects.toThrow(
      /^pip3 did not fetch tiny 1\.0: the registry no longer has it; and elsewhere: .*tiny\.tar\.bz2 answers with status 404: the file is not there$/,
    );
    expect(installed()).toEqual([]);
  });

  it('is deleted when its hash is another one, and no other source is tried', async () => {
    brings('pip', WHEEL, zipOf([{ name: 'other', content: 'other' }]));
    const failed = install(tiny(packaged(zipOf(members)), fromArchive));
    await expect(failed).rejects.toThrow(ModelContentError);
    await expect(failed).rejects.toThrow(/pypi tiny 1\.0, tiny-1\.0-.*has the wrong hash: .* what came is deleted/);
    expect([installed(), readdirSync(join(models(), '.partial')), server.asked]).toEqual([[], [], []]);
  });

  it('says that the disk is full where pip does', async () => {
    client(
      'python3',
      'echo "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device" >&2; exit 1',
    );
    const failed = install(tiny(packaged(zipOf(members)), fromArchive));
    await expect(failed).rejects.toThrow(ModelFolderError);
    await expect(failed).rejects.toThrow(/the disk is full; tiny is not installed.*make room and run the same command again/);
  });

  it('is taken from a file, of whichever source it is', async () => {
    const wheel = zipOf(members);
    for (const [file, bytes] of [
      [WHEEL, wheel],
      ['tiny.tar.bz2', archive],
    ] as const) {
      writeFileSync(join(home, file), bytes);
      await install(tiny(packaged(wheel), fromArchive), { from: join(home, file) });
      expect(readFileSync(join(models(), 'tiny/encoder.ort'), 'utf8')).toBe(
        file === WHEEL ? 'encoder' : 'encoder.ort of the archive',
      );
      rmSync(join(models(), 'tiny'), { recursive: true });
    }
    expect(existsSync(join(home, 'asked'))).toBe(false);
  });

  const without = (name: string): Buffer => zipOf(members.filter((each) => each.name !== name));
  it.each<[string, Buffer, RegExp]>([
    [
      'does not say how it is licensed',
      without(LICENCE),
      /^tiny 1\.0 lacks tiny-1\.0\.dist-info\/LICENSE, its licence, and so is not used$/,
    ],
    [
      'lacks what is to be converted',
      without('tiny/data/tokenizer.bin'),
      /tokenizer\.bin is missing: the package is another one than expected/,
    ],
    [
      'lacks a file of the model',
      without('tiny/data/decoder.ort'),
      /^the package has no decoder\.ort, the mergedDecoder of tiny$/,
    ],
    ['is no zip', Buffer.from('no zip'), /^the archive is no whole zip: /],
    ['was cut', zipOf(members).subarray(40), /^the archive is no whole zip: /],
    [
      'has a path that leaves the folder',
      zipOf([...members, { name: 'tiny/data/../../../out', content: 'x' }]),
      /no whole zip: .*relative path/,
    ],
    [
      'has a link',
      zipOf([...members, { name: 'tiny/data/link', content: '/etc/passwd', type: '2' }]),
      /a link or a device in place of the file link/,
    ],
    [
      'has a file twice',
      zipOf([...members, { name: 'tiny/data/encoder.ort', content: 'x' }]),
      /^the archive has encoder\.ort twice$/,
    ],
    [
      'grows far beyond its size',
      zipOf([...members, { name: 'tiny/data/zeros', content: Buffer.alloc(20_000_000) }]),
      /^the archive holds more than \d+ bytes/,
    ],
  ])('is refused, and nothing left of it, when it %s', async (_, wheel, message) => {
    brings('python3', WHEEL, wheel);
    const failed = install(tiny(packaged(wheel)));
    await expect(failed).rejects.toThrow(ModelContentError);
    await expect(failed).rejects.toThrow(message);
    expect([installed(), readdirSync(join(models(), '.partial'))]).toEqual([[], []]);
  });
});
