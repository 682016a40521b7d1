import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decodeAudio } from '../../src/audio/codec.ts';
import { activeLevelDb } from '../../src/audio/level.ts';
import { startTestPlatform, type TestPlatform, TestSocket } from '../integration/platform/setup.ts';
import { requireTool } from '../support/requires.ts';

/** What the tone engine makes of twelve characters: 0.8 s, of which 0.6 s are a tone of -13.5 dB. */
const speech = { model: 'zero-indic', input: 'hello caller', voice: 'Nisha' };
const [seconds, levelDb] = [0.8, -13.5];

/** For each format what ffprobe calls it, and how both tools are told what cannot be seen in the bytes. */
const formats = [
  { name: 'wav', codec: 'pcm_s16le', rateHz: 24_000, probe: [], sox: ['-t', 'wav'] },
  { name: 'mp3', codec: 'mp3', rateHz: 24_000, probe: [], sox: ['-t', 'mp3'] },
  // Opus is always decoded at 48 kHz (RFC 7845, section 5.1).
  { name: 'ogg_opus', codec: 'opus', rateHz: 48_000, probe: [], sox: ['-t', 'opus'] },
  { name: 'flac', codec: 'flac', rateHz: 24_000, probe: [], sox: ['-t', 'flac'] },
  {
    name: 'pcm',
    codec: 'pcm_s16le',
    rateHz: 24_000,
    probe: ['-f', 's16le', '-ar', '24000'],
    sox: ['-t', 'raw', '-r', '24000', '-e', 'signed', '-b', '16', '-c', '1'],
  },
  {
    name: 'mulaw',
    codec: 'pcm_mulaw',
    rateHz: 8000,
    probe: ['-f', 'mulaw', '-ar', '8000'],
    sox: ['-t', 'ul', '-r', '8000', '-c', '1'],
  },
  {
    name: 'alaw',
    codec: 'pcm_alaw',
    rateHz: 8000,
    probe: ['-f', 'alaw', '-ar', '8000'],
    sox: ['-t', 'al', '-r', '8000', '-c', '1'],
  },
] as const;

const ffprobe = requireTool('ffprobe');
const sox = requireTool('sox');
/** What this sox was built with: it may lack MP3 and Opus. */
const soxTypes = sox === undefined ? [] : execFileSync(sox, ['--help'], { encoding: 'utf8' }).split(/\s+/);

describe('tools that are not ours', () => {
  let test: TestPlatform;
  let folder: string;
  beforeAll(async () => {
    test = await startTestPlatform();
    folder = mkdtempSync(join(tmpdir(), 'offhook-tools-'));
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    await test[Symbol.asyncDispose]();
  });

  async function batch(format: string): Promise<Buffer> {
    const response = await test.post(`${test.platform.ttsUrl}/v1/audio/speech`, { ...speech, response_format: format });
    expect(response.status).toBe(200);
    return Buffer.from(await response.arrayBuffer());
  }

  /** The chunks of a stream, one after another: of a container, the first holds its head. */
  async function streamed(format: string): Promise<Buffer> {
    const headers = { authorization: `Bearer ${await test.token()}` };
    await using socket = await TestSocket.open(`${test.platform.ttsUrl}/v1/realtime`, headers);
    socket.json({ ...speech, response_format: format });
    await socket.until(() => socket.of('completion').length === 1);
    return Buffer.concat(socket.audio.map(({ bytes }) => bytes));
  }

  const answers = formats.map((format) => ({ ...format, way: 'in one answer', speak: batch }));
  // Without a container a stream is the same bytes.
  const streams = formats
    .filter(({ probe }) => probe.length === 0)
    .map((format) => ({ ...format, way: 'in chunks', speak: streamed }));

  it.skipIf(ffprobe === undefined).each([...answers, ...streams])(
    'ffprobe reads $name sent $way',
    async ({ name, codec, rateHz, probe, speak }) => {
      const file = join(folder, 'probed');
      writeFileSync(file, await speak(name));
      const asked = ['-v', 'error', '-of', 'json', '-count_packets', '-show_entries', 'stream=codec_name,sample_rate,channels'];
      const told = execFileSync(ffprobe!, [...asked, '-show_entries', 'packet=duration_time', ...probe, file], {
        encoding: 'utf8',
      });
      const { streams, packets } = JSON.parse(told) as { streams: unknown[]; packets: { duration_time: string }[] };
      expect(streams).toEqual([{ codec_name: codec, sample_rate: String(rateHz), channels: 1 }]);
      const total = packets.reduce((sum, packet) => sum + Number(packet.duration_time), 0);
      expect(Math.abs(total - seconds)).toBeLessThan(0.1);
    },
  );

  // A sox without a format says so by not naming it; the others must all be read.
  const readable = answers.filter(({ sox: [, type] }) => sox !== undefined && soxTypes.includes(type));
  it.skipIf(sox === undefined)('sox knows all that need no library of their own', () => {
    expect(readable.map(({ name }) => name)).toEqual(expect.arrayContaining(['wav', 'flac', 'pcm', 'mulaw', 'alaw']));
  });

  it.skipIf(sox === undefined).each(readable)('sox reads $name', async ({ name, rateHz, sox: as, speak }) => {
    const file = join(folder, 'read');
    writeFileSync(file, await speak(name));
    const out = ['-t', 'raw', '-e', 'signed', '-b', '16', '-'];
    const pcm = decodeAudio('pcm16', execFileSync(sox!, ['-V2', ...as, file, ...out], { maxBuffer: 1e7 }));
    expect(Math.abs(pcm.length / rateHz - seconds)).toBeLessThan(0.1);
    expect(activeLevelDb(pcm, rateHz)).toBeCloseTo(levelDb, -0.5);
  });
});
