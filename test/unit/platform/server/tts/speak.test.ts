import { describe, expect, it } from 'vitest';
import { rmsLevelDb } from '../../../../../src/audio/level.ts';
import { joinSamples } from '../../../../../src/audio/samples.ts';
import { sine } from '../../../../../src/audio/tone.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';
import { LatexReader } from '../../../../../src/platform/engines/latex/latex-reader.ts';
import type { SynthesisEngine } from '../../../../../src/platform/engines/synth/port.ts';
import { speak } from '../../../../../src/platform/server/tts/speak.ts';
import { readSpeechFields, speechRequestOf } from '../../../../../src/platform/server/tts/speech-request.ts';

const voices = [{ name: 'Nisha', language: 'en', gender: 'female' }] as const;

/** Has everything ready at once, as the real one has after its first sentence. */
const engine: SynthesisEngine = {
  voices,
  defaultVoice: 'Nisha',
  async *synthesize() {
    for (let chunk = 0; chunk < 40; chunk += 1) yield { pcm: new Int16Array(2205), rateHz: 22_050 };
  },
  async [Symbol.asyncDispose]() {},
};

describe('speaking', () => {
  it('lets others have a turn after every chunk', async () => {
    const clock = new ManualClock();
    await using latex = new LatexReader(clock);
    const fields = { model: 'zero-indic', input: 'long', voice: 'Nisha', response_format: 'pcm', speed: 0.25 };
    const request = speechRequestOf(fields, { kind: 'batch', compat: false, voices });
    let turns = 0;
    let over = false;
    const others = (): void => {
      turns += 1;
      if (!over) setImmediate(others);
    };
    setImmediate(others);
    let samples = 0;
    const signal = new AbortController().signal;
    const options = { engine, latex, clock, signal, chunkMs: 1000, priority: 'live', onWarning: () => undefined } as const;
    for await (const pcm of speak(request, options)) {
      samples += pcm.length;
    }
    over = true;
    expect(samples / 24_000).toBeCloseTo(40 * 0.1 * 3.2, 1);
    expect(turns).toBeGreaterThanOrEqual(40);
  });

  it.each([
    ['mulaw', 3_600],
    ['wav', 10_000],
  ])('changed nothing with quality in %s: a higher one keeps more of a tone of %i Hz', async (response_format, toneHz) => {
    const clock = new ManualClock();
    await using latex = new LatexReader(clock);
    const tone: SynthesisEngine = {
      ...engine,
      async *synthesize() {
        yield { pcm: sine(toneHz, 500, 22_050), rateHz: 22_050 };
      },
    };
    const levelOf = async (quality: string): Promise<number> => {
      const fields = { model: 'zero-indic', input: 'long', voice: 'Nisha', response_format, quality };
      const request = speechRequestOf(readSpeechFields(fields), { kind: 'batch', compat: false, voices });
      const signal = new AbortController().signal;
      const options = {
        engine: tone,
        latex,
        clock,
        signal,
        chunkMs: 1000,
        priority: 'batch',
        onWarning: () => undefined,
      } as const;
      const parts: Int16Array[] = [];
      for await (const pcm of speak(request, options)) parts.push(pcm);
      return rmsLevelDb(joinSamples(parts));
    };
    const [low, medium, high] = [await levelOf('low'), await levelOf('medium'), await levelOf('high')];
    expect(medium - low).toBeGreaterThan(1);
    expect(high).toBeGreaterThanOrEqual(medium - 0.1);
    expect(Math.abs(high - rmsLevelDb(sine(toneHz, 500, 22_050)))).toBeLessThan(0.2);
  });
});
