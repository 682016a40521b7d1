import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { decodeAudio, encodeAudio } from '../../../../src/audio/codec.ts';
import { decodeMulaw, encodeMulaw } from '../../../../src/audio/g711.ts';
import { type Encoding, MULAW_8K } from '../../../../src/audio/format.ts';
import { RecodeStream } from '../../../../src/speech/tts/synthesis-protocol.ts';

/** To 8 kHz mu-law, as calls need it. */
function toMulaw(encoding: Encoding, rateHz: number): RecodeStream {
  return new RecodeStream({ encoding, rateHz }, MULAW_8K);
}

function tone(hz: number, rateHz: number, ms: number, amplitude = 8_000): Int16Array {
  const samples = Math.round((ms * rateHz) / 1000);
  return Int16Array.from({ length: samples }, (_, index) => amplitude * Math.sin((2 * Math.PI * hz * index) / rateHz));
}

/** @param cuts sizes of the pieces, round and round */
function through(stream: RecodeStream, bytes: Uint8Array, cuts: readonly number[]): Uint8Array {
  const parts: Uint8Array[] = [];
  for (let from = 0, piece = 0; from < bytes.length; piece += 1) {
    const to = from + cuts[piece % cuts.length]!;
    parts.push(Uint8Array.from(stream.push(bytes.slice(from, to))));
    from = to;
  }
  return Buffer.concat([...parts, stream.flush()]);
}

function rms(samples: Int16Array): number {
  return Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);
}

/** Times the sign turns from below to above: the pitch, where there is one tone. */
function cycles(samples: Int16Array): number {
  return samples.reduce((count, sample, index) => (sample >= 0 && (samples[index - 1] ?? 0) < 0 ? count + 1 : count), 0);
}

const cutting = fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 6 });

describe('recode stream', () => {
  it('leaves mu-law at 8 kHz as it is', () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, code) => code);
    expect(through(toMulaw('mulaw', 8_000), bytes, [7])).toEqual(Buffer.from(bytes));
  });

  test.each([
    { encoding: 'pcm16', rateHz: 24_000 },
    { encoding: 'pcm16', rateHz: 16_000 },
    { encoding: 'pcm16', rateHz: 48_000 },
    { encoding: 'pcm16', rateHz: 8_000 },
    { encoding: 'alaw', rateHz: 8_000 },
    { encoding: 'mulaw', rateHz: 16_000 },
  ] as const)('keeps length, level and pitch of $encoding at $rateHz Hz', ({ encoding, rateHz }) => {
    const bytes = encodeAudio(encoding, tone(440, rateHz, 1_000));
    const heard = decodeMulaw(through(toMulaw(encoding, rateHz), bytes, [960]));
    expect(Math.abs(heard.length - 8_000)).toBeLessThanOrEqual(40);
    const middle = heard.subarray(800, 7_200);
    expect(20 * Math.log10(rms(middle) / (8_000 / Math.SQRT2))).toBeCloseTo(0, 0);
    expect(Math.abs(cycles(middle) - 352)).toBeLessThanOrEqual(1);
  });

  it('gives the same sound however it is cut, in the middle of a sample too', () => {
    const bytes = encodeAudio('pcm16', tone(300, 24_000, 60));
    const whole = through(toMulaw('pcm16', 24_000), bytes, [bytes.length]);
    fc.assert(
      fc.property(cutting, (cuts) => {
        expect(through(toMulaw('pcm16', 24_000), bytes, cuts)).toEqual(whole);
      }),
      { numRuns: 40 },
    );
  });

  it('joins the halves of a sample at 8 kHz', () => {
    const pcm = tone(300, 8_000, 50);
    fc.assert(
      fc.property(cutting, (cuts) => {
        const mulaw = through(toMulaw('pcm16', 8_000), encodeAudio('pcm16', pcm), cuts);
        expect(mulaw).toEqual(Buffer.from(encodeMulaw(pcm)));
      }),
    );
  });

  it('recodes A-law by its value, not as noise', () => {
    const alaw = Uint8Array.from({ length: 256 }, (_, code) => code);
    expect(through(toMulaw('alaw', 8_000), alaw, [13])).toEqual(Buffer.from(encodeMulaw(decodeAudio('alaw', alaw))));
  });

  it('brings 24 kHz PCM to 16 kHz PCM, an odd byte at a time', () => {
    const bytes = encodeAudio('pcm16', tone(440, 24_000, 200));
    const stream = new RecodeStream({ encoding: 'pcm16', rateHz: 24_000 }, { encoding: 'pcm16', rateHz: 16_000 });
    const heard = decodeAudio('pcm16', through(stream, bytes, [333]));
    expect(heard).toHaveLength(3_200);
    expect(Math.abs(cycles(heard) - 88)).toBeLessThanOrEqual(1);
  });
});
