import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../../support/manual-clock.ts';
import { speakWithFallback } from '../../../../src/speech/routing/fallback-synthesis.ts';
import { ScriptedSynthesizer, type SpeechStep } from './scripted-synthesizer.ts';

const WELL: readonly SpeechStep[] = [{ waitMs: 200 }, { bytes: 800 }, { bytes: 800 }];

/** What a caller hears of one sentence: for each piece of audio whose it is, and when it came. */
async function speak(...scripts: readonly (readonly SpeechStep[])[]) {
  const clock = new ManualClock(0);
  const synthesizers = scripts.map((script, index) => new ScriptedSynthesizer(clock, index + 1, script));
  const heard: { by: number; atMs: number }[] = [];
  const said: string[] = [];
  const failed: string[] = [];
  const candidates = synthesizers.map((synthesizer, index) => ({
    name: String(index + 1),
    synthesizer,
    request: (asked: Parameters<ScriptedSynthesizer['speak']>[0]) => ({ ...asked, voice: `voice-${index + 1}` }),
  }));
  const { signal } = new AbortController();
  const audio = speakWithFallback(candidates, { text: 'Hello.', voice: 'x', language: 'en' }, signal, {
    clock,
    watch: {
      speaks: ({ name }, reason) => void said.push(`${name} ${reason ?? ''}`.trim()),
      failed: ({ name }) => void failed.push(name),
      firstAudio: () => undefined,
      firstAudioLateMs: () => 1_200,
    },
  });
  let error: unknown;
  const listened = { over: false };
  const listening = (async () => {
    for await (const bytes of audio) heard.push({ by: bytes[0] ?? 0, atMs: clock.nowMs() });
  })()
    .catch((thrown: unknown) => (error = thrown))
    .finally(() => (listened.over = true));
  for (let waited = 0; !listened.over && waited < 1_000; waited += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(10);
  }
  await listening;
  const parts = heard.map(({ by }) => by).join(' ');
  return { parts, heard, said, failed, error, synthesizers };
}

describe('a sentence that another synthesizer can speak', () => {
  it('is asked of the first alone while that does what it should', async () => {
    const { parts, said, failed, synthesizers } = await speak(WELL, WELL);
    expect({ parts, said, failed }).toEqual({ parts: '1 1', said: ['1'], failed: [] });
    expect(synthesizers[1]?.asked).toEqual([]);
    expect(synthesizers[0]?.asked[0]?.voice).toBe('voice-1');
  });

  it('is spoken by the next at once when the first fails before its first audio', async () => {
    const { parts, said, failed, heard } = await speak(['fail'], WELL);
    expect({ parts, said, failed }).toEqual({ parts: '2 2', said: ['2 failed'], failed: ['1'] });
    expect(heard[0]?.atMs).toBeLessThan(300);
  });

  it('is spoken by the next within two seconds when the first stays silent', async () => {
    const { parts, said, failed, heard, synthesizers } = await speak(['hang'], WELL);
    expect({ parts, said, failed }).toEqual({ parts: '2 2', said: ['2 first-audio-late'], failed: ['1'] });
    expect(heard[0]?.atMs).toBeLessThan(2_000);
    expect(synthesizers[0]?.aborted).toBe(1);
  });

  it('is spoken by the first after all when its late audio comes before that of the next', async () => {
    const { parts, failed, synthesizers } = await speak([{ waitMs: 1_300 }, { bytes: 800 }], [{ waitMs: 900 }, { bytes: 800 }]);
    expect([parts, failed]).toEqual(['1', []]);
    expect(synthesizers[1]?.aborted).toBe(1);
  });

  it('is said again whole by the next when it breaks off', async () => {
    const { parts, said, failed } = await speak([{ bytes: 800 }, 'fail'], WELL);
    expect({ parts, said, failed }).toEqual({ parts: '1 2 2', said: ['1', '2 failed'], failed: ['1'] });
  });

  it('is said again when it stops in its middle, within two seconds of its last sound', async () => {
    const { parts, said, heard } = await speak([{ bytes: 8_000 }, 'hang'], WELL);
    expect({ parts, said }).toEqual({ parts: '1 2 2', said: ['1', '2 stalled'] });
    const heardOutMs = (heard[0]?.atMs ?? 0) + 1_000;
    expect((heard[1]?.atMs ?? 0) - heardOutMs).toBeLessThan(2_000);
  });

  it('waits for audio that is still to be heard out, however long it is', async () => {
    const { parts } = await speak([{ bytes: 16_000 }, { waitMs: 2_500 }, { bytes: 800 }], WELL);
    expect(parts).toBe('1 1');
  });

  it('is given up when it breaks off twice', async () => {
    const broken: readonly SpeechStep[] = [{ bytes: 800 }, 'fail'];
    const { parts, error, synthesizers } = await speak(broken, broken, WELL);
    expect(parts).toBe('1 2');
    expect(error).toMatchObject({ message: 'synthesizer 2 failed' });
    expect(synthesizers[2]?.asked).toEqual([]);
  });

  it('fails with the last error when no vendor can speak it', async () => {
    const { error, failed } = await speak(['fail'], ['fail']);
    expect(error).toMatchObject({ message: 'synthesizer 2 failed' });
    expect(failed).toEqual(['1', '2']);
  });

  it('is silence where no vendor finds speakable text', async () => {
    const { parts, error, failed } = await speak([], []);
    expect({ parts, error, failed }).toEqual({ parts: '', error: undefined, failed: [] });
  });
});
