import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { defaultThreads, RecogniserPool, withModelRecognition } from '../../../src/platform/engines/models/model-recognition.ts';
import { openModels } from '../../../src/platform/engines/models/open-models.ts';
import { startWorker } from '../../../src/kernel/entry-file.ts';
import { writeTinyRecogniser } from '../../support/onnx/tiny-recognisers.ts';
import { soundOf } from '../../support/onnx/tiny-words.ts';
import { ToneRecogniser } from './tone-engines.ts';
import { untilPasses } from '../../support/eventually.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'offhook-models-'));
  mkdirSync(join(folder, 'recognition'));
  writeTinyRecogniser(join(folder, 'recognition', 'ta'), { kind: 'streaming-transducer', languages: ['ta'] });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));
const opened = () => openModels(folder, systemClock, silentLogger);

describe('recognition by models', () => {
  it('hears the languages of a model in threads, and leaves the others to the built-in recogniser', async () => {
    const info = vi.fn();
    const builtIn = new ToneRecogniser();
    const models = { ...(await opened()), logger: { ...silentLogger, info } };
    await using engine = await withModelRecognition(builtIn, models, 2);
    expect(engine.languages).toEqual(['en', 'hi', 'ta']);
    const streams = Array.from({ length: 3 }, () =>
      engine.open({ language: 'ta', rateHz: 8_000, boostPhrases: [] }, () => undefined),
    );
    for (const stream of streams) stream.push(soundOf(['doctor', 'yes'], 8_000));
    for (const stream of streams) expect(await stream.commit()).toMatchObject([{ text: 'doctor yes', language: 'ta' }]);
    for (const language of ['en', 'auto']) engine.open({ language, rateHz: 8_000, boostPhrases: [] }, () => undefined).close();
    expect(builtIn.opened.map(({ language }) => language)).toEqual(['en', 'auto']);
    expect(info).toHaveBeenCalledWith(
      expect.objectContaining({
        models: [{ name: 'recognition-ta', kind: 'streaming-transducer', languages: ['ta'] }],
        threads: 2,
        memoryMb: expect.any(Number),
      }),
      'recognition models ready',
    );
  });

  it('opens no second copy of a model that serves two languages', async () => {
    symlinkSync('ta', join(folder, 'recognition', 'te'));
    const { models } = await opened();
    expect(models.recognition.map(({ languages }) => languages)).toEqual([['ta', 'te']]);
  });

  it('fails the streams of a thread that died, gives new ones to the others, and restarts it', async () => {
    const models = await opened();
    const workers: Worker[] = [];
    const startThread = (): Worker => {
      const { modelsFolder, models: used } = models;
      const worker = startWorker(
        new URL('../../../src/platform/engines/models/model-recognition.ts', import.meta.url).href,
        'recognition-worker',
        { modelsFolder, models: used },
      );
      workers.push(worker);
      return worker;
    };
    await using pool = new RecogniserPool(2, { languages: ['ta'], startThread, clock: systemClock, logger: silentLogger });
    await pool.start();
    const open = () => pool.open({ language: 'ta', rateHz: 8_000, boostPhrases: [] }, () => undefined);
    // One on each thread: the first one's dies.
    const [first, second] = [open(), open()];
    await workers[0]?.terminate();
    await expect(first.commit()).rejects.toMatchObject({ code: 'OFFHOOK_RECOGNITION_UNAVAILABLE' });
    const third = open();
    for (const stream of [second, third]) {
      stream.push(soundOf(['one'], 8_000));
      expect(await stream.commit()).toMatchObject([{ text: 'one' }]);
    }
    await untilPasses(() => expect(workers).toHaveLength(3));
    await untilPasses(async () => {
      const fourth = open();
      fourth.push(soundOf(['two'], 8_000));
      expect(await fourth.commit()).toMatchObject([{ text: 'two' }]);
    });
  });

  it('closes while a segment is being decoded, and fails its commit', async () => {
    writeTinyRecogniser(join(folder, 'whisper'), { kind: 'whisper', name: 'whisper', languages: ['en'] });
    writeFileSync(join(folder, 'used.json'), JSON.stringify({ recognition: { en: 'whisper' } }));
    const engine = await withModelRecognition(new ToneRecogniser(), await opened(), 1);
    const stream = engine.open({ language: 'en', rateHz: 8_000, boostPhrases: [] }, () => undefined);
    stream.push(
      soundOf(
        Array.from({ length: 60 }, () => 'one'),
        8_000,
      ),
    );
    const answer = stream.commit().then(
      () => 'answered',
      (error: unknown) => error,
    );
    await engine[Symbol.asyncDispose]();
    expect(await answer).toMatchObject({ code: 'OFFHOOK_RECOGNITION_UNAVAILABLE' });
  });

  it('names the model and the file that is damaged before the platform starts', async () => {
    truncateSync(join(folder, 'recognition', 'ta', 'encoder.onnx'), 200);
    await expect(opened()).rejects.toThrow(
      /the model recognition-ta \(streaming-transducer, files in .*recognition\/ta\) cannot be opened: .*encoder\.onnx/u,
    );
    writeFileSync(join(folder, 'recognition', 'ta', 'tokens.txt'), 'no tokens');
    await expect(opened()).rejects.toThrow(/the model recognition-ta .* cannot be opened/u);
  });

  it.each([
    { cores: 1, memoryGb: 8, modelMb: 70, threads: 1 },
    { cores: 8, memoryGb: 16, modelMb: 70, threads: 7 },
    { cores: 32, memoryGb: 16, modelMb: 700, threads: 3 },
    { cores: 2, memoryGb: 1, modelMb: 700, threads: 1 },
    { cores: 128, memoryGb: 512, modelMb: 70, threads: 64 },
  ])(
    'takes $threads threads on $cores cores with $memoryGb GB for models of $modelMb MB',
    ({ cores, memoryGb, modelMb, threads }) => {
      expect(defaultThreads(cores, memoryGb * 1e9, modelMb * 1e6)).toBe(threads);
    },
  );
});
