import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resample } from '../../../../src/audio/resample.ts';
import { systemClock } from '../../../../src/kernel/clock.ts';
import { silentLogger } from '../../../../src/observability/logger.ts';
import { debianModels } from '../../../../src/platform/engines/pocketsphinx/prepare.ts';
import { withPocketsphinx } from '../../../../src/platform/engines/pocketsphinx/with-pocketsphinx.ts';
import type { RecognitionEngine, RecognitionEngineEvent, RecognitionResult } from '../../../../src/platform/engines/port.ts';
import { EngineProcess } from '../../../../src/platform/engines/synth/engine-process.ts';
import { requirePackage } from '../../../support/requires.ts';

const installed = requirePackage('pocketsphinx-en-us', join(debianModels, 'cmudict-en-us.dict'));
const vocabularyFolder = new URL('../../../../config/platform', import.meta.url).pathname;

/** Finds speech from the first sample to the last, and understands nothing of it. */
class Deaf implements RecognitionEngine {
  readonly languages = ['en', 'hi'];
  disposed = 0;

  open({ language, rateHz }: { language: string; rateHz: number }, listener: (event: RecognitionEngineEvent) => void) {
    let [from, count] = [0, 0];
    const result = (): RecognitionResult => {
      const times = { startS: from / rateHz, endS: count / rateHz };
      from = count;
      return { text: '', words: [], ...times, confidence: 0.1, language, alternatives: [] };
    };
    return {
      push: (pcm: Int16Array) => {
        count += pcm.length;
        // A block of one sample stands for the end of a segment.
        if (pcm.length === 1) listener({ type: 'segment', result: result() });
      },
      commit: () => Promise.resolve([result()]),
      close: () => undefined,
    };
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.disposed += 1;
    return Promise.resolve();
  }
}

describe.skipIf(!installed)("Debian's pocketsphinx", () => {
  const builtIn = new Deaf();
  let cacheFolder = '';
  let engine: RecognitionEngine;
  let words: { inside: Int16Array; outside: Int16Array };

  beforeAll(async () => {
    cacheFolder = mkdtempSync(join(tmpdir(), 'offhook-sphinx-'));
    await using voice = await EngineProcess.start({ engine: 'flite', clock: systemClock, logger: silentLogger });
    const say = async (text: string): Promise<Int16Array> => {
      const { pcm, rateHz } = await voice!.render({ text, voice: 'awb', speed: 1, pitch: 50 });
      return resample(pcm, rateHz, 8_000);
    };
    words = { inside: await say('opening hours'), outside: await say('can you give me your credit card') };
    const common = { vocabularyFolder, cacheFolder, clock: systemClock, logger: silentLogger };
    engine = await withPocketsphinx(builtIn, { use: 'on', ...common });
  }, 60_000);
  afterAll(async () => {
    await engine[Symbol.asyncDispose]();
    expect(builtIn.disposed).toBe(1);
    rmSync(cacheFolder, { recursive: true, force: true });
  });

  it('understands a sentence of the vocabulary that the built-in recogniser did not, and nothing else', async () => {
    const segments: RecognitionResult[] = [];
    const stream = engine.open({ language: 'en', rateHz: 8_000, boostPhrases: [] }, (event) => {
      if (event.type === 'segment') segments.push(event.result);
    });
    for (let at = 0; at < words.inside.length; at += 160) stream.push(words.inside.slice(at, at + 160));
    const first = (await stream.commit())[0]!;
    expect(first.text).toBe('opening hours');
    expect(first.words.map(({ word }) => word)).toEqual(['opening', 'hours']);
    expect(first.endS).toBeLessThanOrEqual(words.inside.length / 8_000 + 0.3);
    stream.push(words.outside);
    expect((await stream.commit())[0]!.text).toBe('');
    // A segment comes before the result of the commit after it.
    stream.push(words.inside);
    stream.push(new Int16Array(1));
    expect((await stream.commit())[0]!.text).toBe('');
    expect(segments.map(({ text }) => text)).toEqual(['opening hours']);
    expect(segments[0]!.startS).toBeGreaterThan(first.endS);
    stream.close();
  }, 60_000);

  it('leaves other languages to the built-in recogniser', async () => {
    const stream = engine.open({ language: 'hi', rateHz: 8_000, boostPhrases: [] }, () => undefined);
    stream.push(words.inside);
    expect(await stream.commit()).toMatchObject([{ text: '', language: 'hi' }]);
    stream.close();
  });
});
