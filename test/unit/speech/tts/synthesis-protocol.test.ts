import { describe, expect, it, test } from 'vitest';
import { encodeAudio } from '../../../../src/audio/codec.ts';
import { decodeMulaw } from '../../../../src/audio/g711.ts';
import { rmsLevelDb } from '../../../../src/audio/level.ts';
import { sine } from '../../../../src/audio/tone.ts';
import { SynthesisProtocol } from '../../../../src/speech/tts/synthesis-protocol.ts';

const bytes = Uint8Array.of(1, 2, 3);

function chunk(index: number, more: Record<string, unknown> = {}): string {
  return JSON.stringify({
    type: 'chunk',
    request_id: 'r',
    chunk_index: index,
    is_final: false,
    format: 'mulaw',
    sample_rate: 8_000,
    ...more,
  });
}

function completion(total: number): string {
  return JSON.stringify({
    type: 'completion',
    request_id: 'r',
    status: 'complete',
    total_chunks: total,
    total_duration_seconds: 1,
  });
}

describe('synthesis protocol', () => {
  it('gives the audio of each pair, and the end at the completion, not at is_final [185] [186]', () => {
    const protocol = new SynthesisProtocol();
    expect(protocol.text(chunk(0))).toEqual({ done: false });
    expect(protocol.binary(bytes)).toEqual({ audio: bytes, done: false });
    protocol.text(chunk(1, { is_final: true }));
    expect(protocol.binary(bytes).done).toBe(false);
    expect(protocol.text(completion(2)).done).toBe(true);
  });

  test.each<{ note: string; break: (protocol: SynthesisProtocol) => void }>([
    { note: 'audio without a chunk', break: (protocol) => protocol.binary(bytes) },
    {
      note: 'a second audio for one chunk',
      break: (protocol) => {
        protocol.text(chunk(0));
        protocol.binary(bytes);
        protocol.binary(bytes);
      },
    },
    {
      note: 'a chunk without its audio',
      break: (protocol) => {
        protocol.text(chunk(0));
        protocol.text(chunk(1));
      },
    },
    {
      note: 'a completion where audio was due',
      break: (protocol) => {
        protocol.text(chunk(0));
        protocol.text(completion(1));
      },
    },
    { note: 'a wrong first index', break: (protocol) => protocol.text(chunk(1)) },
    {
      note: 'an index that comes twice',
      break: (protocol) => {
        protocol.text(chunk(0));
        protocol.binary(bytes);
        protocol.text(chunk(0));
      },
    },
    {
      note: 'a wrong total',
      break: (protocol) => {
        protocol.text(chunk(0));
        protocol.binary(bytes);
        protocol.text(completion(2));
      },
    },
    {
      note: 'a chunk of another request',
      break: (protocol) => {
        protocol.text(chunk(0));
        protocol.binary(bytes);
        protocol.text(chunk(1, { request_id: 'other' }));
      },
    },
    { note: 'an index that is no number', break: (protocol) => protocol.text(chunk(0, { chunk_index: 'first' })) },
    { note: 'no JSON', break: (protocol) => protocol.text('chunk') },
    {
      note: 'a format that is no telephone audio',
      break: (protocol) => {
        protocol.text(chunk(0, { format: 'mp3' }));
        protocol.binary(bytes);
      },
    },
    {
      note: 'an impossible rate',
      break: (protocol) => {
        protocol.text(chunk(0, { format: 'pcm', sample_rate: 4 }));
        protocol.binary(bytes);
      },
    },
    {
      note: 'PCM at a rate it does not tell',
      break: (protocol) => {
        protocol.text(chunk(0, { format: 'pcm', sample_rate: undefined }));
        protocol.binary(bytes);
      },
    },
  ])('takes $note as a broken protocol [185]', ({ break: breakIt }) => {
    expect(() => breakIt(new SynthesisProtocol())).toThrow(expect.objectContaining({ code: 'OFFHOOK_SPEECH_PROTOCOL' }));
  });

  it('gives the text and the request id of an error [187]', () => {
    const protocol = new SynthesisProtocol();
    const error = JSON.stringify({ type: 'error', request_id: 'r-7', error: 'voice not found' });
    expect(() => protocol.text(error)).toThrow(
      expect.objectContaining({ requestId: 'r-7', message: expect.stringContaining('voice not found') as string }),
    );
  });

  it('tolerates fields of a later version, and reads done as the end [191]', () => {
    const protocol = new SynthesisProtocol();
    for (const type of ['ready', 'speaking', 'cancelled', 'anything'])
      expect(protocol.text(JSON.stringify({ type }))).toEqual({ done: false });
    expect(protocol.text('{"type":"done"}').done).toBe(true);
  });

  test.each([
    { format: 'pcm', encoding: 'pcm16', rateHz: 24_000 },
    { format: 'pcm', encoding: 'pcm16', rateHz: 16_000 },
    { format: 'mulaw', encoding: 'mulaw', rateHz: 16_000 },
    { format: 'alaw', encoding: 'alaw', rateHz: 8_000 },
  ] as const)('brings $format at $rateHz Hz to 8 kHz mu-law, not to noise', ({ format, encoding, rateHz }) => {
    const protocol = new SynthesisProtocol();
    const tone = encodeAudio(encoding, sine(440, 1_000, rateHz));
    const parts: Uint8Array[] = [];
    // Cut at odd places, so that samples are split between chunks.
    for (let from = 0, index = 0; from < tone.length; from += 1_001, index += 1) {
      protocol.text(chunk(index, { format, sample_rate: rateHz }));
      parts.push(protocol.binary(tone.slice(from, from + 1_001)).audio!);
    }
    parts.push(protocol.text(completion(Math.ceil(tone.length / 1_001))).audio!);
    const heard = decodeMulaw(Buffer.concat(parts));
    expect(heard).toHaveLength(8_000);
    const wanted = sine(440, 1_000, 8_000);
    const off = heard.map((sample, index) => sample - wanted[index]!);
    expect(rmsLevelDb(off.subarray(100, -100))).toBeLessThan(rmsLevelDb(wanted) - 25);
  });

  it('follows a format that changes on the way', () => {
    const protocol = new SynthesisProtocol();
    protocol.text(chunk(0, { format: 'pcm', sample_rate: 16_000 }));
    const first = protocol.binary(encodeAudio('pcm16', sine(440, 500, 16_000))).audio!;
    protocol.text(chunk(1));
    const second = protocol.binary(encodeAudio('mulaw', sine(440, 500, 8_000))).audio!;
    expect(first.length + second.length).toBe(8_000);
  });
});
