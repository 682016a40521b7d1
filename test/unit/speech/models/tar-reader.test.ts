import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ModelContentError } from '../../../../src/speech/models/errors.ts';
import { safePath } from '../../../../src/speech/models/archive-entry.ts';
import { readTar } from '../../../../src/speech/models/tar-reader.ts';
import { decompressedHere, unpackModel } from '../../../../src/speech/models/unpack.ts';
import { bzip2, type Entry, tarOf } from '../../../support/models.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'offhook-tar-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function* inParts(bytes: Buffer, sizes: readonly number[] = [bytes.length]): AsyncIterable<Uint8Array> {
  for (let at = 0, index = 0; at < bytes.length; index += 1) {
    const size = Math.max(1, sizes[index % sizes.length] ?? 1);
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

async function entriesOf(parts: AsyncIterable<Uint8Array>): Promise<[string, string, string][]> {
  const found: [string, string, string][] = [];
  for await (const { name, type, parts: content } of readTar(parts)) {
    const bytes: Uint8Array[] = [];
    for await (const part of content()) bytes.push(part);
    found.push([name, type, Buffer.concat(bytes).toString('utf8')]);
  }
  return found;
}

describe('a tar archive', () => {
  it('is read the same, however its bytes arrive', async () => {
    const name = fc.stringMatching(/^[a-z]{1,20}(?:\/[a-z ]{1,70}){0,4}$/u);
    const entry = fc.record({
      name,
      content: fc.string({ maxLength: 700, unit: 'binary' }).map((text) => Buffer.from(text).toString('utf8')),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(entry, { maxLength: 5 }),
        fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1 }),
        async (entries, sizes) => {
          const expected = entries.map((each) => [each.name, 'file', each.content]);
          expect(await entriesOf(inParts(tarOf(entries), sizes))).toEqual(expected);
        },
      ),
      { numRuns: 25 },
    );
  });

  it.each(['gnu', 'ustar', 'pax'])('is read as GNU tar writes it, in the format %s', async (format) => {
    const deep = `model/${'a-long-name/'.repeat(9)}tokens.txt`;
    const files = { 'model/encoder.onnx': 'encoder', [deep]: 'tokens', 'model/हिन्दी.txt': 'नमस्ते' };
    for (const [file, content] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), content);
    }
    const archive = execFileSync('tar', ['-C', folder, `--format=${format}`, '-cf', '-', 'model']);
    const found = await entriesOf(inParts(archive));
    expect(Object.fromEntries(found.filter(([, type]) => type === 'file').map(([name, , content]) => [name, content]))).toEqual(
      files,
    );
  });

  it('that is damaged or ends early is refused', async () => {
    const whole = tarOf([{ name: 'm/a.onnx', content: 'x'.repeat(600) }]);
    for (const end of [1, 511, 513, 1_100]) {
      await expect(entriesOf(inParts(whole.subarray(0, end)))).rejects.toThrow(ModelContentError);
    }
    const damaged = Buffer.from(whole);
    damaged.writeUInt8(0x39, 124);
    await expect(entriesOf(inParts(damaged))).rejects.toThrow(/wrong checksum/);
  });

  it.each(['/etc/passwd', '../up', 'm/../../up', 'm/..', 'C:/up', 'm\\..\\up', 'm/a\0b', 'm/a\nb', `m/${'x'.repeat(256)}`])(
    'has no entry that leads to %j',
    (name) => {
      expect(() => safePath(name)).toThrow(ModelContentError);
    },
  );
});

describe('unpacking a model', () => {
  const wanted = ['encoder.onnx', 'tokens.txt', 'espeak-ng-data'];
  const whole: Entry[] = [
    { name: 'model/', type: '5' },
    { name: 'model/encoder.onnx', content: 'encoder' },
    { name: 'model/encoder.fp32.onnx', content: 'not wanted' },
    { name: 'model/test_wavs/0.wav', content: 'not wanted' },
    { name: 'model/test_wavs/link.wav', type: '2', linkTo: '0.wav' },
    { name: './model/tokens.txt', content: 'tokens' },
    { name: 'model/espeak-ng-data/lang/hi', content: 'hi' },
    { name: 'model/LICENSE', content: 'licence' },
  ];
  const unpack = async (entries: readonly Entry[]): Promise<string[]> => {
    const archive = join(folder, 'model.tar.bz2');
    writeFileSync(archive, bzip2(tarOf(entries)));
    const into = join(folder, 'inside');
    rmSync(into, { recursive: true, force: true });
    mkdirSync(into);
    await unpackModel(archive, into, { wanted });
    return readdirSync(into, { recursive: true }).map(String).toSorted();
  };

  it('writes what the model needs, with its licence, and passes over the rest', async () => {
    const files = ['LICENSE', 'encoder.onnx', 'espeak-ng-data', 'espeak-ng-data/lang', 'espeak-ng-data/lang/hi', 'tokens.txt'];
    expect(await unpack(whole)).toEqual(files);
    expect(readFileSync(join(folder, 'inside/tokens.txt'), 'utf8')).toBe('tokens');
  });

  it.each<[string, Entry, RegExp]>([
    ['a path that leaves the folder', { name: 'model/../../evil', content: 'x' }, /path is refused.*evil/],
    ['an absolute path', { name: '/tmp/evil', content: 'x' }, /path is refused/],
    ['a link in place of a file', { name: 'model/espeak-ng-data/evil', type: '2', linkTo: '/etc' }, /link or a device/],
    [
      'a hard link in place of a file',
      { name: 'model/espeak-ng-data/evil', type: '1', linkTo: '/etc/passwd' },
      /link or a device/,
    ],
    ['a device in place of a file', { name: 'model/espeak-ng-data/evil', type: '3' }, /link or a device/],
    ['a file twice', { name: 'model/tokens.txt', content: 'other' }, /tokens\.txt twice/],
    ['a file in place of a folder', { name: 'model/tokens.txt/more', content: 'x' }, /twice/],
  ])('refuses an archive with %s', async (_, entry, message) => {
    await expect(unpack([...whole, entry])).rejects.toThrow(message);
  });

  it('says what an archive lacks', async () => {
    await expect(unpack(whole.slice(0, 4))).rejects.toThrow('the archive lacks tokens.txt, espeak-ng-data');
  });

  it('stops at an archive that grows far beyond its size', async () => {
    const zeros = { name: 'model/zeros.onnx', content: Buffer.alloc(17 * 1024 * 1024) };
    await expect(unpack([...whole, zeros])).rejects.toThrow(/far more than its own size/);
  });

  it('says so when the archive is no whole tar.bz2', async () => {
    const archive = join(folder, 'cut.tar.bz2');
    writeFileSync(archive, bzip2(tarOf(whole)).subarray(0, 150));
    await expect(unpackModel(archive, folder, { wanted })).rejects.toThrow(/no whole tar\.bz2/);
    await expect(collect(archive)).rejects.toThrow(/no whole tar\.bz2/);
  });

  it('reads the same where the machine has no bzip2', async () => {
    const content = Buffer.from(Array.from({ length: 300_000 }, (_, index) => (index * index) % 251));
    writeFileSync(join(folder, 'a.bz2'), bzip2(content));
    expect((await collect(join(folder, 'a.bz2'))).equals(content)).toBe(true);
  });

  const collect = async (archive: string): Promise<Buffer> => {
    const parts: Uint8Array[] = [];
    for await (const part of decompressedHere(archive)) parts.push(part);
    return Buffer.concat(parts);
  };

  it('writes nothing outside of its folder, whatever the names are', async () => {
    const piece = fc.constantFrom('..', '..', '..', '..', '.', 'x', 'y', 'tokens.txt', '\\', '\0', 'x', '%2e%2e');
    const start = fc.constantFrom('model/espeak-ng-data/', 'model/espeak-ng-data/', 'model/', '/', '../../');
    const hostile = fc.tuple(start, fc.array(piece, { minLength: 1, maxLength: 6 })).map(([head, rest]) => head + rest.join('/'));
    const type = fc.constantFrom('0', '0', '0', '1', '2', '3', '5');
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ name: hostile, type, content: fc.constant('evil') }), { minLength: 1, maxLength: 4 }),
        async (entries) => {
          const home = mkdtempSync(join(folder, 'run-'));
          const into = join(home, 'inside');
          mkdirSync(into);
          const archive = join(home, 'hostile.tar.bz2');
          writeFileSync(archive, bzip2(tarOf(entries.map((entry) => ({ ...entry, linkTo: '../../..' })))));
          await unpackModel(archive, into, { wanted }).catch((error: unknown) => expect(error).toBeInstanceOf(ModelContentError));
          expect(readdirSync(home).toSorted()).toEqual(['hostile.tar.bz2', 'inside']);
          for (const entry of readdirSync(into, { recursive: true, withFileTypes: true }))
            expect(entry.isFile() || entry.isDirectory()).toBe(true);
        },
      ),
      { numRuns: 40 },
    );
  });
});
