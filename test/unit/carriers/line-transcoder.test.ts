import { describe, expect, it, test } from 'vitest';
import { decodeAudio } from '../../../src/audio/codec.ts';
import type { AudioFormat } from '../../../src/audio/format.ts';
import { rmsLevelDb } from '../../../src/audio/level.ts';
import { sine } from '../../../src/audio/tone.ts';
import { LineTranscoder } from '../../../src/carriers/line-transcoder.ts';

const MULAW: AudioFormat = { encoding: 'mulaw', rateHz: 8000 };
const ALAW: AudioFormat = { encoding: 'alaw', rateHz: 8000 };
const WIDE: AudioFormat = { encoding: 'pcm16', rateHz: 16_000 };
const every = Uint8Array.from({ length: 256 }, (_, code) => code);

describe('a G.711 leg', () => {
  it.each([
    // Mu-law has two codes for nothing, 0xff and 0x7f; both are the sample 0, which has the first.
    { law: MULAW, twins: [[0x7f, 0xff]] },
    { law: ALAW, twins: [] },
  ])('gives all 256 codes of $law.encoding back as they came', ({ law, twins }) => {
    const line = new LineTranscoder(law, law, 8000);
    const expected = every.map((code) => twins.find(([one]) => one === code)?.[1] ?? code);
    expect(Uint8Array.from(line.encode(line.decode(every).slice()))).toEqual(expected);
    expect(decodeAudio(law.encoding, expected)).toEqual(decodeAudio(law.encoding, every));
    expect(line.speechFormat).toEqual(law);
  });

  it('may have one law each way', () => {
    const line = new LineTranscoder(ALAW, MULAW, 8000);
    const heard = line.decode(every).slice();
    expect(heard).toEqual(decodeAudio('alaw', every));
    expect(decodeAudio('mulaw', line.encode(heard))).not.toEqual(heard);
    expect(line.speechFormat).toEqual(MULAW);
  });
});

/** A second of a tone, through one direction of a wideband leg in frames of 20 ms. */
function through(direction: 'decode' | 'encode', hz: number): { given: Int16Array; got: Int16Array } {
  const line = new LineTranscoder(WIDE, WIDE, 8000);
  const given = sine(hz, 1_000, direction === 'decode' ? 16_000 : 8000, 0.5);
  const got: number[] = [];
  for (let frame = 0; frame < 50; frame += 1) {
    if (direction === 'encode') {
      const payload = line.encode(given.subarray(frame * 160, frame * 160 + 160));
      expect(payload).toHaveLength(640);
      got.push(...decodeAudio('pcm16', payload));
    } else {
      const wire = Buffer.from(given.buffer, frame * 640, 640);
      const pcm = line.decode(wire);
      expect(pcm).toHaveLength(160);
      got.push(...pcm);
    }
  }
  return { given, got: Int16Array.from(got) };
}

describe('a wideband leg', () => {
  test.each(['decode', 'encode'] as const)(
    '%s gives whole frames for whole frames, at the same level, 2 ms late',
    (direction) => {
      const { given, got } = through(direction, 1_000);
      expect(rmsLevelDb(got.subarray(400))).toBeCloseTo(rmsLevelDb(given.subarray(400)), 1);
      const rateHz = direction === 'decode' ? 8000 : 16_000;
      const late = sine(1_000, 1_000, rateHz, 0.5);
      const shift = rateHz / 500;
      const difference = got.subarray(400).map((sample, at) => sample - (late[at + 400 - shift] ?? 0));
      expect(rmsLevelDb(difference)).toBeLessThan(-75);
    },
  );

  test.each([4_400, 5_000, 6_500, 7_900])('lets no more than -60 dB of a tone of %d Hz into the call', (hz) => {
    const { given, got } = through('decode', hz);
    expect(rmsLevelDb(got.subarray(400)) - rmsLevelDb(given)).toBeLessThan(-60);
  });

  it('has speech made as linear samples at the rate of the call', () => {
    expect(new LineTranscoder(WIDE, WIDE, 8000).speechFormat).toEqual({ encoding: 'pcm16', rateHz: 8000 });
  });

  it('does not play the end of what was cut before what comes next', () => {
    const line = new LineTranscoder(WIDE, WIDE, 8000);
    line.encode(new Int16Array(160).fill(20_000));
    line.cut();
    expect(decodeAudio('pcm16', line.encode(new Int16Array(160))).every((sample) => sample === 0)).toBe(true);
  });
});
