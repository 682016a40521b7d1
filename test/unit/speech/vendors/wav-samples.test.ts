import fc from 'fast-check';
import { expect, it } from 'vitest';
import { wavFile, wavHeader } from '../../../../src/audio/wav.ts';
import { WavSamples } from '../../../../src/speech/vendors/wav-samples.ts';

const pcm = Int16Array.from({ length: 400 }, (_, at) => (at * 37) % 5_000);
const data = Buffer.from(pcm.buffer);
const list = Buffer.from('LIST\x04\x00\x00\x00INFO', 'latin1');

function read(file: Uint8Array, sizes: readonly number[]): { readonly bytes: Buffer; readonly wav: WavSamples } {
  const wav = new WavSamples();
  const parts: Uint8Array[] = [];
  for (let at = 0, index = 0; at < file.length; index += 1) {
    const size = sizes[index % sizes.length] ?? 1;
    parts.push(wav.push(file.subarray(at, at + size)));
    at += size;
  }
  parts.push(wav.end());
  return { bytes: Buffer.concat(parts), wav };
}

it.each([
  ['a file of its length', Buffer.from(wavFile(pcm, 8_000))],
  ['a file with notes behind its samples', Buffer.concat([wavFile(pcm, 8_000), list])],
  ['a file that states no length', withLength(0)],
  ['a file that states the largest length', withLength(0xffff_ffff)],
  ['a file that states too short a length', withLength(100)],
])('gives the samples of %s, however it is cut', (_file, file) => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 900 }), { minLength: 1, maxLength: 6 }), (sizes) => {
      const { bytes, wav } = read(file, sizes);
      expect(bytes.equals(data)).toBe(true);
      expect(wav.format).toEqual({ encoding: 'pcm16', rateHz: 8_000 });
    }),
  );
});

function withLength(dataBytes: number): Buffer {
  const header = wavHeader({ rateHz: 8_000, channels: 1, dataBytes: 0, encoding: 'pcm16' });
  new DataView(header.buffer).setUint32(40, dataBytes, true);
  return Buffer.concat([header, data]);
}

it('refuses two channels, and a header that never ends', () => {
  expect(() => read(wavFile(pcm, 8_000, 2), [9_000])).toThrow('2 channels');
  expect(() => read(wavFile(pcm, 8_000).subarray(0, 30), [7])).toThrow('header of the WAV file cannot be read');
});
