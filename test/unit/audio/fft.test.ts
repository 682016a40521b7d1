import { describe, expect, it } from 'vitest';
import { Fft } from '../../../src/audio/fft.ts';
import { seededRandom } from '../../../src/audio/tone.ts';

describe('a Fourier transform', () => {
  it.each([2, 8, 256])('of %i samples is the sum it stands for', (size) => {
    const random = seededRandom(size);
    const re = Float64Array.from({ length: size }, () => random() - 0.5);
    const im = Float64Array.from({ length: size }, () => random() - 0.5);
    const [wantedRe, wantedIm] = [new Float64Array(size), new Float64Array(size)];
    for (let bin = 0; bin < size; bin += 1) {
      for (let index = 0; index < size; index += 1) {
        const angle = (2 * Math.PI * bin * index) / size;
        wantedRe[bin]! += re[index]! * Math.cos(angle) + im[index]! * Math.sin(angle);
        wantedIm[bin]! += im[index]! * Math.cos(angle) - re[index]! * Math.sin(angle);
      }
    }
    new Fft(size).forward(re, im);
    for (let bin = 0; bin < size; bin += 1) {
      expect(re[bin]).toBeCloseTo(wantedRe[bin]!, 9);
      expect(im[bin]).toBeCloseTo(wantedIm[bin]!, 9);
    }
  });

  it.each([2, 8, 64, 256])('of %i samples leads to bins and back', (size) => {
    const random = seededRandom(size);
    const [re, im] = [0, 1].map(() => Float64Array.from({ length: size }, () => random() - 0.5)) as [Float64Array, Float64Array];
    const [backRe, backIm] = [re.slice(), im.slice()];
    const fft = new Fft(size);
    fft.toBins(backRe, backIm);
    fft.fromBins(backRe, backIm);
    for (let index = 0; index < size; index += 1) {
      expect(backRe[index]! / size).toBeCloseTo(re[index]!, 12);
      expect(backIm[index]! / size).toBeCloseTo(im[index]!, 12);
    }
  });

  it.each(
    [8, 64, 256].flatMap((size) => [1, size / 2, (5 * size) / 8, (3 * size) / 4, size - 1].map((given) => ({ size, given }))),
  )('of $size samples takes what is behind the first $given for zeros', ({ size, given }) => {
    const random = seededRandom(given);
    const [re, im] = [0, 1].map(() => Float64Array.from({ length: size }, () => random() - 0.5)) as [Float64Array, Float64Array];
    const [wantedRe, wantedIm] = [re.slice().fill(0, given), im.slice().fill(0, given)];
    const fft = new Fft(size);
    fft.toBins(re, im, given);
    fft.forward(wantedRe, wantedIm);
    for (let bin = 0; bin < size; bin += 1) {
      expect(re[fft.places[bin]!]).toBeCloseTo(wantedRe[bin]!, 12);
      expect(im[fft.places[bin]!]).toBeCloseTo(wantedIm[bin]!, 12);
    }
  });

  it.each([0, 1, 3, 100])('cannot have %i samples', (size) => {
    expect(() => new Fft(size)).toThrow(RangeError);
  });
});
