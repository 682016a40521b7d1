import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { readRealtimeEvent } from '../../../../src/speech/asr/realtime-events.ts';

const read = (event: unknown): unknown => readRealtimeEvent(JSON.stringify(event));
const final = { type: 'final', seg: 0, text: 'hi', endOfUtterance: undefined, language: undefined, endS: undefined };

describe('events of the recogniser', () => {
  test.each([
    {
      wire: { type: 'ready', language: 'en', sample_rate: 8000, diarize: false, session_id: 'x' },
      ours: { type: 'ready', warnings: [] },
    },
    {
      wire: { type: 'partial', seg: 3, text: 'hel', delta: 'l', elapsed_ms: 40, language: 'en' },
      ours: { type: 'partial', seg: 3, text: 'hel' },
    },
    {
      wire: { type: 'final', seg: 3, text: 'hello', end_of_utterance: true, language: 'en', speaker: null, start: 0.2, end: 1.5 },
      ours: { type: 'final', seg: 3, text: 'hello', endOfUtterance: true, language: 'en', endS: 1.5 },
    },
    { wire: { type: 'final', seg: 0, text: 'hi', language: null }, ours: final },
    { wire: { type: 'final_refined', seg: 3, text: 'Hello.' }, ours: { type: 'refined', seg: 3, text: 'Hello.' } },
    { wire: { type: 'error', error: 'token not valid' }, ours: { type: 'error', error: 'token not valid' } },
    { wire: { type: 'utterance_end', seg: 3 }, ours: { type: 'unknown', name: 'utterance_end' } },
  ])('reads $wire.type', ({ wire, ours }) => {
    expect(read(wire)).toEqual(ours);
  });

  test.each([
    {
      wire: { type: 'partial', text: 'hel', segment_id: 2, is_final: false, latency_ms: 9 },
      ours: { type: 'partial', seg: 2, text: 'hel' },
    },
    { wire: { type: 'final_segment', segment_id: 0, text: 'hi', silence_duration_ms: 700 }, ours: final },
    { wire: { type: 'done', total_segments: 2 }, ours: { type: 'done' } },
    {
      wire: { type: 'error', message: 'full', code: 'CAPACITY_FULL' },
      ours: { type: 'error', error: 'full', code: 'CAPACITY_FULL' },
    },
    { wire: { type: 'error', error: { message: 'full', code: 1 } }, ours: { type: 'error', error: 'full' } },
    { wire: { type: 'error', detail: 'full' }, ours: { type: 'error', error: 'full' } },
    { wire: { type: 'error', reason: 'full' }, ours: { type: 'error', error: 'full' } },
    { wire: { type: 'speech_start' }, ours: { type: 'unknown', name: 'speech_start' } },
  ])('reads $wire.type of the older generation [139]', ({ wire, ours }) => {
    expect(read(wire)).toEqual(ours);
  });

  it('does not read the text of a whole connection as a segment, when a final is that [139]', () => {
    const whole = JSON.stringify({ type: 'final', text: 'hi there', audio_duration_sec: 3 });
    expect(readRealtimeEvent(whole, true)).toEqual({ type: 'done' });
    expect(readRealtimeEvent(whole)).toMatchObject({ type: 'final', text: 'hi there' });
  });

  it('keeps the words when another field is odd', () => {
    const odd = { type: 'final', seg: -1, text: 'hi', language: 7, end: 'late', end_of_utterance: 'yes' };
    expect(read(odd)).toEqual({ ...final, seg: undefined });
    expect(read({ type: 'error', error: 7, message: 'why' })).toEqual({ type: 'error', error: 'why' });
  });

  it('has a text for an error without one, and cuts a long one', () => {
    expect(read({ type: 'error' })).toMatchObject({ error: expect.stringMatching(/./u) });
    expect(read({ type: 'error', error: 'x'.repeat(9_000) })).toMatchObject({ error: 'x'.repeat(500) });
  });

  test.each(['', 'END', '<html>', '{'])('takes %j for no event [136]', (frame) => {
    expect(readRealtimeEvent(frame)).toBeUndefined();
  });

  it('never throws for JSON, and never invents words [136]', () => {
    const event = fc.record({ type: fc.constantFrom('partial', 'final', 'final_refined', 'error', 'x'), text: fc.jsonValue() });
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), event), (value) => {
        const given = readRealtimeEvent(JSON.stringify(value));
        expect(given).toBeDefined();
        const text = given !== undefined && 'text' in given ? given.text : '';
        if (text !== '') expect(value).toMatchObject({ text });
      }),
    );
  });
});
