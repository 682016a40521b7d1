import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { requireTool } from '../../support/requires.ts';
import { thorough } from '../../support/thorough.ts';
import { startTestPlatform, type TestPlatform } from './setup.ts';

const folder = join(import.meta.dirname, '../../fixtures/audio');
const fixture = (name: string): Buffer => readFileSync(join(folder, name));
const hasFfmpeg = requireTool('ffmpeg') !== undefined;

/** Read with nothing but what the package brings along. */
const ours = ['tones.mp3', 'tones.flac', 'tones-opus.ogg', 'tones-vorbis.ogg', 'tones.webm', 'tones.mkv', 'tones-vorbis.webm'];
/** Read by a system ffmpeg. */
const theirs = ['tones.m4a', 'tones.mp4', 'tones.aac', 'tones.wma'];

async function transcribe(test: TestPlatform, bytes: Uint8Array, name = 'audio.bin') {
  const form = new FormData();
  form.append('file', new Blob([Buffer.from(bytes)]), name);
  form.append('language_code', 'en');
  form.append('response_format', 'verbose_json');
  const response = await test.post(`${test.platform.asrUrl}/v1/audio/transcriptions`, form);
  const body = (await response.json()) as { text: string; audio_duration: number; detail: string };
  return { status: response.status, ...body };
}

describe('containers', () => {
  let test: TestPlatform;
  let without: TestPlatform;
  beforeAll(async () => {
    test = await startTestPlatform();
    without = await startTestPlatform({ media: { ffmpeg: 'no-such-ffmpeg', maxOwnSeconds: 0.9 } });
  });
  afterAll(async () => {
    await test[Symbol.asyncDispose]();
    await without[Symbol.asyncDispose]();
  });

  // Each of our decoders is tested by itself (`unit/audio/media`).
  it.each(thorough(['tones.mp3', 'tones.webm'], ours))('%s is heard, whatever its name says [53]', async (name) => {
    const { text, audio_duration } = await transcribe(test, fixture(name), 'audio.wav');
    expect(text).toBe('alpha charlie');
    expect(Math.abs(audio_duration - 1)).toBeLessThan(0.02);
  });

  it.runIf(hasFfmpeg).each(thorough(['tones.m4a', 'tones.wma'], theirs))(
    '%s is heard through a system ffmpeg [53]',
    async (name) => {
      const { text, audio_duration } = await transcribe(test, fixture(name), 'audio.wav');
      // Windows Media leaves the start out.
      expect(text).toMatch(name === 'tones.wma' ? /charlie$/ : /^alpha charlie$/);
      expect(Math.abs(audio_duration - 1)).toBeLessThan(0.06);
    },
  );

  it.each([
    ['tones.m4a', 'Audio in MP4 (M4A, MOV)'],
    ['tones.wma', 'Windows Media audio'],
  ])('%s without ffmpeg is a 415 that says what is missing, how to get it and what to send instead', async (name, what) => {
    const { status, detail } = await transcribe(without, fixture(name));
    expect(status).toBe(415);
    expect(detail).toBe(
      `${what} is decoded by the program ffmpeg, and the platform's machine does not have it. Install it there ` +
        '(Debian: apt-get install ffmpeg), or send WAV, MP3, FLAC, Ogg, or WebM with Opus or Vorbis',
    );
  });

  it.runIf(hasFfmpeg)('finds an ffmpeg that is installed while it runs', async () => {
    const programs = mkdtempSync(join(tmpdir(), 'offhook-programs-'));
    const ffmpeg = join(programs, 'ffmpeg');
    await using late = await startTestPlatform({ media: { ffmpeg } });
    expect((await transcribe(late, fixture('tones.m4a'))).status).toBe(415);
    symlinkSync(requireTool('ffmpeg')!, ffmpeg);
    expect((await transcribe(late, fixture('tones.m4a'))).text).toBe('alpha charlie');
    rmSync(programs, { recursive: true });
  });

  it.each(thorough([0, 2000], [0, 1, 40, 2000]))(
    'a Vorbis WebM that is damaged at byte %d of its headers is a 415',
    async (at) => {
      const bytes = fixture('tones-vorbis.webm');
      const headers = bytes.indexOf('\x01vorbis', 'latin1') - 1;
      bytes.fill(0xff, headers + at, headers + at + 60);
      expect((await transcribe(test, bytes)).status).toBe(415);
    },
  );

  it('compressed audio too long for our own decoders is a 413 that says so where there is no ffmpeg', async () => {
    const { status, detail } = await transcribe(without, fixture('tones.mp3'));
    expect([status, detail]).toEqual([413, expect.stringContaining('minutes')]);
  });

  it.runIf(hasFfmpeg)('compressed audio too long for our own decoders goes through ffmpeg', async () => {
    await using long = await startTestPlatform({ media: { maxOwnSeconds: 0.5 } });
    expect((await transcribe(long, fixture('tones.mp3'))).text).toBe('alpha charlie');
  });

  it('the limit on seconds holds for what comes out of a small file', async () => {
    await using short = await startTestPlatform({ limits: { audioSeconds: 0.8 } });
    for (const name of hasFfmpeg ? ['tones.flac', 'tones.m4a'] : ['tones.flac']) {
      expect((await transcribe(short, fixture(name))).status).toBe(400);
    }
  });

  it('a file without its end is a 415 [53]', async () => {
    const bytes = fixture('tones.mp3');
    const { status, detail } = await transcribe(test, bytes.subarray(0, Math.floor(bytes.length * 0.7)));
    expect([status, detail]).toEqual([415, expect.stringContaining('cut off')]);
  });

  it('text is a 415, under the name of a sound too [53]', async () => {
    expect((await transcribe(test, Buffer.from('hello there, this is only text'), 'audio.mp3')).status).toBe(415);
  });

  it('throws away what a killed platform left behind', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'offhook-uploads-'));
    mkdirSync(join(dataDir, 'uploads'));
    writeFileSync(join(dataDir, 'uploads/upload-old'), 'somebody');
    await using _platform = await startTestPlatform({ dataDir });
    expect(existsSync(join(dataDir, 'uploads/upload-old'))).toBe(false);
    rmSync(dataDir, { recursive: true });
  });

  it('leaves nothing on the disk', () => {
    expect(readdirSync(join(test.dataDir, 'uploads'))).toEqual([]);
    expect(readdirSync(join(without.dataDir, 'uploads'))).toEqual([]);
  });
});
