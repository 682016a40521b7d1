import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { joinSamples } from '../../../../src/audio/samples.ts';
import { activeLevelDb, amplify, peakLevel } from '../../../../src/audio/level.ts';
import { resample } from '../../../../src/audio/resample.ts';
import { systemClock } from '../../../../src/kernel/clock.ts';
import { createLogger, silentLogger } from '../../../../src/observability/logger.ts';
import { createEngines } from '../../../../src/platform/engines/engines.ts';
import {
  RecognitionUnavailableError,
  UnknownLanguageError,
  answersOf,
  type RecognitionEngineEvent,
  type RecognitionResult,
} from '../../../../src/platform/engines/recognise/port.ts';
import { SynthesisRefusedError, SynthesisUnavailableError } from '../../../../src/platform/engines/synth/port.ts';
import { seededRandom } from '../../../../src/audio/tone.ts';
import { throughTelephone } from '../../../../src/platform/engines/recognise/training-audio.ts';
import { EngineProcess } from '../../../../src/platform/engines/synth/engine-process.ts';
import { chooseLanguage } from '../../../../src/platform/languages.ts';
import { transcribe } from '../../../../src/platform/server/asr/transcribe.ts';
import { startSynthesizer } from '../../../../src/platform/engines/synth/synthesizer.ts';
import { thorough } from '../../../support/thorough.ts';
import { eventually } from '../../../support/eventually.ts';
import { HANGS_MS, hangs } from '../../../support/patience.ts';

/** Between two utterances of a turn. */
const GAPS_S = thorough([0.2, 0.7], [0.2, 0.3, 0.5, 0.7, 1]);

// One pair of engines for all tests; what it learns stays in the temporary folder under a hash, for the next run.
let engines: Awaited<ReturnType<typeof createEngines>>;
const callers = new Map<string, EngineProcess>();

beforeAll(async () => {
  engines = await createEngines({
    cacheFolder: join(tmpdir(), 'offhook-recogniser-models'),
    vocabularyFolder: new URL('../../../../config/platform', import.meta.url).pathname,
    clock: systemClock,
  });
  for (const engine of ['espeak', 'flite'] as const) {
    const caller = await EngineProcess.start({ engine, clock: systemClock, logger: silentLogger });
    if (caller !== undefined) callers.set(engine, caller);
  }
});

afterAll(async () => {
  await engines?.recognition[Symbol.asyncDispose]();
  await engines?.synthesis[Symbol.asyncDispose]();
  for (const caller of callers.values()) await caller[Symbol.asyncDispose]();
});

/** Voices that the recogniser never learnt from. */
async function caller(language: 'en' | 'hi', text: string, speed = 1): Promise<Int16Array> {
  const [engine, voice] = language === 'en' ? (['flite', 'awb'] as const) : (['espeak', 'hi+Annie'] as const);
  const { pcm, rateHz } = await callers.get(engine)!.render({ text, voice, speed, pitch: 50 });
  const narrow = resample(pcm, rateHz, 8_000);
  return throughTelephone(amplify(narrow, -20 - activeLevelDb(narrow, 8_000)), undefined, seededRandom(1));
}

async function recognise(
  language: string,
  pcm: Int16Array,
  rateHz = 8_000,
): Promise<{ result: RecognitionResult; events: RecognitionEngineEvent[] }> {
  const events: RecognitionEngineEvent[] = [];
  const stream = engines.recognition.open({ language, rateHz, boostPhrases: [] }, (event) => events.push(event));
  for (let at = 0; at < pcm.length; at += 160) stream.push(pcm.slice(at, at + 160));
  const result = answersOf(await stream.commit())[0]!;
  stream.close();
  return { result, events };
}

const english = [
  "I'd like to book an appointment",
  "I'd like an appointment on Tuesday at half past ten",
  'Tuesday at half past ten',
  'half past ten',
  'speak to a person',
  'yes please',
  'no thank you',
];
const hindi = ['मुझे अपॉइंटमेंट चाहिए', 'मंगलवार को साढ़े दस बजे', 'जी हाँ', 'सुबह दस बजे', 'एक दो तीन चार'];

describe('the recogniser', () => {
  test.each([...english.map((text) => ['en', text] as const), ...hindi.map((text) => ['hi', text] as const)])(
    'it understands a voice it never learnt (%s): %s',
    async (language, text) => {
      const { result } = await recognise(language, await caller(language, text));
      expect(result.text).toBe(text);
      expect(result.words.map(({ word }) => word).join(' ')).toBe(text);
      expect(result.language).toBe(language);
      for (const { startS, endS, confidence } of result.words) {
        expect(startS).toBeGreaterThanOrEqual(result.startS);
        expect(endS).toBeGreaterThan(startS);
        expect(endS).toBeLessThanOrEqual(result.endS + 1e-9);
        expect(confidence).toBeGreaterThan(0);
      }
    },
  );

  it.each([
    ['en', 'Tuesday at half past ten'],
    ['hi', 'मंगलवार को साढ़े दस बजे'],
  ] as const)('tells what it has understood while the caller speaks (%s)', async (language, text) => {
    const pcm = await caller(language, text);
    const partials: string[] = [];
    const stream = engines.recognition.open({ language, rateHz: 8_000, boostPhrases: [] }, (event) => {
      if (event.type === 'partial') partials.push(event.text);
    });
    // A thread that is late goes without partials: it is given its time.
    let at = 0;
    await eventually('two partials', () => {
      if (at < pcm.length) stream.push(pcm.slice(at, at + 160));
      at += 160;
      return partials.length > 1;
    });
    stream.close();
    expect(partials).not.toContain('');
  });

  it('tells the languages apart when asked to', async () => {
    expect((await recognise('auto', await caller('hi', 'मंगलवार को साढ़े दस बजे'))).result.language).toBe('hi');
    expect((await recognise('auto', await caller('en', 'Tuesday at half past ten'))).result.text).toBe(
      'Tuesday at half past ten',
    );
  });

  it('takes other rates', async () => {
    const pcm = resample(await caller('en', 'Tuesday at half past ten'), 8_000, 16_000);
    expect((await recognise('en', pcm, 16_000)).result.text).toBe('Tuesday at half past ten');
  });

  const random = seededRandom(11);
  const noise = (amplitude: number): Int16Array => Int16Array.from({ length: 16_000 }, () => (random() * 2 - 1) * amplitude);
  test.each([
    ['silence', () => new Int16Array(16_000)],
    ['quiet noise', () => noise(200)],
    ['loud noise', () => noise(8_000)],
    ['G.711 bytes read as linear samples', () => noise(32_767)],
    ['a cough', () => noise(12_000).map((sample, n) => (n < 4_000 || n > 7_000 ? 0 : sample * Math.exp((4_000 - n) / 900)))],
    ['a tone', () => Int16Array.from({ length: 16_000 }, (_, n) => 6_000 * Math.sin(n / 3))],
  ])('it understands nothing in %s', async (_, pcm) => {
    expect((await recognise('auto', pcm())).result.text).toBe('');
  });

  test.each([
    ['en', 'who is the president of France'],
    ['en', 'the number you have dialled is not in service'],
    ['hi', 'आज मौसम बहुत अच्छा है'],
    ['hi', 'भारत का प्रधानमंत्री कौन है'],
  ] as const)('it refuses what is not in the vocabulary (%s): %s', async (language, text) => {
    expect((await recognise(language, await caller(language, text))).result.text).toBe('');
  });

  describe.each([
    ['en', 'yes please', 'speak to a person', 'my dog ate the newspaper'],
    ['hi', 'सुबह दस बजे', 'रद्द करना है', 'यह बहुत महँगा है'],
  ] as const)('a turn of two utterances (%s)', (language, first, second, unknown) => {
    const turn = async (texts: readonly string[], gapS: number): Promise<Int16Array> => {
      const parts = await Promise.all(texts.map((text) => caller(language, text)));
      const sounds = parts.map((pcm) => {
        const loud = (sample: number): boolean => Math.abs(sample) > 150;
        return pcm.slice(pcm.findIndex(loud), pcm.findLastIndex(loud));
      });
      const quiet = (seconds: number): Int16Array => new Int16Array(seconds * 8_000);
      const all = [quiet(0.3), sounds[0]!, quiet(gapS), sounds[1]!, quiet(0.3)];
      return Int16Array.from(all.flatMap((part) => [...part]));
    };
    const streamed = async (pcm: Int16Array): Promise<string> => {
      const stream = engines.recognition.open({ language, rateHz: 8_000, boostPhrases: [] }, () => undefined);
      stream.push(pcm);
      const answers = answersOf(await stream.commit());
      stream.close();
      return answers.map(({ text }) => text).join(' ');
    };
    const transcribed = async (pcm: Int16Array): Promise<string> => {
      const audio = {
        rateHz: 8_000,
        durationSeconds: pcm.length / 8_000,
        async *blocks() {
          yield pcm;
        },
      };
      const results = await transcribe(audio, {
        engine: engines.recognition,
        language: chooseLanguage(language)!,
        boostPhrases: [],
        boostWeight: 10,
        signal: hangs(),
      });
      return results.recognised.map(({ text }) => text).join(' ');
    };
    test.each(GAPS_S)('hears each by itself, %s s apart', async (gapS) => {
      for (const texts of [
        [first, second],
        [first, unknown],
        [unknown, second],
      ]) {
        const pcm = await turn(texts, gapS);
        const known = texts.filter((text) => text !== unknown).join(' ');
        expect([texts, await streamed(pcm), await transcribed(pcm)]).toEqual([texts, known, known]);
      }
    });
  });

  const boosted: readonly (readonly ['en' | 'hi', string, string])[] = [
    ['hi', 'मधुमेह', 'मधुमेह'],
    ['en', 'Kowalski', 'yes Kowalski'],
  ];
  // Learning an English phrase takes seconds of processor time.
  test.each(thorough(boosted.slice(0, 1), boosted))(
    'hears a boosted phrase that is not in the vocabulary, and not without boosting (%s): %s',
    async (language, phrase, text) => {
      const pcm = await caller(language, text);
      const heard = async (boostPhrases: readonly string[]): Promise<string> => {
        const stream = engines.recognition.open({ language, rateHz: 8_000, boostPhrases }, () => undefined);
        stream.push(pcm);
        const answers = answersOf(await stream.commit());
        stream.close();
        return answers.map((answer) => answer.text).join(' ');
      };
      // A turn waits some seconds for what is being learnt; a later one hears it.
      await expect.poll(() => heard([phrase]), { timeout: HANGS_MS }).toBe(text);
      expect(await heard([])).not.toBe(text);
    },
  );

  it('hears no digits in unknown speech after digits', async () => {
    const said: Int16Array[] = [];
    for (const text of ['four two seven nine', 'please hold the line']) {
      const parts: Int16Array[] = [];
      const request = { text, voice: 'Nisha', language: 'en', speed: 1, priority: 'batch', levelWhole: false } as const;
      for await (const { pcm, rateHz } of engines.synthesis.synthesize(request, new AbortController().signal)) {
        parts.push(resample(pcm, rateHz, 8_000));
      }
      said.push(joinSamples(parts));
    }
    const [digits = new Int16Array(), unknown = new Int16Array()] = said;
    for (const pauseS of thorough([0.25], [0.2, 0.25, 0.3, 0.4, 0.5])) {
      const { result } = await recognise('en', joinSamples([digits, new Int16Array(pauseS * 8_000), unknown]));
      expect([pauseS, result.text]).toEqual([pauseS, 'four two seven nine']);
    }
  });

  it('ends an utterance by itself after long silence, and starts afresh', async () => {
    const spoken = await caller('en', 'Tuesday at half past ten');
    const pcm = new Int16Array(spoken.length + 24_000);
    pcm.set(spoken);
    const { result, events } = await recognise('en', pcm);
    expect(events.find(({ type }) => type === 'segment')).toMatchObject({ result: { text: 'Tuesday at half past ten' } });
    expect(result.text).toBe('');
  });

  it('refuses a language without a vocabulary and a stream that was closed', async () => {
    expect(() => engines.recognition.open({ language: 'ta', rateHz: 8_000, boostPhrases: [] }, () => undefined)).toThrow(
      UnknownLanguageError,
    );
    const stream = engines.recognition.open({ language: 'en', rateHz: 8_000, boostPhrases: [] }, () => undefined);
    stream.close();
    await expect(stream.commit()).rejects.toThrow(RecognitionUnavailableError);
  });
});

describe('the synthesizer', () => {
  async function speak(text: string, voice: string, speed = 1): Promise<{ pcm: Int16Array; rateHz: number; chunks: number[] }> {
    const samples: number[] = [];
    const chunks: number[] = [];
    let rateHz = 0;
    const audio = engines.synthesis.synthesize({ text, voice, language: undefined, speed }, hangs());
    for await (const chunk of audio) {
      samples.push(...chunk.pcm);
      chunks.push(chunk.pcm.length);
      rateHz = chunk.rateHz;
    }
    return { pcm: Int16Array.from(samples), rateHz, chunks };
  }

  test.each([
    ['Hello, this is Lakeside Clinic. How can I help you today?', 'Nisha', 2.5, 7],
    ['Hello, this is Lakeside Clinic. How can I help you today?', 'Varun', 2.5, 7],
  ])('it speaks at one level, for a sane time: %s (%s)', async (text, voice, leastS, mostS) => {
    const { pcm, rateHz, chunks } = await speak(text, voice);
    expect(pcm.length / rateHz).toBeGreaterThan(leastS);
    expect(pcm.length / rateHz).toBeLessThan(mostS);
    expect(activeLevelDb(pcm, rateHz)).toBeGreaterThan(-22);
    expect(activeLevelDb(pcm, rateHz)).toBeLessThan(-18);
    expect(peakLevel(pcm)).toBeLessThan(32_000);
    expect(Math.max(...chunks)).toBeLessThanOrEqual(rateHz / 10);
  });

  it('reads & and < as text, and speaks faster when asked to', async () => {
    const plain = await speak('black & white <b> cat', 'Nisha');
    const fast = await speak('black & white <b> cat', 'Nisha', 1.5);
    expect(plain.pcm.length / plain.rateHz).toBeGreaterThan(1);
    expect(fast.pcm.length).toBeLessThan(plain.pcm.length * 0.85);
  });

  it('stops when it is aborted', async () => {
    const abort = new AbortController();
    const audio = engines.synthesis.synthesize(
      { text: 'One. Two. Three. Four. Five.', voice: 'Nisha', language: 'en', speed: 1 },
      abort.signal,
    );
    const read = async (): Promise<number> => {
      let count = 0;
      for await (const _ of audio) {
        count += 1;
        if (count === 2) abort.abort(new Error('enough'));
      }
      return count;
    };
    await expect(read()).rejects.toThrow('enough');
  });

  it('names the language without a voice, and shows the engine’s message in the log only', async () => {
    const lines: string[] = [];
    const logger = createLogger({ level: 'warn', stream: { write: (line: string) => void lines.push(line) } });
    await using synthesizer = await startSynthesizer({ clock: systemClock, logger });
    const request = { text: 'Bawo ni', voice: 'Nisha', language: 'yo', speed: 1 };
    const audio = synthesizer.synthesize(request, hangs())[Symbol.asyncIterator]();
    const refusal = await audio.next().catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(SynthesisRefusedError);
    expect(String(refusal)).toContain('no voice for Yoruba (yo)');
    expect(String(refusal)).not.toMatch(/espeak|\+f/);
    expect(lines.join('')).toContain('no espeak voice yo+');
  });

  it('refuses an unknown voice', async () => {
    await expect(speak('hello', 'Nobody')).rejects.toThrow(SynthesisRefusedError);
  });

  it('comes back after its process was killed, and says so meanwhile', async () => {
    await using synthesizer = await startSynthesizer({ clock: systemClock, logger: silentLogger });
    const first = synthesizer.pid;
    const speakOnce = async (): Promise<number> => {
      let samples = 0;
      const request = { text: 'hello', voice: 'Nisha', language: 'en', speed: 1 };
      for await (const { pcm } of synthesizer.synthesize(request, hangs())) samples += pcm.length;
      return samples;
    };
    expect(await speakOnce()).toBeGreaterThan(0);
    process.kill(first!, 'SIGKILL');
    const caught = await untilThrown(speakOnce);
    expect(caught).toBeInstanceOf(SynthesisUnavailableError);
    await expect.poll(() => speakOnce().catch(() => 0), { timeout: HANGS_MS, interval: 100 }).toBeGreaterThan(0);
    expect(synthesizer.pid).not.toBe(first);
  });

  it('speaks English with flite where espeak is not installed', async () => {
    await using synthesizer = await startSynthesizer({ clock: systemClock, logger: silentLogger, without: 'espeak' });
    expect(synthesizer.engine).toBe('flite');
    const request = { text: 'नमस्ते', voice: 'Rajesh', language: 'hi', speed: 1 };
    const audio = synthesizer.synthesize(request, hangs())[Symbol.asyncIterator]();
    await expect(audio.next()).rejects.toThrow(SynthesisRefusedError);
  });
});

/** Runs again until it fails: a killed process is noticed a moment later. */
async function untilThrown(run: () => Promise<unknown>): Promise<unknown> {
  for (let attempt = 0; attempt < 50; attempt += 1) {
    try {
      await run();
    } catch (error) {
      return error;
    }
  }
  return undefined;
}
