import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { encodeAudio } from '../../../src/audio/codec.ts';
import { decodeMulaw, encodeMulaw } from '../../../src/audio/g711.ts';
import { parseWav, readWavLayout, WavError, wavFile, wavHeader } from '../../../src/audio/wav.ts';

function chunk(name: string, body: Uint8Array, declared = body.length): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt32LE(declared);
  return Buffer.concat([Buffer.from(name, 'latin1'), size, body, Buffer.alloc(body.length % 2)]);
}

function format(
  tag: number,
  bits: number,
  { channels = 1, rateHz = 8000, more = new Uint8Array() }: { channels?: number; rateHz?: number; more?: Uint8Array } = {},
): Buffer {
  const body = Buffer.alloc(16);
  body.writeUInt16LE(tag, 0);
  body.writeUInt16LE(channels, 2);
  body.writeUInt32LE(rateHz, 4);
  body.writeUInt32LE((rateHz * channels * bits) / 8, 8);
  body.writeUInt16LE((channels * bits) / 8, 12);
  body.writeUInt16LE(bits, 14);
  return chunk('fmt ', Buffer.concat([body, more]));
}

function riff(...chunks: Buffer[]): Buffer {
  return chunk('RIFF', Buffer.concat([Buffer.from('WAVE', 'latin1'), ...chunks]));
}

/** WAVE_FORMAT_EXTENSIBLE: 22 bytes more, with the real tag at the head of the sub-format. */
function extension(tag: number, validBits: number): Buffer {
  const more = Buffer.alloc(24);
  more.writeUInt16LE(22, 0);
  more.writeUInt16LE(validBits, 2);
  more.writeUInt16LE(tag, 8);
  return more;
}

const samples = Int16Array.of(0, 256, -256, 32_512, -32_768);
const wide = (bytes: number): Buffer => {
  const out = Buffer.alloc(samples.length * bytes);
  for (const [at, sample] of samples.entries()) out.writeInt16LE(sample, at * bytes + bytes - 2);
  return out;
};
const float = Buffer.from(Float32Array.from(samples, (sample) => sample / 32_767).buffer);
const eight = Buffer.from(samples.map((sample) => (sample >> 8) + 128));

describe('parseWav', () => {
  test.each([
    { note: '8-bit', fmt: format(1, 8), data: eight, name: 'pcm8' },
    { note: '16-bit', fmt: format(1, 16), data: wide(2), name: 'pcm16' },
    { note: '24-bit', fmt: format(1, 24), data: wide(3), name: 'pcm24' },
    { note: '32-bit', fmt: format(1, 32), data: wide(4), name: 'pcm32' },
    { note: 'float', fmt: format(3, 32), data: float, name: 'float32' },
    { note: 'extensible 24-bit', fmt: format(0xfffe, 24, { more: extension(1, 24) }), data: wide(3), name: 'pcm24' },
    { note: 'extensible float', fmt: format(0xfffe, 32, { more: extension(3, 32) }), data: float, name: 'float32' },
  ])('reads $note samples', ({ fmt, data, name }) => {
    const wav = parseWav(riff(fmt, chunk('data', data)));
    expect(wav).toMatchObject({ format: name, rateHz: 8000, channels: 1 });
    expect([...wav.samples[0]!]).toEqual([...samples]);
  });

  test.each([
    { note: 'mu-law', tag: 7, encoding: 'mulaw' },
    { note: 'A-law', tag: 6, encoding: 'alaw' },
  ] as const)('reads $note', ({ tag, encoding }) => {
    const pcm = Int16Array.of(0, 8, -8, 1000, -1000);
    const wav = parseWav(riff(format(tag, 8), chunk('data', encodeAudio(encoding, pcm))));
    expect(wav.format).toBe(encoding);
    for (const [at, sample] of wav.samples[0]!.entries()) expect(Math.abs(sample - pcm[at]!)).toBeLessThanOrEqual(32);
  });

  it('limits float samples beyond full scale and reads NaN as silence', () => {
    const data = Buffer.from(Float32Array.of(2, -2, Number.NaN).buffer);
    expect([...parseWav(riff(format(3, 32), chunk('data', data))).samples[0]!]).toEqual([32_767, -32_768, 0]);
  });

  it('separates channels and leaves out a frame that is cut off', () => {
    const stereo = Buffer.from(Int16Array.of(1, -1, 2, -2, 3).buffer);
    const wav = parseWav(riff(format(1, 16, { channels: 2 }), chunk('data', stereo)));
    expect(wav.samples.map((channel) => [...channel])).toEqual([
      [1, 2],
      [-1, -2],
    ]);
  });

  it('passes over chunks it does not know, and the padding of odd ones', () => {
    const odd = chunk('LIST', Buffer.from('odd'));
    const wav = parseWav(riff(odd, format(1, 16), odd, chunk('data', wide(2)), odd));
    expect([...wav.samples[0]!]).toEqual([...samples]);
  });

  test.each([0, 0xffff_ffff])('reads a file that was never finished (size %d) to its end', (declared) => {
    const file = Buffer.concat([Buffer.from(wavHeader({ rateHz: 8000, channels: 1, dataBytes: 0, encoding: 'pcm16' })), wide(2)]);
    file.writeUInt32LE(declared, 40);
    expect([...parseWav(file).samples[0]!]).toEqual([...samples]);
  });

  it('does not take what follows an empty recording for sound', () => {
    const wav = parseWav(riff(format(1, 16), chunk('data', Buffer.alloc(0)), chunk('LIST', Buffer.alloc(40, 7))));
    expect(wav.samples[0]).toHaveLength(0);
  });

  it('takes what there is where the size promises more', () => {
    const wav = parseWav(riff(format(1, 16), chunk('data', wide(2), 1_000_000)));
    expect([...wav.samples[0]!].slice(0, 5)).toEqual([...samples]);
  });

  test.each([
    { note: 'nothing', bytes: Buffer.alloc(0) },
    { note: 'text', bytes: Buffer.from('hello, this is no sound at all, is it?') },
    { note: 'no format', bytes: riff(chunk('data', wide(2))) },
    { note: 'no samples', bytes: riff(format(1, 16)) },
    { note: 'a compressed format', bytes: riff(format(0x55, 16), chunk('data', wide(2))) },
    { note: '12-bit samples', bytes: riff(format(1, 12), chunk('data', wide(2))) },
    { note: '64-bit float', bytes: riff(format(3, 64), chunk('data', wide(2))) },
    { note: 'no channel', bytes: riff(format(1, 16, { channels: 0 }), chunk('data', wide(2))) },
    { note: 'a thousand channels', bytes: riff(format(1, 16, { channels: 1000 }), chunk('data', wide(2))) },
    { note: 'no rate', bytes: riff(format(1, 16, { rateHz: 0 }), chunk('data', wide(2))) },
    { note: 'big-endian', bytes: Buffer.concat([Buffer.from('RIFX'), riff(format(1, 16)).subarray(4)]) },
  ])('refuses $note with a typed error', ({ bytes }) => {
    expect(() => parseWav(bytes)).toThrow(WavError);
    expect(() => parseWav(bytes)).toThrow(expect.objectContaining({ code: 'OFFHOOK_WAV_INVALID', retryable: false }));
  });

  it('gives samples or a typed error, wherever a file is cut off', () => {
    const whole = riff(
      chunk('LIST', Buffer.from('x')),
      format(0xfffe, 24, { channels: 2, more: extension(1, 24) }),
      chunk('fact', Buffer.alloc(4)),
      chunk('data', Buffer.alloc(60, 3)),
    );
    const full = parseWav(whole).samples[0]!.length;
    for (let length = 0; length <= whole.length; length += 1) {
      try {
        const { samples: channels } = parseWav(whole.subarray(0, length));
        expect(channels).toHaveLength(2);
        expect(channels[0]!.length).toBeLessThanOrEqual(full);
      } catch (error) {
        expect(error).toBeInstanceOf(WavError);
      }
    }
  });

  it('gives samples or a typed error for any bytes at all behind a good start', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 120 }), fc.nat(60), (noise, keep) => {
        const file = Buffer.concat([riff(format(1, 16), chunk('data', wide(2))).subarray(0, keep), noise]);
        try {
          parseWav(file);
        } catch (error) {
          expect(error).toBeInstanceOf(WavError);
        }
      }),
    );
  });
});

describe('writing', () => {
  it('writes a file that reads back the same', () => {
    fc.assert(
      fc.property(fc.int16Array(), fc.constantFrom(8000, 16_000, 24_000), (pcm, rateHz) => {
        const wav = parseWav(wavFile(pcm, rateHz));
        expect(wav).toMatchObject({ format: 'pcm16', rateHz, channels: 1 });
        expect(wav.samples[0]).toEqual(pcm);
      }),
    );
  });

  it('describes mu-law as mu-law', () => {
    const bytes = encodeMulaw(samples);
    const file = Buffer.concat([wavHeader({ rateHz: 8000, channels: 1, dataBytes: bytes.length, encoding: 'mulaw' }), bytes]);
    const wav = parseWav(file);
    expect(wav.format).toBe('mulaw');
    expect(wav.samples[0]).toEqual(decodeMulaw(bytes));
  });

  it('finds the layout from the start of a long file alone', () => {
    const header = wavHeader({ rateHz: 16_000, channels: 2, dataBytes: 1_000_000, encoding: 'pcm16' });
    expect(readWavLayout(header, 1_000_044)).toEqual({
      format: 'pcm16',
      rateHz: 16_000,
      channels: 2,
      dataOffset: 44,
      dataBytes: 1_000_000,
    });
  });
});
