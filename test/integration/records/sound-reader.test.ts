import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, test } from 'vitest';
import { parseWav, wavHeader } from '../../../src/audio/wav.ts';
import { soundReader } from '../../../src/records/analysis/sound-reader.ts';
import { codeFile } from '../../../src/audio/recording/code-file.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { hangs } from '../../support/patience.ts';
import { shared } from '../../support/shared.ts';

const tones = fileURLToPath(new URL('../../fixtures/audio/tones.flac', import.meta.url));
const sound = soundReader('/no/such/ffmpeg');

describe('recordings where there is no ffmpeg', () => {
  const folder = shared(() => temporaryFolder());

  test.each([
    { format: 'flac', container: 'flac' },
    { format: 'opus', container: 'ogg' },
  ] as const)('keep their channels apart where a gateway wrote them: $format', async ({ format, container }) => {
    const samples = Int16Array.from({ length: 16_000 }, (_, at) => (at % 2 === 0 ? 8000 * Math.sin(at / 20) : 0));
    const [wavPath, path, back] = ['call.wav', `call.${format}`, 'back.wav'].map((name) => join(folder.path, name));
    const header = wavHeader({ rateHz: 8000, channels: 2, dataBytes: 32_000, encoding: 'pcm16' });
    await writeFile(wavPath!, Buffer.concat([header, Buffer.from(samples.buffer)]));
    await codeFile({ type: 'compress', format, inputPath: wavPath!, outputPath: path! });
    expect(sound.containerOf(await readFile(path!))).toBe(container);
    expect(await sound.decode(path!, container, back!, hangs())).toBe(true);
    const { rateHz, samples: channels } = parseWav(await readFile(back!));
    const loudest = channels.map((channel) => Math.max(...channel));
    expect([rateHz, channels.length, channels[0]!.length]).toEqual([8000, 2, 8000]);
    expect(loudest[0]!).toBeGreaterThan(7000);
    expect(loudest[1]!).toBeLessThan(10);
  });

  it('become one channel where somebody else did', async () => {
    const back = join(folder.path, 'mono.wav');
    expect(await sound.decode(tones, 'flac', back, hangs())).toBe(true);
    expect(parseWav(await readFile(back))).toMatchObject({ rateHz: 16_000, channels: 1 });
  });
});
