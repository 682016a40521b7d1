import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { encodingOf, readSynthesisEvent } from '../../../../src/speech/tts/synthesis-protocol.ts';

const read = (event: unknown): unknown => readSynthesisEvent(JSON.stringify(event));

describe('events of the synthesizer', () => {
  test.each([
    {
      wire: { type: 'chunk', request_id: 'r', chunk_index: 2, is_final: true, format: 'mulaw', sample_rate: 8000 },
      ours: { type: 'chunk', index: 2, format: 'mulaw', rateHz: 8000, requestId: 'r' },
    },
    {
      wire: { type: 'chunk' },
      ours: { type: 'chunk', index: undefined, format: undefined, rateHz: undefined, requestId: undefined },
    },
    {
      wire: { type: 'completion', request_id: 'r', status: 'success', total_chunks: 3, total_duration_seconds: 1.2 },
      ours: { type: 'completion', totalChunks: 3 },
    },
    {
      wire: { type: 'completion', status: 'error', error_message: 'no voice', request_id: 'r' },
      ours: { type: 'error', error: 'no voice', requestId: 'r' },
    },
    { wire: { type: 'error', request_id: 'r', error: 'too long' }, ours: { type: 'error', error: 'too long', requestId: 'r' } },
    {
      wire: { type: 'error', error: { message: 'too long', code: 'x' } },
      ours: { type: 'error', error: 'too long', requestId: undefined },
    },
    {
      wire: { type: 'error', error: null, message: 'too long' },
      ours: { type: 'error', error: 'too long', requestId: undefined },
    },
  ])('reads $wire', ({ wire, ours }) => {
    expect(read(wire)).toEqual(ours);
  });

  test.each(['ready', 'speaking', 'cancelled', 'anything'])('lets %s pass [191]', (type) => {
    expect(read({ type, sample_rate: 24_000 })).toEqual({ type: 'ignored' });
  });

  it('takes done for the completion [191]', () => {
    expect(read({ type: 'done' })).toEqual({ type: 'completion', totalChunks: undefined });
  });

  it.each([
    '',
    '[]',
    '7',
    'null',
    '{}',
    '{"type":"chunk","chunk_index":"0"}',
    '{"type":"chunk","chunk_index":0.5}',
    '{"type":"chunk","sample_rate":0}',
    '{"type":"completion","total_chunks":-1}',
  ])('cannot tell the order from %s [185]', (frame) => {
    expect(readSynthesisEvent(frame)).toBeUndefined();
  });

  it('throws at nothing', () => {
    const event = fc.record({ type: fc.constantFrom('chunk', 'completion', 'error'), error: fc.jsonValue() });
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          event.map((value) => JSON.stringify(value)),
        ),
        (frame) => {
          expect(() => readSynthesisEvent(frame)).not.toThrow();
        },
      ),
    );
  });

  it('knows the encodings a line can take, and no other', () => {
    expect(['mulaw', 'ulaw', 'alaw', 'pcm'].map(encodingOf)).toEqual(['mulaw', 'mulaw', 'alaw', 'pcm16']);
    expect(['mp3', 'wav', 'ogg_opus', 'flac', ''].map(encodingOf)).toEqual(Array.from({ length: 5 }));
  });
});
