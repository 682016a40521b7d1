import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { activeLevelDb, rmsLevelDb } from '../../../../../src/audio/level.ts';
import { noise, seededRandom, sine } from '../../../../../src/audio/tone.ts';
import { wavFile } from '../../../../../src/audio/wav.ts';
import { ClipError, decodeClip } from '../../../../../src/platform/server/tts/speech-attachments.ts';
import { encodeFlac, encodeMp3, encodeOggOpus } from '../../../../../src/platform/server/tts/encode-speech.ts';
import { bytesInMemory } from '../../../../../src/audio/byte-source.ts';
import { MediaUnreadableError } from '../../../../../src/audio/errors.ts';
import { oggPackets, OggWriter } from '../../../../../src/audio/ogg/ogg.ts';

const rateHz = 24_000;

describe('FLAC', () => {
  it.each([
    ['speech-like tones', sine(440, 700, rateHz)],
    ['full-scale noise', noise(400, rateHz, 1, seededRandom(1))],
    ['the loudest square wave', Int16Array.from({ length: 9000 }, (_, at) => (at % 7 < 3 ? 32_767 : -32_768))],
    ['silence', new Int16Array(5000)],
    ['one whole block', sine(100, (1000 * 4096) / rateHz, rateHz)],
    ['one sample', Int16Array.of(-32_768)],
  ])('gives %s back sample by sample', async (_, pcm) => {
    const clip = await decodeClip(await encodeFlac(pcm, rateHz), ['flac']);
    expect(clip.rateHz).toBe(rateHz);
    expect(clip.pcm.length).toBe(pcm.length);
    // The decoder gives fractions of full scale in 32 bits.
    expect(clip.pcm.every((sample, at) => Math.abs(sample - pcm[at]!) <= 1)).toBe(true);
  });

  it('is smaller than the samples', async () => {
    expect((await encodeFlac(sine(440, 1000, rateHz), rateHz)).length).toBeLessThan(0.6 * 48_000);
  });
});

describe('Opus in Ogg', () => {
  it.each([1, 479, 480, 24_000, 61_234])('keeps the length of %d samples', async (length) => {
    const pcm = sine(440, (1000 * length) / rateHz, rateHz);
    const clip = await decodeClip(await encodeOggOpus(pcm), ['ogg']);
    expect(clip.pcm.length).toBe(pcm.length);
    if (length > 1000) expect(Math.abs(rmsLevelDb(clip.pcm) - rmsLevelDb(pcm))).toBeLessThan(1);
  });

  it('keeps two encodings at once apart', async () => {
    const [low, high] = [sine(200, 500, rateHz), sine(2000, 500, rateHz)];
    const alone = [await encodeOggOpus(low), await encodeOggOpus(high)];
    expect(await Promise.all([encodeOggOpus(low), encodeOggOpus(high)])).toEqual(alone);
  });
});

describe('Ogg pages', () => {
  const read = (file: Uint8Array): number[][] => Array.from(oggPackets(bytesInMemory(file)), ({ data }) => [...data]);

  it('give packets back, whatever their sizes', () => {
    const packet = fc.uint8Array({ maxLength: 600 });
    fc.assert(
      fc.property(fc.array(fc.array(packet, { minLength: 1, maxLength: 20 }), { minLength: 1, maxLength: 5 }), (pages) => {
        const ogg = new OggWriter(7);
        const file = Buffer.concat(
          pages.map((packets, index) =>
            ogg.page(
              packets.map((data) => ({ data, granule: index })),
              index === pages.length - 1,
            ),
          ),
        );
        expect(read(file)).toEqual(pages.flat().map((data) => [...data]));
      }),
    );
  });

  it('are refused where the file is cut off', () => {
    const ogg = new OggWriter(7);
    const [first, second] = [0, 1].map((granule) => ogg.page([{ data: Buffer.alloc(300, granule), granule }], granule === 1));
    for (let end = first!.length; end < first!.length + second!.length; end += 1) {
      const torn = Buffer.concat([first!, second!]).subarray(0, end);
      if (end === first!.length) expect(read(torn)).toHaveLength(1);
      else expect(() => read(torn)).toThrow(MediaUnreadableError);
    }
  });

  it('refuse other bytes', () =>
    expect(() => read(Buffer.from('RIFF and more that is no Ogg at all'))).toThrow(MediaUnreadableError));
});

describe('a clip', () => {
  const tone = sine(300, 300, rateHz);
  it('is read from WAV of two channels as their mean', async () => {
    const stereo = Int16Array.from({ length: 2 * tone.length }, (_, at) => (at % 2 === 0 ? tone[at >> 1]! : 0));
    const { pcm } = await decodeClip(wavFile(stereo, rateHz, 2), ['wav']);
    expect(rmsLevelDb(pcm)).toBeCloseTo(rmsLevelDb(tone) - 6, 0);
  });

  it('is read from MP3', async () => {
    const { pcm, rateHz: rate } = await decodeClip(await encodeMp3(tone, rateHz), ['mp3']);
    expect(rate).toBe(rateHz);
    expect(Math.abs(activeLevelDb(pcm, rate) - rmsLevelDb(tone))).toBeLessThan(1);
  });

  it.each([
    ['text', Buffer.from('just some text, no audio')],
    ['a RIFF file cut off', Buffer.from('RIFF\0\0\0\0WAVEfmt ')],
    ['a FLAC file cut off', Buffer.from('fLaC')],
    ['an Ogg file cut off', Buffer.from('OggS')],
    ['an MP3 header alone', Buffer.from([0xff, 0xf3, 0x64, 0xc4])],
    ['no samples', wavFile(new Int16Array(0), rateHz)],
    ['a rate of 1 Hz', wavFile(new Int16Array(9), 1)],
    ['more than two minutes', wavFile(new Int16Array(121 * 8000), 8000)],
  ])('of %s is refused', (_, bytes) => expect(decodeClip(bytes, ['wav', 'flac', 'ogg', 'mp3'])).rejects.toThrow(ClipError));

  it('that unfolds from a few bytes to hours is refused', async () => {
    // One block of silence, again and again: 70 KB that hold three hours.
    const block = (await encodeFlac(new Int16Array(4096), 8000)).subarray(42);
    const start = (await encodeFlac(new Int16Array(4096), 8000)).subarray(0, 42);
    const file = Buffer.concat([start, ...Array.from({ length: 2000 }, () => block)]);
    await expect(decodeClip(file, ['flac'])).rejects.toThrow(/longer/);
  });

  it('in a format that the field does not take is refused, naming those it takes', () =>
    expect(decodeClip(wavFile(tone, rateHz), ['flac', 'ogg'])).rejects.toThrow('must be FLAC, OGG audio'));
});
