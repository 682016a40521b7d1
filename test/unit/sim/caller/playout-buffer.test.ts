import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeMulaw, encodeMulaw } from '../../../../src/audio/g711.ts';
import { sine } from '../../../../src/audio/tone.ts';
import { PlayoutBuffer } from '../../../../src/sim/caller/playout-buffer.ts';
import { thorough } from '../../../support/thorough.ts';

const tone = (ms: number): Uint8Array => encodeMulaw(sine(400, ms, 8000, 0.3));
const heardTone = (ms: number): Int16Array => decodeMulaw(tone(ms));

describe('playing', () => {
  it('is heard from when it arrives, in order, and not before its time', () => {
    const buffer = new PlayoutBuffer();
    buffer.append(tone(40), 100);
    buffer.append(tone(40), 110);
    buffer.advance(150);
    expect(buffer.heard).toHaveLength(1200);
    expect(buffer.heard.subarray(0, 800).every((sample) => sample === 0)).toBe(true);
    expect(buffer.heard.slice(800, 1120)).toEqual(heardTone(40));
    expect(buffer.heard.slice(1120)).toEqual(heardTone(40).slice(0, 80));
    expect(buffer.queuedMs).toBe(30);
  });

  it('waits as long as a jitter buffer is told to whenever audio comes to an empty one', () => {
    const buffer = new PlayoutBuffer('mulaw', 60);
    buffer.append(tone(40), 100);
    buffer.append(tone(40), 130);
    buffer.append(tone(40), 400);
    buffer.mark('end', 400);
    expect(buffer.advance(499)).toEqual([]);
    expect(buffer.advance(500)).toEqual(['end']);
    const { heard } = buffer;
    expect(heard.subarray(0, 1280).every((sample) => sample === 0)).toBe(true);
    expect(heard.slice(1280, 1600)).toEqual(heardTone(40));
    expect(heard.slice(1600, 1920)).toEqual(heardTone(40));
    expect(heard.slice(3680, 4000)).toEqual(heardTone(40));
  });

  it('hears every sample once and in order, whatever the pieces and the times', () => {
    const step = fc.record({ gapMs: fc.double({ min: 0, max: 60, noNaN: true }), bytes: fc.integer({ min: 0, max: 500 }) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
        const buffer = new PlayoutBuffer('pcm16');
        const sent: number[] = [];
        let atMs = 0;
        for (const { gapMs, bytes } of steps) {
          atMs += gapMs;
          const pcm = Int16Array.from(
            { length: bytes },
            () => sent.push(0) && (sent[sent.length - 1] = (sent.length % 30_000) + 1),
          );
          buffer.append(new Uint8Array(pcm.buffer), atMs);
        }
        buffer.advance(atMs + 60_000);
        // Samples are numbered from 1, silence is 0.
        expect([...buffer.heard].filter((sample) => sample !== 0)).toEqual(sent);
        expect(buffer.heard).toHaveLength(Math.floor((atMs + 60_000) * 8 + 1e-6));
      }),
      { numRuns: thorough(15, 30) },
    );
  });

  it('refuses what would wait longer than ten minutes', () => {
    const buffer = new PlayoutBuffer();
    for (let minute = 0; minute < 10; minute += 1) buffer.append(new Uint8Array(480_000), 0);
    expect(buffer.droppedSamples).toBe(0);
    buffer.append(new Uint8Array(160), 0);
    expect(buffer.droppedSamples).toBe(160);
    buffer.append(new Uint8Array(160), 20);
    expect(buffer.droppedSamples).toBe(160);
  });
});

describe('marks', () => {
  it('come back when everything before them was played, oldest first', () => {
    const buffer = new PlayoutBuffer();
    buffer.append(tone(100), 0);
    buffer.mark('one', 0);
    buffer.append(tone(100), 0);
    buffer.mark('two', 0);
    expect(buffer.advance(99)).toEqual([]);
    expect(buffer.advance(100)).toEqual(['one']);
    expect(buffer.advance(500)).toEqual(['two']);
    expect(buffer.advance(900)).toEqual([]);
  });

  it('come back at once when nothing waits', () => {
    const buffer = new PlayoutBuffer();
    buffer.mark('now', 40);
    expect(buffer.advance(40)).toEqual(['now']);
  });

  it('are not lost when they are reached by the next piece of audio', () => {
    const buffer = new PlayoutBuffer();
    buffer.append(tone(20), 0);
    buffer.mark('reached', 0);
    buffer.append(tone(20), 100);
    expect(buffer.advance(100)).toEqual(['reached']);
  });
});

describe('clear', () => {
  it('silences the ear at once and gives back every mark that waits', () => {
    const buffer = new PlayoutBuffer();
    buffer.append(tone(100), 0);
    buffer.mark('played', 0);
    buffer.append(tone(400), 0);
    buffer.mark('cut', 0);
    buffer.mark('cut too', 0);
    expect(buffer.clear(250)).toEqual(['cut', 'cut too']);
    expect(buffer.advance(1000)).toEqual(['played']);
    expect(buffer.heard.subarray(2000).every((sample) => sample === 0)).toBe(true);
    expect(buffer.heard.subarray(1900, 2000).some((sample) => sample !== 0)).toBe(true);
    expect(buffer.queuedMs).toBe(0);
  });

  it('leaves the buffer ready for what comes next', () => {
    const buffer = new PlayoutBuffer();
    buffer.append(tone(400), 0);
    buffer.clear(100);
    buffer.append(tone(20), 300);
    buffer.mark('next', 300);
    expect(buffer.advance(320)).toEqual(['next']);
    expect(buffer.heard.slice(2400, 2560)).toEqual(heardTone(20));
  });
});

describe('underruns', () => {
  it('are holes in the middle of sound, where they were and as long as they were', () => {
    const buffer = new PlayoutBuffer();
    buffer.append(tone(100), 0);
    buffer.append(tone(100), 130);
    expect(buffer.underruns).toEqual([{ atMs: 100, durationMs: 30 }]);
  });

  it.each([
    { note: 'audio that arrives in time', nextMs: 100, before: tone(100), after: tone(100) },
    { note: 'a pause between two sentences', nextMs: 700, before: tone(100), after: tone(100) },
    { note: 'a gap after silence', nextMs: 130, before: new Uint8Array(800).fill(0xff), after: tone(100) },
    { note: 'a gap before silence', nextMs: 130, before: tone(100), after: new Uint8Array(800).fill(0xff) },
  ])('are not $note', ({ nextMs, before, after }) => {
    const buffer = new PlayoutBuffer();
    buffer.append(before, 0);
    buffer.append(after, nextMs);
    expect(buffer.underruns).toEqual([]);
  });

  it('are not the silence that a clear made', () => {
    const buffer = new PlayoutBuffer();
    buffer.append(tone(200), 0);
    buffer.clear(100);
    buffer.append(tone(100), 150);
    expect(buffer.underruns).toEqual([]);
  });
});
