import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { CompressedAudioError } from '../../../../src/audio/errors.ts';
import { joinSamples } from '../../../../src/audio/samples.ts';
import { bytesInMemory } from '../../../../src/audio/byte-source.ts';
import { oggOpusBlocks, readOpusRecording } from '../../../../src/audio/opus/ogg-opus.ts';
import { OpusEncoder, opusFrame, packTogether, takeApart } from '../../../../src/audio/opus/opus-encoder.ts';

function encoded(interleaved: Int16Array, channels: number): Buffer {
  using encoder = new OpusEncoder({
    rateHz: 8000,
    channels,
    serial: 7,
    kbpsPerChannel: 16,
    application: 'audio',
    complexity: 2,
  });
  const pages: Uint8Array[] = [encoder.head()];
  const size = opusFrame(8000) * channels;
  for (let at = 0; at < interleaved.length; at += size) pages.push(encoder.frame(interleaved.subarray(at, at + size)));
  return Buffer.concat([...pages, encoder.end()]);
}

function decoded(file: Uint8Array): { samples: Int16Array; rateHz: number; channels: number } {
  const { rateHz, channels, pieces } = readOpusRecording(bytesInMemory(file));
  return { samples: joinSamples([...pieces]), rateHz, channels };
}

const tone = (length: number, hertz: number, level: number): Int16Array =>
  Int16Array.from({ length }, (_, at) => Math.round(level * Math.sin((2 * Math.PI * hertz * at) / 8000)));
const together = (left: Int16Array, right: Int16Array): Int16Array =>
  Int16Array.from({ length: left.length * 2 }, (_, at) => (at % 2 === 0 ? left : right)[at >> 1]!);
const side = (interleaved: Int16Array, which: 0 | 1): Int16Array => interleaved.filter((_, at) => at % 2 === which);
const power = (samples: Int16Array): number => samples.reduce((sum, value) => sum + value * value, 0) / samples.length;

/** How far the error stays below the sound, in dB. */
function fidelity(sound: Int16Array, copy: Int16Array): number {
  return 10 * Math.log10(power(sound) / power(sound.map((value, at) => value - copy[at]!)));
}

describe('OpusEncoder', () => {
  it('keeps two speakers on their own channels, in time and to the last sample', () => {
    const [left, right] = [tone(12_345, 310, 9000), tone(12_345, 700, 400)];
    const file = encoded(together(left, right), 2);
    const { samples, rateHz, channels } = decoded(file);
    expect({ rateHz, channels, length: samples.length }).toEqual({ rateHz: 8000, channels: 2, length: 12_345 * 2 });
    expect(fidelity(left, side(samples, 0))).toBeGreaterThan(15);
    expect(fidelity(right, side(samples, 1))).toBeGreaterThan(15);
  });

  it('puts nothing of one side on the other', () => {
    const { samples } = decoded(encoded(together(tone(16_000, 400, 12_000), new Int16Array(16_000)), 2));
    expect(power(side(samples, 1))).toBeLessThan(1);
  });

  test.each([1, 159, 160, 161, 8000, 8001])('says how many samples there are where they are %i', (length) => {
    expect(decoded(encoded(tone(length, 300, 5000), 1)).samples).toHaveLength(length);
  });

  it('is understood by the reader of other files too, mixed into one', () => {
    const left = tone(8000, 400, 9000);
    const blocks = [...oggOpusBlocks(bytesInMemory(encoded(together(left, new Int16Array(8000)), 2)), 16_000)];
    const mixed = joinSamples(blocks.map(({ pcm }) => pcm));
    expect(mixed).toHaveLength(16_000);
    expect(power(mixed)).toBeGreaterThan(power(left) / 5);
  });

  test.each([
    { note: 'no Opus', spoil: (file: Buffer) => file.write('Vorbis!!', file.indexOf('OpusHead')) },
    { note: 'a pair of channels in one stream', spoil: (file: Buffer) => (file[file.indexOf('OpusHead') + 20] = 1) },
  ])('is refused where it is $note', ({ spoil }) => {
    const file = encoded(together(tone(800, 300, 100), tone(800, 300, 100)), 2);
    spoil(file);
    expect(() => decoded(file)).toThrow(CompressedAudioError);
  });
});

describe('packets of several streams', () => {
  it('are split as they were packed, for any lengths', () => {
    const packet = fc.uint8Array({ minLength: 1, maxLength: 1275 }).map((bytes) => {
      bytes[0]! &= 0xfc;
      return bytes;
    });
    fc.assert(
      fc.property(fc.array(packet, { minLength: 1, maxLength: 3 }), (packets) => {
        expect(takeApart(packTogether(packets), packets.length).map((each) => Buffer.from(each))).toEqual(
          packets.map((each) => Buffer.from(each)),
        );
      }),
    );
  });

  it('are refused when they are cut off, and never read beyond their end', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        try {
          expect(takeApart(bytes, 2).reduce((sum, { length }) => sum + length, 0)).toBeLessThanOrEqual(bytes.length);
        } catch (error) {
          expect(error).toBeInstanceOf(CompressedAudioError);
        }
      }),
    );
  });
});
