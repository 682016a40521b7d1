import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { expect, it, vi } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { startWorker } from '../../../src/kernel/entry-file.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { RecogniserPool } from '../../../src/platform/engines/models/model-recognition.ts';
import { openModels } from '../../../src/platform/engines/models/open-models.ts';
import { SpeechPlatform } from '../../../src/speech/platform.ts';
import { PLATFORM_RECOGNITION } from '../../../src/speech/platform-capabilities.ts';
import type { Recogniser, RecognitionEvent } from '../../../src/speech/port.ts';
import { FallbackRecognition } from '../../../src/speech/routing/fallback-recognition.ts';
import { writeTinyRecogniser } from '../../support/onnx/tiny-recognisers.ts';
import { soundOf } from '../../support/onnx/tiny-words.ts';
import { HANGS_MS } from '../../support/patience.ts';
import { startTestPlatform } from './setup.ts';
import { ToneSynthesizer } from './tone-engines.ts';

/** Stands by, and answers a commit with how much it was sent. */
function standby(): Recogniser {
  return {
    capabilities: PLATFORM_RECOGNITION,
    open(_options, listener) {
      let samples = 0;
      queueMicrotask(() => listener({ type: 'ready' }));
      return {
        send: (pcm) => void (samples += pcm.length),
        commit: () => listener({ type: 'final', seg: 0, text: `${samples} samples`, endOfUtterance: true, language: undefined }),
        end: () => Promise.resolve(),
        abort: () => undefined,
      };
    },
  };
}

it('hands a call over to the recogniser that stands by when the thread of a model dies', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-model-handover-'));
  mkdirSync(join(folder, 'recognition'));
  writeTinyRecogniser(join(folder, 'recognition', 'en'), { kind: 'streaming-transducer', languages: ['en'] });
  const { models } = await openModels(folder, systemClock, silentLogger);
  const workers: Worker[] = [];
  const startThread = (): Worker => {
    const home = new URL('../../../src/platform/engines/models/model-recognition.ts', import.meta.url).href;
    const worker = startWorker(home, 'recognition-worker', { modelsFolder: folder, models });
    workers.push(worker);
    return worker;
  };
  const recognition = new RecogniserPool(1, { languages: ['en'], startThread, clock: systemClock, logger: silentLogger });
  await recognition.start();
  await using test = await startTestPlatform({ engines: { recognition, synthesis: new ToneSynthesizer() } });
  const { authUrl, asrUrl, ttsUrl, apiKey } = test.platform;
  await using speech = new SpeechPlatform({ authUrl, asrUrl, ttsUrl, apiKey }, { clock: systemClock, logger: silentLogger });
  const slot = { release: () => undefined };
  const candidate = (name: string, recogniser: Recogniser) => ({ name, recogniser, takeSlot: () => slot, mayIdle: () => true });
  const events: RecognitionEvent[] = [];
  const switches: string[] = [];
  const session = new FallbackRecognition(
    [candidate('model', speech.recogniser), candidate('standby', standby())],
    { language: 'en', sampleRateHz: 8_000 },
    (event) => void events.push(event),
    {
      clock: systemClock,
      watch: {
        switched: (from, to) => void switches.push(`${from.name} to ${to.name}`),
        failed: () => undefined,
        answered: () => undefined,
        finalLateMs: () => HANGS_MS,
      },
    },
  );
  session.start();
  await vi.waitFor(() => expect(events).toContainEqual({ type: 'ready' }), HANGS_MS);
  const said = soundOf(['one', 'two'], 8_000);
  session.send(said);
  await vi.waitFor(() => expect(events).toContainEqual(expect.objectContaining({ type: 'partial' })), HANGS_MS);
  await workers[0]?.terminate();
  // The platform tells of it when the turn is to end.
  session.commit();
  await vi.waitFor(() => expect(switches).toEqual(['model to standby']), HANGS_MS);
  await vi.waitFor(
    () => expect(events).toContainEqual(expect.objectContaining({ type: 'final', text: `${said.length} samples` })),
    HANGS_MS,
  );
  session.abort();
  rmSync(folder, { recursive: true, force: true });
}, 120_000);
