import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { decodeAudio, encodeAudio } from '../../../src/audio/codec.ts';
import type { WireEncoding, WireFormat } from '../../../src/audio/format.ts';
import { rmsLevelDb } from '../../../src/audio/level.ts';
import { joinSamples } from '../../../src/audio/samples.ts';
import { noise, seededRandom, sine } from '../../../src/audio/tone.ts';
import { LineTranscoder } from '../../../src/carriers/line-transcoder.ts';

const MULAW: WireFormat = { encoding: 'mulaw', rateHz: 8000 };
const ALAW: WireFormat = { encoding: 'alaw', rateHz: 8000 };
const WIDE: WireFormat = { encoding: 'pcm16', rateHz: 16_000 };
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

describe('a leg of any wire', () => {
  const rates = [8000, 16_000, 24_000, 48_000];
  const encodings: readonly WireEncoding[] = ['mulaw', 'alaw', 'pcm16', 'pcm16be'];

  it('gives the same samples and bytes, however the stream is cut into messages', () => {
    fc.assert(
      fc.property(
        fc.record({ encoding: fc.constantFrom(...encodings), rateHz: fc.constantFrom(...rates) }),
        fc.constantFrom(8000, 16_000),
        fc.array(fc.integer({ min: 0, max: 900 }), { maxLength: 12 }),
        (wire, rateHz, sizes) => {
          const pcm = noise(100, wire.rateHz, 0.6, seededRandom(3));
          const payload = encodeAudio(wire.encoding, pcm);
          const bytes = payload.length / pcm.length;
          const [whole, cut] = [new LineTranscoder(wire, wire, rateHz), new LineTranscoder(wire, wire, rateHz)];
          const heard = whole.decode(payload).slice();
          const parts = cutAt(
            payload,
            sizes.map((size) => size * bytes),
          ).map((part) => cut.decode(part).slice());
          expect(joinSamples(parts)).toEqual(heard);
          const sent = Uint8Array.from(whole.encode(heard));
          const messages = cutAt(heard, sizes).map((part) => Uint8Array.from(cut.encode(part)));
          expect(Uint8Array.from(Buffer.concat(messages))).toEqual(sent);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('has speech made in our byte order where the wire has the other, at the rate of the call', () => {
    const wire: WireFormat = { encoding: 'pcm16be', rateHz: 16_000 };
    expect(new LineTranscoder(wire, wire, 16_000).speechFormat).toEqual({ encoding: 'pcm16', rateHz: 16_000 });
  });

  test.each([
    { inbound: WIDE, outbound: MULAW, speech: MULAW, note: 'sends telephone audio byte for byte although it hears wideband' },
    {
      inbound: MULAW,
      outbound: WIDE,
      speech: { encoding: 'pcm16', rateHz: 8000 },
      note: 'sends telephone band where it hears it',
    },
    { inbound: { encoding: 'pcm16', rateHz: 24_000 }, outbound: WIDE, speech: WIDE, note: 'sends what the wire has' },
    {
      inbound: WIDE,
      outbound: { encoding: 'pcm16', rateHz: 24_000 },
      speech: WIDE,
      note: 'sends the rate of the call, which is then raised',
    },
  ] as const)('$note', ({ inbound, outbound, speech }) => {
    const line = new LineTranscoder(inbound, outbound);
    expect(line.speechFormat).toEqual(speech);
    const frame = new Int16Array(speech.rateHz / 50);
    expect(line.encode(frame)).toHaveLength((outbound.rateHz / 50) * (outbound.encoding === 'pcm16' ? 2 : 1));
  });
});

/** Both kinds of array in pieces of these lengths, and the rest in one. */
function cutAt<Kind extends Int16Array | Uint8Array>(whole: Kind, sizes: readonly number[]): Kind[] {
  const parts: Kind[] = [];
  let at = 0;
  for (const size of [...sizes, whole.length]) {
    parts.push(whole.subarray(at, at + size) as Kind);
    at = Math.min(whole.length, at + size);
  }
  return parts;
}

describe('a wideband leg', () => {
  test.each(['decode', 'encode'] as const)(
    '%s gives whole frames for whole frames, at the same level, 4 ms late',
    (direction) => {
      const { given, got } = through(direction, 1_000);
      expect(rmsLevelDb(got.subarray(400))).toBeCloseTo(rmsLevelDb(given.subarray(400)), 1);
      const rateHz = direction === 'decode' ? 8000 : 16_000;
      const late = sine(1_000, 1_000, rateHz, 0.5);
      const shift = rateHz / 250;
      const difference = got.subarray(400).map((sample, at) => sample - (late[at + 400 - shift] ?? 0));
      expect(rmsLevelDb(difference)).toBeLessThan(-75);
    },
  );

  test.each([4_001, 4_100, 4_400, 5_000, 6_500, 7_900])('lets no more than -60 dB of a tone of %d Hz into the call', (hz) => {
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
