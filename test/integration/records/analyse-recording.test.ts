import { spawnSync } from 'node:child_process';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { wavFile } from '../../../src/audio/wav.ts';
import { transcriberOn } from '../../../src/hosts/backlog.ts';
import { Batch, ItemFetcher } from '../../../src/cli/analyse/run-batch.ts';
import type { Item, Place } from '../../../src/cli/analyse/items.ts';
import { Manifest } from '../../../src/cli/analyse/output-folder.ts';
import { S3Source } from '../../../src/cli/analyse/s3-source.ts';
import { soundReader } from '../../../src/records/analysis/sound-reader.ts';
import { recordingAnalysis } from '../../../src/records/analysis/document.ts';
import { prepareProfile, parseProfile } from '../../../src/records/analysis/analysis-profiles.ts';
import { splitRecording, inspectWav } from '../../../src/records/analysis/wav-recording.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { SpeechPlatform } from '../../../src/speech/platform.ts';
import { requireTool } from '../../support/requires.ts';
import { S3_CREDENTIALS, startS3 } from '../../support/s3-server.ts';
import { startTestPlatform, type TestPlatform } from '../platform/setup.ts';
import { sayTones, type ToneWord } from '../platform/tone-engines.ts';
import { hangs } from '../../support/patience.ts';

const RATE_HZ = 16_000;
const ffmpeg = requireTool('ffmpeg');

/** Each word of the left in turn with one of the right, side by side or mixed into one. */
function conversation(left: readonly ToneWord[], right: readonly ToneWord[], channels: 1 | 2): Uint8Array {
  const [customer, agent] = [sayTones(left, RATE_HZ), sayTones(right, RATE_HZ)];
  const frames = customer.length + agent.length + RATE_HZ;
  const pcm = new Int16Array(frames * channels);
  agent.forEach((sample, at) => (pcm[at * channels + channels - 1] = sample));
  customer.forEach((sample, at) => (pcm[(agent.length + at) * channels] = sample));
  return wavFile(pcm, RATE_HZ, channels);
}

describe('recordings from elsewhere', () => {
  let test: TestPlatform;
  let speech: SpeechPlatform;
  let folder: string;
  let requests = 0;

  beforeAll(async () => {
    test = await startTestPlatform();
    const { authUrl, asrUrl, medUrl, ttsUrl, apiKey } = test.platform;
    speech = new SpeechPlatform({ authUrl, asrUrl, medUrl, ttsUrl, apiKey });
    folder = await mkdtemp(join(tmpdir(), 'offhook-recordings-'));
  });
  afterAll(async () => {
    await speech[Symbol.asyncDispose]();
    await test[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  const item = (name: string, place: Place, metadata = {}): Item => ({
    name,
    place,
    version: undefined,
    recordedAtMs: Date.UTC(2026, 0, 1),
    metadata,
  });
  const file = async (name: string, bytes: Uint8Array | string): Promise<Item> => {
    const path = join(folder, name);
    await writeFile(path, bytes);
    return item(name, { kind: 'file', path });
  };

  let runs = 0;
  async function run(yaml: string, items: readonly Item[], env: Record<string, string> = {}, audioHosts: readonly string[] = []) {
    const prepared = prepareProfile(parseProfile(`name: p\nlanguage: en\n${yaml}`, 'p.yaml'));
    const outFolder = join(folder, `out-${(runs += 1)}`);
    const workFolder = join(outFolder, 'work');
    await mkdir(workFolder, { recursive: true });
    await using manifest = await Manifest.open(outFolder);
    const s3 = new S3Source(env, systemClock);
    const transcriber = transcriberOn(speech);
    const batch = new Batch({
      ...prepared,
      transcriber: {
        ...transcriber,
        transcribe: (path, request) => {
          requests += 1;
          return transcriber.transcribe(path, request);
        },
      },
      sound: soundReader(),
      fetcher: new ItemFetcher({ clock: systemClock, s3, workFolder, audioHosts }),
      manifest,
      profileKey: 'p-1',
      outFolder,
      workFolder,
      concurrency: 3,
      nowMs: () => systemClock.wallMs(),
    });
    await batch.run(items, hangs());
    expect(await readdir(workFolder)).toEqual([]);
    const documents = await Promise.all(
      batch.results.map(async (path) => recordingAnalysis.parse(JSON.parse(await readFile(path, 'utf8')))),
    );
    return { documents, failed: batch.failed, counts: batch.counts };
  }
  const texts = ({ channels }: { channels: readonly { role: string; text: string }[] }) =>
    channels.map(({ role, text }) => [role, text]);

  it('recognises each channel of a stereo recording by itself, and sends no silent one', async () => {
    const before = requests;
    const { documents } = await run('', [
      await file('both.wav', conversation(['alpha', 'bravo'], ['charlie'], 2)),
      await file('one.wav', conversation([], ['alpha'], 2)),
    ]);
    expect(documents.map(texts).toSorted(([, a], [, b]) => String(a?.[1]).localeCompare(String(b?.[1])))).toEqual([
      [
        ['customer', ''],
        ['agent', 'alpha'],
      ],
      [
        ['customer', 'alpha bravo'],
        ['agent', 'charlie'],
      ],
    ]);
    expect(requests - before).toBe(3);
    const both = documents.find(({ recording }) => recording.name === 'both.wav')!;
    expect(both.measuredFrom).toBe('sound');
    expect(both.measures.roles.map(({ role, turns }) => [role, turns])).toEqual([
      ['customer', 1],
      ['agent', 1],
    ]);
    expect(both.talkRatio).toBeCloseTo(0.68, 1);
  });

  it('takes a stereo file with the same on both channels for the mono recording that it is', async () => {
    const mono = sayTones(['alpha', 'bravo'], RATE_HZ);
    const twice = Int16Array.from({ length: 2 * mono.length }, (_, at) => mono[at >> 1]!);
    const { documents } = await run('channels: { mono: { speakers: 1 } }', [await file('twice.wav', wavFile(twice, RATE_HZ, 2))]);
    expect(documents.map(texts)).toEqual([[['agent', 'alpha bravo']]]);
  });

  it('refuses what is no recording by name and sends nothing of it, unless told to take the rest', async () => {
    const before = requests;
    const cut = conversation(['alpha'], ['bravo'], 1).subarray(0, 40_000);
    const bad = [
      await file('empty.wav', ''),
      await file('text.mp3', 'no sound in this file at all'),
      await file('cut.wav', cut),
      await file('header.wav', conversation([], [], 1).subarray(0, 44)),
      await file('silence.wav', wavFile(new Int16Array(20 * RATE_HZ), RATE_HZ)),
      item('gone.wav', { kind: 'file', path: join(folder, 'gone.wav') }),
    ];
    const { failed, counts } = await run('', bad);
    expect(requests).toBe(before);
    expect(counts).toMatchObject({ done: 0, failed: bad.length });
    expect(failed.every(({ code, retryable }) => code === 'OFFHOOK_RECORDING_REFUSED' && !retryable)).toBe(true);
    const { documents } = await run('channels: { truncated: analyse, mono: { speakers: 1 } }', [await file('rest.wav', cut)]);
    expect(documents.map(texts)).toEqual([[['agent', 'bravo alpha']]]);
  });

  it('does the same content once, whatever it is called', async () => {
    const bytes = conversation(['alpha'], ['bravo'], 2);
    const copies = await Promise.all(['a.wav', 'b.wav', 'c.wav'].map((name) => file(name, bytes)));
    const { counts, documents } = await run('', copies);
    expect(counts).toMatchObject({ done: 1, skipped: 2, failed: 0 });
    expect(documents).toHaveLength(1);
  });

  it('takes the medical route, and splits what is over the limits at a pause', async () => {
    const { documents } = await run('route: medical', [await file('visit.wav', conversation(['alpha'], ['bravo'], 2))]);
    expect(documents[0]?.channels.map(({ source, text }) => [source, text])).toEqual([
      ['medical', 'alpha'],
      ['medical', 'bravo'],
    ]);
    const { place } = await file('long.wav', conversation(['alpha', 'bravo', 'charlie'], ['bravo', 'alpha'], 1));
    const path = (place as { path: string }).path;
    const pieces = await splitRecording(path, join(folder, 'long'), hangs(), { bytes: 60_000, seconds: 1.5 });
    const seconds = await Promise.all(pieces.map(async (piece) => (await inspectWav(piece.path)).totalS));
    expect(Math.max(...seconds)).toBeLessThanOrEqual(1.5);
    expect(seconds.reduce((sum, each) => sum + each, 0)).toBeCloseTo((await inspectWav(path)).totalS, 3);
    expect(pieces.map(({ startS }) => startS)).toEqual(
      seconds.map((_, index) => seconds.slice(0, index).reduce((a, b) => a + b, 0)),
    );
  });

  it('measures compressed recordings too', async () => {
    const path = new URL('../../fixtures/audio/tones.mp3', import.meta.url).pathname;
    const { documents, failed } = await run('channels: { stereo: mixed, mono: { speakers: 1 } }', [
      item('tones.mp3', { kind: 'file', path }),
    ]);
    expect(failed).toEqual([]);
    expect(documents[0]).toMatchObject({ recording: { container: 'mp3' }, measuredFrom: 'sound' });
    expect(documents[0]!.durations.totalS).toBeGreaterThan(0.5);
  });

  it.runIf(ffmpeg !== undefined)("keeps the channels of compressed recordings apart, where the system's ffmpeg can", async () => {
    const { place } = await file('stereo.wav', conversation(['alpha', 'bravo'], ['charlie'], 2));
    const path = join(folder, 'stereo.mp3');
    const made = spawnSync(ffmpeg!, ['-loglevel', 'quiet', '-i', (place as { path: string }).path, '-b:a', '128k', path]);
    expect(made.status).toBe(0);
    const { documents, failed } = await run('insights: { of: everybody, sentiment: true }', [
      item('stereo.mp3', { kind: 'file', path }),
    ]);
    expect(failed).toEqual([]);
    expect(documents[0]).toMatchObject({ recording: { container: 'mp3', channels: 2 }, measuredFrom: 'sound' });
    expect(texts(documents[0]!)).toEqual([
      ['customer', 'alpha bravo'],
      ['agent', 'charlie'],
    ]);
  });

  it('fetches from public addresses alone, other hosts only where they are allowed', async () => {
    const bytes = conversation(['charlie'], ['alpha'], 2);
    const server = createServer((_request, response) => response.end(bytes)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const at = (host: string): Item => item(host, { kind: 'url', url: `http://${host}:${port}/call.wav` });
    try {
      const { failed } = await run('', [
        at('127.0.0.1'),
        item('inner', { kind: 'url', url: `https://127.0.0.1:${port}/call.wav` }),
        item('meta', { kind: 'url', url: 'https://169.254.169.254/latest/meta-data/' }),
        item('secret', { kind: 'url', url: 'https://user:password@example.com/a.wav' }),
      ]);
      expect(failed.map(({ code, retryable }) => [code, retryable])).toEqual(
        Array.from({ length: 4 }, () => ['OFFHOOK_RECORDING_FETCH', false]),
      );
      const { documents } = await run('', [{ ...at('127.0.0.1'), metadata: { agent: '7' } }], {}, ['127.0.0.1']);
      expect(documents[0]).toMatchObject({
        recording: { metadata: { agent: '7' } },
        channels: [{ text: 'charlie' }, { text: 'alpha' }],
      });
    } finally {
      server.close();
    }
  });

  it('reads objects of an S3-compatible store', async () => {
    await using s3 = await startS3();
    s3.objects.set('calls/2026/a b.wav', Buffer.from(conversation(['bravo'], ['alpha'], 2)));
    const env = {
      AWS_ACCESS_KEY_ID: S3_CREDENTIALS.accessKeyId,
      AWS_SECRET_ACCESS_KEY: S3_CREDENTIALS.secretAccessKey,
      AWS_REGION: S3_CREDENTIALS.region,
      AWS_ENDPOINT_URL: s3.url,
    };
    const { documents, failed } = await run(
      '',
      [
        item('a', { kind: 's3', bucket: 'calls', key: '2026/a b.wav' }),
        item('none', { kind: 's3', bucket: 'calls', key: 'none.wav' }),
      ],
      env,
    );
    expect(s3.refused).toEqual([]);
    expect(documents.map(texts)).toEqual([
      [
        ['customer', 'bravo'],
        ['agent', 'alpha'],
      ],
    ]);
    expect(failed).toMatchObject([{ name: 'none', reason: 'there is no such object' }]);
  });
});
