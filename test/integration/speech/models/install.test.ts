import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/kernel/clock.ts';
import { silentLogger } from '../../../../src/observability/logger.ts';
import { openModels } from '../../../../src/platform/engines/models/open-models.ts';
import type { Download, OfferedModel } from '../../../../src/speech/models/catalogue.ts';
import { mayRedirect } from '../../../../src/speech/models/download.ts';
import { ModelContentError, ModelDownloadError, ModelFolderError } from '../../../../src/speech/models/errors.ts';
import { type Installation, type InstallOptions, installModel } from '../../../../src/speech/models/install.ts';
import { lockModels, removeModel, useModel, verifyModel } from '../../../../src/speech/models/installed.ts';
import { readModels } from '../../../../src/speech/models/read-models.ts';
import { writeTinyRecogniser } from '../../../support/onnx/tiny-recognisers.ts';
import { quickClock } from '../../../support/quick-clock.ts';
import { bzip2, type Handler, type ModelServer, sendFile, startModelServer, tarOf } from '../../../support/models.ts';
import { untilPasses } from '../../../support/eventually.ts';

const HOST = 'models.example';
const PATH = '/release/tiny.tar.bz2';
const ASKED = `/${HOST}${PATH}`;
const noise = createHash('shake256', { outputLength: 150_000 }).update('noise').digest();
const archive = bzip2(
  tarOf([
    { name: 'tiny/', type: '5' },
    { name: 'tiny/encoder.onnx', content: noise },
    { name: 'tiny/decoder.onnx', content: 'decoder' },
    { name: 'tiny/joiner.onnx', content: 'joiner' },
    { name: 'tiny/tokens.txt', content: 'tokens' },
  ]),
);
const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

function tiny(facts: Partial<Download> = {}): OfferedModel {
  return {
    title: 'Tiny',
    licence: 'MIT',
    licenceFrom: `https://${HOST}/licence`,
    downloads: [{ archive: `https://${HOST}${PATH}`, bytes: archive.length, sha256: hashOf(archive), ...facts }],
    elsewhere: [],
    description: {
      name: 'tiny',
      role: 'recognition',
      kind: 'streaming-transducer',
      languages: ['en', 'hi'],
      licence: 'MIT',
      files: { encoder: 'encoder.onnx', decoder: 'decoder.onnx', joiner: 'joiner.onnx', tokens: 'tokens.txt' },
    },
  };
}
const unvouched = tiny({ sha256: undefined, bytes: undefined });

let folder = '';
let server: ModelServer;
beforeEach(async () => {
  folder = join(mkdtempSync(join(tmpdir(), 'offhook-install-')), 'models');
  server = await startModelServer();
  server.files.set(ASKED, archive);
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(join(folder, '..'), { recursive: true, force: true });
});

const install = (model = tiny(), options: Partial<InstallOptions> = {}): Promise<Installation> =>
  installModel(model, {
    modelsFolder: folder,
    redirects: {},
    mirror: server.url,
    clock: systemClock,
    pauseMs: 0,
    ...options,
  });
/** Sends the file up to this byte. */
const cutting =
  (file: Buffer, cutAt: () => number, etag?: string): Handler =>
  (request, response) => {
    const at = cutAt();
    const arrived = (): Promise<void> => untilPasses(() => expect(statSync(growing()).size).toBe(at));
    sendFile(file, request, response, { cutAt: at, arrived, ...(etag === undefined ? {} : { etag }) });
  };
const partial = (): string[] => readdirSync(join(folder, '.partial')).toSorted();
const growing = (): string => join(folder, '.partial', 'tiny.0.part');
const isInstalled = (): boolean => readdirSync(folder).includes('tiny');

describe('a mirror over plain http', () => {
  it('is asked for no file without a published hash, unless it is on this machine', async () => {
    const mirror = 'http://mirror.example:8080';
    await expect(install(unvouched, { mirror })).rejects.toThrow(/not fetched over plain http.*https address.*--from/u);
    expect(server.asked).toEqual([]);
    expect((await install(unvouched)).state).toBe('installed');
  });

  it('has its file refused where somebody on the way has replaced it', async () => {
    server.files.set(ASKED, Buffer.alloc(archive.length, 'x'));
    await expect(install()).rejects.toThrow('has the wrong hash');
    expect(isInstalled()).toBe(false);
  });
});

describe('installing a model', () => {
  it('gives it its place, whole and described, and leaves nothing else', async () => {
    const progress: string[] = [];
    expect(await install(tiny(), { onProgress: (step) => progress.push(step) })).toEqual({ state: 'installed', unvouched: [] });
    expect(new Set(progress)).toEqual(new Set(['download', 'check', 'unpack']));
    expect(partial()).toEqual([]);
    expect(readFileSync(join(folder, 'tiny/encoder.onnx')).equals(noise)).toBe(true);
    const changes = await useModel(folder, tiny().description);
    expect(changes).toEqual([
      { of: 'en', before: undefined },
      { of: 'hi', before: undefined },
    ]);
    const { recognition } = await readModels(folder);
    expect(recognition).toMatchObject([{ model: { name: 'tiny', kind: 'streaming-transducer' }, languages: ['en', 'hi'] }]);
    expect(await install()).toEqual({ state: 'there', unvouched: [] });
    expect(server.asked).toEqual([`${ASKED} whole`]);
  });

  it('goes on where the connection was cut, within one run', async () => {
    const cuts = [40_000, 90_000];
    server.files.set(
      ASKED,
      cutting(archive, () => cuts.shift() ?? archive.length),
    );
    expect(await install()).toMatchObject({ state: 'installed' });
    expect(server.asked).toEqual([`${ASKED} whole`, `${ASKED} bytes=40000-`, `${ASKED} bytes=90000-`]);
  });

  it('says so when connections are cut again and again, and goes on in a later run', async () => {
    server.files.set(
      ASKED,
      cutting(archive, () => 50_000),
    );
    await expect(install()).rejects.toThrow(ModelDownloadError);
    expect(isInstalled()).toBe(false);
    expect(statSync(growing()).size).toBe(50_000);
    server.files.set(ASKED, archive);
    server.asked.length = 0;
    expect(await install()).toMatchObject({ state: 'installed' });
    expect(server.asked).toEqual([`${ASKED} bytes=50000-`]);
  });

  it('begins anew when the file has changed since', async () => {
    const other = Buffer.alloc(archive.length, 7);
    server.files.set(
      ASKED,
      cutting(other, () => 50_000, '"old"'),
    );
    await expect(install()).rejects.toThrow(/was cut|terminated/);
    server.files.set(ASKED, archive);
    expect(await install()).toMatchObject({ state: 'installed' });
  });

  it('checks what came before when only the check was missing', async () => {
    server.files.set(
      ASKED,
      cutting(archive, () => 50_000),
    );
    await expect(install(unvouched)).rejects.toThrow(ModelDownloadError);
    writeFileSync(growing(), archive);
    server.files.set(ASKED, archive);
    expect(await install(unvouched)).toMatchObject({ state: 'installed' });
  });

  it('refuses a wrong hash, names both, and fetches anew the next time', async () => {
    const wrong = Buffer.from(archive);
    wrong.writeUInt8(wrong.readUInt8(1_000) ^ 255, 1_000);
    server.files.set(ASKED, wrong);
    const failed = install();
    await expect(failed).rejects.toThrow(ModelContentError);
    await expect(failed).rejects.toThrow(new RegExp(`wrong hash: ${hashOf(wrong)}, published is ${hashOf(archive)}`));
    expect([isInstalled(), partial()]).toEqual([false, []]);
    server.files.set(ASKED, archive);
    expect(await install()).toMatchObject({ state: 'installed' });
  });

  it.each([
    ['of another size than published', () => archive.subarray(0, 10_000), /has 10000 bytes, where \d+ are published/],
    ['that is not there', undefined, /status 404: the file is not there/],
  ])('refuses a file %s', async (_, file, message) => {
    if (file === undefined) server.files.delete(ASKED);
    else server.files.set(ASKED, file());
    await expect(install()).rejects.toThrow(message);
    expect([isInstalled(), server.asked.length]).toEqual([false, 1]);
  });

  it('refuses a body that is longer than its publisher says', async () => {
    server.files.set(ASKED, (_request, response) => {
      response.writeHead(200, { 'transfer-encoding': 'chunked' });
      response.end(Buffer.concat([archive, archive]));
    });
    await expect(install()).rejects.toThrow(/sends more than \d+ bytes/);
  });

  it('tries again when the server is out of order, and says so in the end', async () => {
    let failures = 2;
    server.files.set(ASKED, (request, response) => {
      failures -= 1;
      if (failures >= 0) response.writeHead(503).end();
      else sendFile(archive, request, response);
    });
    expect(await install()).toMatchObject({ state: 'installed' });
    rmSync(join(folder, 'tiny'), { recursive: true });
    failures = 100;
    await expect(install()).rejects.toThrow(/answers with status 503: try again later/);
  });

  it('follows no redirect to an unknown host, nor in circles', async () => {
    server.files.set(ASKED, (_request, response) => response.writeHead(302, { location: 'http://127.0.0.1:9/elsewhere' }).end());
    await expect(install()).rejects.toThrow(/redirects to http:\/\/127\.0\.0\.1:9, which is not among the hosts/);
    server.files.set(ASKED, (_request, response) => response.writeHead(302, { location: ASKED }).end());
    await expect(install()).rejects.toThrow(/redirects more than 5 times/);
    server.files.set(ASKED, (_request, response) => response.writeHead(302, { location: '/moved' }).end());
    server.files.set('/moved', archive);
    expect(await install()).toMatchObject({ state: 'installed' });
  });

  it.each([
    ['https://github.com/a', 'https://release-assets.githubusercontent.com/b', true],
    ['https://github.com/a', 'https://github.com/b', true],
    ['https://github.com/a', 'http://github.com/b', false],
    ['https://github.com/a', 'http://release-assets.githubusercontent.com/b', false],
    ['https://github.com/a', 'https://evil.example/b', false],
    ['https://github.com/a', 'https://release-assets.githubusercontent.com.evil.example/b', false],
    ['https://huggingface.co/a', 'https://cas-bridge.xethub.hf.co/b', true],
    ['https://huggingface.co/a', 'https://evilhf.co/b', false],
    ['http://mirror.local/a', 'http://mirror.local/b', true],
    ['http://mirror.local/a', 'http://elsewhere.local/b', false],
  ])('redirects from %s to %s: %s', (from, to, expected) => {
    const redirects = ['release-assets.githubusercontent.com', '*.hf.co'];
    expect(mayRedirect(new URL(from), new URL(to), redirects)).toBe(expected);
  });

  it('says at once that there is no network', async () => {
    await server[Symbol.asyncDispose]();
    const { url } = server;
    server = await startModelServer();
    await expect(install(tiny(), { mirror: url, pauseMs: 600_000 })).rejects.toThrow(
      /127\.0\.0\.1:\d+ cannot be reached \(.*ECONNREFUSED/,
    );
  });

  it('gives up on a server that is silent, and says so', async () => {
    server.files.set(ASKED, (_request, response) => {
      response.writeHead(200, { 'content-length': archive.length }).write('x');
    });
    const clock = quickClock(300);
    await expect(install(tiny(), { clock })).rejects.toThrow(/the connection to .* was cut \(nothing came for 60 s\)/);
  });

  it('ends with the signal, and goes on later', async () => {
    const stop = new AbortController();
    const failed = install(tiny(), {
      signal: stop.signal,
      onProgress: (step) => step === 'download' && stop.abort(new Error('stopped by hand')),
    });
    await expect(failed).rejects.toThrow('stopped by hand');
    expect(isInstalled()).toBe(false);
    expect(await install()).toMatchObject({ state: 'installed' });
  });

  it('says that the disk is full, and installs when there is room', async () => {
    // A device that is full whatever is written to it.
    mkdirSync(join(folder, '.partial'), { recursive: true });
    symlinkSync('/dev/full', growing());
    const failed = install();
    await expect(failed).rejects.toThrow(ModelFolderError);
    await expect(failed).rejects.toThrow(/the disk is full; tiny is not installed.*run the same command again/);
    expect(isInstalled()).toBe(false);
    rmSync(growing());
    expect(await install()).toMatchObject({ state: 'installed' });
  });

  it('asks for room before it fetches', async () => {
    await expect(install(tiny({ bytes: 2 ** 52 }))).rejects.toThrow(/tiny needs \d+ MB of disk, and \d+ MB are free/);
    expect(server.asked).toEqual([]);
  });

  it('refuses an archive that holds something else', async () => {
    const other = bzip2(tarOf([{ name: 'tiny/encoder.onnx', content: 'encoder' }]));
    server.files.set(ASKED, other);
    await expect(install(tiny({ bytes: other.length, sha256: hashOf(other) }))).rejects.toThrow('the archive lacks decoder.onnx');
    expect([isInstalled(), partial()]).toEqual([false, []]);
  });

  it('takes the archive from a file, and checks it as well', async () => {
    const file = join(folder, '../tiny.tar.bz2');
    writeFileSync(file, archive);
    expect(await install(tiny(), { from: file })).toMatchObject({ state: 'installed' });
    rmSync(join(folder, 'tiny'), { recursive: true });
    writeFileSync(file, archive.subarray(1));
    await expect(install(tiny(), { from: file })).rejects.toThrow(/wrong hash: .*another file, or damaged/);
    await expect(install(tiny(), { from: join(folder, 'nowhere') })).rejects.toThrow('there is no such file or folder');
    expect(server.asked).toEqual([]);
  });

  it('takes several downloads from a folder', async () => {
    const extra = Buffer.from('vocoder');
    const model: OfferedModel = {
      ...tiny(),
      downloads: [
        ...tiny().downloads,
        { file: `https://${HOST}/vocoder.onnx`, as: 'joiner2.onnx', bytes: extra.length, sha256: hashOf(extra) },
      ],
    };
    const from = join(folder, '../offline');
    mkdirSync(from);
    writeFileSync(join(from, 'tiny.tar.bz2'), archive);
    await expect(install(model, { from: join(from, 'tiny.tar.bz2') })).rejects.toThrow(
      /give a folder that holds tiny\.tar\.bz2 and joiner2/,
    );
    await expect(install(model, { from })).rejects.toThrow(/joiner2\.onnx is missing: it is the download https:/);
    writeFileSync(join(from, 'joiner2.onnx'), extra);
    expect(await install(model, { from })).toMatchObject({ state: 'installed' });
    expect(readFileSync(join(folder, 'tiny/joiner2.onnx'), 'utf8')).toBe('vocoder');
  });
});

it('a model whose hash nobody published is compared with the copy that came first', async () => {
  const first = await install(unvouched);
  expect(first.unvouched).toEqual([{ url: `https://${HOST}${PATH}`, sha256: hashOf(archive), isFirst: true }]);
  await removeModel(folder, 'tiny');
  expect((await install(unvouched)).unvouched).toMatchObject([{ isFirst: false }]);
  await removeModel(folder, 'tiny');
  server.files.set(ASKED, bzip2(tarOf([{ name: 'tiny/encoder.onnx', content: 'replaced' }])));
  await expect(install(unvouched)).rejects.toThrow(/the copy that came first, on \d{4}-.*, had [0-9a-f]{64}/);
  expect(isInstalled()).toBe(false);
});

describe('an installed model', () => {
  it('is verified file by file, and replaced whole when one was damaged', async () => {
    await install();
    rmSync(join(folder, 'tiny/joiner.onnx'));
    writeFileSync(join(folder, 'tiny/decoder.onnx'), 'damaged');
    const states = Object.fromEntries((await verifyModel(folder, 'tiny')).map(({ file, state }) => [file, state]));
    expect(states).toEqual({
      'decoder.onnx': 'changed',
      'encoder.onnx': 'unchanged',
      'joiner.onnx': 'missing',
      'model.json': 'unchanged',
      'tokens.txt': 'unchanged',
    });
    expect(await install()).toMatchObject({ state: 'installed' });
    expect((await verifyModel(folder, 'tiny')).every(({ state }) => state === 'unchanged')).toBe(true);
    expect(partial()).toEqual([]);
  });

  it('is removed from use first, with what came of a download', async () => {
    await install();
    await useModel(folder, tiny().description, ['hi']);
    writeFileSync(growing(), 'half');
    expect(await removeModel(folder, 'tiny')).toEqual({ removed: true, usedFor: ['hi'] });
    expect([isInstalled(), partial(), readdirSync(folder).includes('used.json')]).toEqual([false, [], false]);
    expect(await removeModel(folder, 'tiny')).toEqual({ removed: false, usedFor: [] });
  });

  it('is opened by the embedded platform', async () => {
    const made = join(folder, '../hears-en');
    const description = writeTinyRecogniser(made, { kind: 'streaming-transducer', name: 'hears-en' });
    const files = readdirSync(made).filter((file) => file !== 'model.json');
    const packed = bzip2(tarOf(files.map((file) => ({ name: `hears-en/${file}`, content: readFileSync(join(made, file)) }))));
    server.files.set(ASKED, packed);
    await install({ ...tiny({ bytes: packed.length, sha256: hashOf(packed) }), description });
    await useModel(folder, description);
    const { models } = await openModels(folder, systemClock, silentLogger);
    expect(models.recognition).toMatchObject([{ languages: ['en'], model: { name: 'hears-en' } }]);
  });

  it('is never something outside of the folder', async () => {
    await install();
    const outside = join(folder, '../outside');
    mkdirSync(outside);
    writeFileSync(join(outside, 'model.json'), readFileSync(join(folder, 'tiny/model.json')));
    expect(await removeModel(folder, '../outside')).toEqual({ removed: false, usedFor: [] });
    await expect(verifyModel(folder, '../outside')).rejects.toThrow('no such model is installed');
    expect(existsSync(join(outside, 'model.json'))).toBe(true);
  });

  it('is used for its own languages alone', async () => {
    await expect(useModel(folder, tiny().description, ['ta'])).rejects.toThrow(
      'tiny is no model for ta; its languages are en, hi',
    );
  });

  it('waits for the process that works in the folder', async () => {
    const waits: number[] = [];
    const first = await lockModels(folder, systemClock);
    const second = lockModels(folder, systemClock, { onWait: (pid) => (waits.push(pid), void first.release()) });
    await using lock = await second;
    expect(await lock.isHeld()).toBe(true);
    expect(waits).toEqual([process.pid]);
  });

  it('leaves nothing of a run that was killed but what it goes on from', async () => {
    const left = ['tiny.new.zz-1-00000000.00000000.tmp', 'tiny.0.part'];
    mkdirSync(join(folder, '.partial', left[0] ?? ''), { recursive: true });
    writeFileSync(growing(), 'half');
    const long = new Date(Date.now() - 90_000_000);
    utimesSync(join(folder, '.partial', left[0] ?? ''), long, long);
    await install();
    expect([isInstalled(), partial()]).toEqual([true, []]);
  });
});
