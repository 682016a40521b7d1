import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { MULAW_8K } from '../../../../../src/audio/format.ts';
import { decodeMulaw } from '../../../../../src/audio/g711.ts';
import type { MediaDecoder } from '../../../../../src/audio/media/media-decoder.ts';
import { activeLevelDb, rmsLevelDb } from '../../../../../src/audio/level.ts';
import { decodeFile } from '../../../../../src/audio/media/decode-file.ts';
import { MediaNeedsFfmpegError, MediaTooLongError } from '../../../../../src/audio/errors.ts';
import { sine } from '../../../../../src/audio/tone.ts';
import { WavError, wavFile } from '../../../../../src/audio/wav.ts';
import { SoundError } from '../../../../../src/call/outbound/sounds/port.ts';
import { SoundLibrary, type SoundLibraryOptions } from '../../../../../src/call/outbound/sounds/sound-library.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';
import { untilPasses } from '../../../../support/eventually.ts';

const audioFixtures = join(import.meta.dirname, '../../../../fixtures/audio');
let root: string;
let folder: string;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'offhook-sounds-'));
  folder = join(root, 'bots');
  await mkdir(join(folder, 'jingles'), { recursive: true });
});
afterAll(() => rm(root, { recursive: true, force: true }));

async function soundOf(library: SoundLibrary, source: string, signal = new AbortController().signal): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const part of library.play(folder, source, MULAW_8K, signal)) parts.push(part);
  return Buffer.concat(parts);
}

const library = (): SoundLibrary => new SoundLibrary({ clock: new ManualClock(0) });

/** Zero crossings of a second tell the pitch. */
function pitchHz(pcm: Int16Array): number {
  let crossings = 0;
  for (let index = 1; index < pcm.length; index += 1) if (pcm[index - 1]! < 0 && pcm[index]! >= 0) crossings += 1;
  return crossings / (pcm.length / 8_000);
}

describe('a sound of the bot’s folder', () => {
  it.each([
    { rateHz: 8_000, channels: 1 },
    { rateHz: 44_100, channels: 2 },
    { rateHz: 48_000, channels: 1 },
    { rateHz: 11_025, channels: 3 },
  ])('comes at 8 kHz from $rateHz Hz and $channels channels, as loud as the voices', async ({ rateHz, channels }) => {
    const mono = sine(440, 1_000, rateHz, 0.045);
    const pcm = Int16Array.from({ length: mono.length * channels }, (_, index) => mono[Math.floor(index / channels)]!);
    const name = `jingles/${rateHz}.wav`;
    await writeFile(join(folder, name), wavFile(pcm, rateHz, channels));
    const heard = decodeMulaw(await soundOf(library(), name));
    expect(heard).toHaveLength(8_000);
    expect(pitchHz(heard)).toBeCloseTo(440, -1);
    expect(activeLevelDb(heard, 8_000)).toBeGreaterThan(-22);
    expect(activeLevelDb(heard, 8_000)).toBeLessThan(-18);
  });

  it('is read once, and again when the file has changed', async () => {
    const path = join(folder, 'changing.wav');
    const sounds = library();
    await writeFile(path, wavFile(sine(440, 200, 8_000), 8_000));
    const first = await soundOf(sounds, 'changing.wav');
    expect(await soundOf(sounds, 'changing.wav')).toEqual(first);
    await writeFile(path, wavFile(sine(440, 400, 8_000), 8_000));
    await utimes(path, 1, 1);
    expect(await soundOf(sounds, 'changing.wav')).toHaveLength(3_200);
  });

  it('is forgotten when too much is kept, and still played', async () => {
    const sounds = new SoundLibrary({ clock: new ManualClock(0) }, { mostKeptBytes: 4_000 });
    for (const name of ['a', 'b']) await writeFile(join(folder, `${name}.wav`), wavFile(new Int16Array(1_600).fill(900), 8_000));
    for (const name of ['a', 'b', 'a']) expect(await soundOf(sounds, `${name}.wav`)).toHaveLength(1_600);
  });

  it('may not be outside of it, whatever it is called', async () => {
    const wav = wavFile(new Int16Array(800), 8_000);
    await writeFile(join(root, 'outside.wav'), wav);
    await mkdir(join(root, 'bots-too'));
    await writeFile(join(root, 'bots-too', 'x.wav'), wav);
    await symlink(join(root, 'outside.wav'), join(folder, 'link.wav'));
    for (const name of [
      '../outside.wav',
      join(root, 'outside.wav'),
      'link.wav',
      '../bots-too/x.wav',
      '.',
      'jingles',
      'none.wav',
    ]) {
      await expect(soundOf(library(), name), name).rejects.toThrow(SoundError);
    }
  });

  it('is refused when it is no sound, empty, or longer than five minutes', async () => {
    await writeFile(join(folder, 'bot.yaml'), 'name: x');
    await writeFile(join(folder, 'empty.wav'), wavFile(new Int16Array(0), 8_000));
    await writeFile(join(folder, 'long.wav'), wavFile(new Int16Array(301 * 1_000), 1_000));
    await expect(soundOf(library(), 'bot.yaml')).rejects.toThrow(WavError);
    await expect(soundOf(library(), 'empty.wav')).rejects.toThrow('empty');
    await expect(soundOf(library(), 'long.wav')).rejects.toThrow('longer than 300 s');
  });

  it('is played whatever it is compressed by, and its name does not matter', async () => {
    // In this thread: to start one takes seconds from source.
    const sounds = new SoundLibrary({ clock: new ManualClock(0) }, { decoder: { decode: (options) => decodeFile(options) } });
    for (const name of ['tones.mp3', 'tones.flac', 'tones-opus.ogg', 'tones-vorbis.ogg', 'tones.webm']) {
      await copyFile(join(audioFixtures, name), join(folder, 'hold-music'));
      await utimes(join(folder, 'hold-music'), 1, name.length);
      const heard = decodeMulaw(await soundOf(sounds, 'hold-music'));
      expect(Math.abs(heard.length / 8_000 - 1), name).toBeLessThan(0.02);
      expect(activeLevelDb(heard, 8_000), name).toBeGreaterThan(-23);
      expect(rmsLevelDb(heard.subarray(0, 1_200)), name).toBeLessThan(-40);
    }
  });

  it('that is compressed is refused when it is damaged, too long, or would need what is not there', async () => {
    const cut = (await readFile(join(audioFixtures, 'tones.flac'))).subarray(0, 4_000);
    await writeFile(join(folder, 'cut.flac'), cut);
    await expect(soundOf(library(), 'cut.flac')).rejects.toThrow('the sound is damaged');
    const failing = (error: Error): SoundLibrary =>
      new SoundLibrary(
        { clock: new ManualClock(0) },
        { decoder: { decode: vi.fn<MediaDecoder['decode']>().mockRejectedValue(error) } },
      );
    await expect(soundOf(failing(new MediaTooLongError('x')), 'cut.flac')).rejects.toThrow('longer than 300 s');
    await expect(soundOf(failing(new MediaNeedsFfmpegError('AAC')), 'cut.flac')).rejects.toThrow('needs ffmpeg');
    expect((await readdir(tmpdir())).filter((name) => name.startsWith('offhook-sound-'))).toEqual([]);
  });

  it('is waited for no longer than a caller waits, and is there the next time', async () => {
    const clock = new ManualClock(0);
    let finish: () => void = () => undefined;
    const decoded = new Promise<void>((resolve) => (finish = resolve));
    const decoder: SoundLibraryOptions['decoder'] = {
      async decode({ outputPath }) {
        await decoded;
        await writeFile(outputPath, new Uint8Array(32_000).fill(9));
      },
    };
    await copyFile(join(audioFixtures, 'tones.mp3'), join(folder, 'slow.mp3'));
    const sounds = new SoundLibrary({ clock }, { decoder });
    const first = soundOf(sounds, 'slow.mp3');
    const refused = expect(first).rejects.toThrow('not ready within 4500 ms');
    await untilPasses(() => expect(clock.pendingTimers).toBe(2));
    clock.advance(4_500);
    await refused;
    finish();
    expect(await soundOf(sounds, 'slow.mp3')).toHaveLength(8_000);
    expect(clock.pendingTimers).toBe(0);
  });

  it('is not waited for by an aborted reply', async () => {
    await writeFile(join(folder, 'tone.wav'), wavFile(new Int16Array(80_000).fill(900), 44_100));
    const wanted = new AbortController();
    const playing = soundOf(library(), 'tone.wav', wanted.signal);
    wanted.abort(new Error('not wanted'));
    await expect(playing).rejects.toThrow('not wanted');
  });
});

describe('an address', () => {
  it.each([
    ['http://example.org/a.wav', 'https addresses only'],
    ['file:///etc/passwd', 'https addresses only'],
    ['https://127.0.0.1/a.wav', 'not public'],
    ['https://[::1]/a.wav', 'not public'],
    ['https://169.254.169.254/latest', 'not public'],
    ['https://user:word@example.org/a.wav', 'credentials'],
    ['https://[/a.wav', 'cannot be read'],
  ])('%s is refused', async (address, why) => {
    await expect(soundOf(library(), address)).rejects.toThrow(why);
  });

  it('whose name leads inside is refused', async () => {
    const resolve = async () => [{ address: '10.0.0.1', family: 4 }];
    const sounds = new SoundLibrary({ clock: new ManualClock(0), resolve });
    await expect(soundOf(sounds, 'https://inside.example/a.wav')).rejects.toThrow(SoundError);
  });
});
