import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../../../../src/sim/manual-clock.ts';
import { LatexReader } from '../../../../../src/platform/engines/latex/latex-reader.ts';
import type { SynthesisEngine } from '../../../../../src/platform/engines/synth/port.ts';
import { speak } from '../../../../../src/platform/server/tts/speak.ts';
import { speechRequestOf } from '../../../../../src/platform/server/tts/speech-request.ts';

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
});
