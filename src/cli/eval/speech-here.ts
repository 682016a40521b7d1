import { join } from 'node:path';
import type { Bot } from '../../config/bots.ts';
import type { LoadedConfig } from '../../config/load.ts';
import { vocabularyOf } from '../../dialog/bot-dialog.ts';
import { systemClock } from '../../kernel/clock.ts';
import type { PatientClock } from '../../kernel/patient-clock.ts';
import { silentLogger } from '../../observability/logger.ts';
import { createEngines } from '../../platform/engines/engines.ts';
import type { RecognitionEngine } from '../../platform/engines/recognise/port.ts';
import type { SynthesisChunk, SynthesisEngine } from '../../platform/engines/synth/port.ts';
import { newSigningKeys, type SigningKeys } from '../../platform/keys/tokens.ts';
import { readFaults } from '../../platform/server/faults/faults.ts';
import { type PlatformEngines, type RunningPlatform, startPlatform } from '../../platform/server/start.ts';
import { usedModelsFolder } from '../setup/speech-settings.ts';
import { Progress } from '../shell/progress.ts';

/** The embedded speech engines in this process, from which each stage has a platform on its own clock. */
export class SpeechHere implements AsyncDisposable {
  readonly #engines: PlatformEngines;
  readonly #signingKeys: SigningKeys;
  readonly #settings: LoadedConfig['settings'];

  private constructor(engines: PlatformEngines, signingKeys: SigningKeys, settings: LoadedConfig['settings']) {
    this.#engines = engines;
    this.#signingKeys = signingKeys;
    this.#settings = settings;
  }

  /** Starts the engines, and has them learn what callers of these bots can answer. @throws as `createEngines` */
  static async start({ settings }: LoadedConfig, bots: readonly Bot[]): Promise<SpeechHere> {
    const { vocabularyFolder, vocabulary, threads } = settings.platform;
    const engines = await createEngines({
      cacheFolder: join(settings.dataDir, 'platform', 'cache'),
      vocabularyFolder,
      modelsFolder: await usedModelsFolder(settings),
      threads,
      // Their deadlines are about real work.
      clock: systemClock,
    });
    const here = new SpeechHere(engines, await newSigningKeys(), settings);
    if (vocabulary !== 'files') await learnt(engines.recognition, bots);
    return here;
  }

  /** A platform over these engines, whose clock stands still while they work: its time is the call's. */
  startOn(patient: PatientClock, dataDir: string): Promise<RunningPlatform> {
    const { profile, vocabulary, faults = '' } = this.#settings.platform;
    return startPlatform({
      basePort: 0,
      engines: {
        ...this.#engines,
        recognition: heldRecognition(this.#engines.recognition, patient, vocabulary),
        synthesis: heldSynthesis(this.#engines.synthesis, patient),
      },
      signingKeys: this.#signingKeys,
      clock: patient.clock,
      logger: silentLogger,
      profile,
      ...(faults.trim() === '' ? {} : { faults: readFaults(faults) }),
      dataDir,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { recognition, synthesis, speakers } = this.#engines;
    await recognition[Symbol.asyncDispose]();
    await synthesis[Symbol.asyncDispose]();
    await speakers?.[Symbol.asyncDispose]();
  }
}

/** Resolves when the phrases of the bots are learnt: what is heard must not depend on how far that is. */
async function learnt(recognition: RecognitionEngine, bots: readonly Bot[]): Promise<void> {
  if (recognition.teach === undefined) return;
  const vocabulary = await vocabularyOf(bots);
  using progress = new Progress("learning the bots' phrases");
  await new Promise<void>((resolve) => {
    recognition.teach?.(vocabulary, ({ of, learnt: done, failed }) => {
      progress.update(`${done + failed} of ${of}`, of === 0 ? 1 : (done + failed) / of);
      if (done + failed >= of) resolve();
    });
  });
}

/** @param vocabulary `files`: callers are heard by the vocabulary's files alone, and no hint is learnt either */
function heldRecognition(
  engine: RecognitionEngine,
  patient: PatientClock,
  vocabulary: LoadedConfig['settings']['platform']['vocabulary'],
): RecognitionEngine {
  return {
    languages: engine.languages,
    ...(engine.builtIn === undefined ? {} : { builtIn: engine.builtIn }),
    ...(engine.modelLanguages === undefined ? {} : { modelLanguages: engine.modelLanguages }),
    open(options, listener) {
      const stream = engine.open(
        vocabulary === 'files' ? { ...options, boostPhrases: [], listedPhrases: [] } : options,
        listener,
      );
      return {
        push: (pcm) => stream.push(pcm),
        commit: () => patient.hold(stream.commit()),
        close: () => stream.close(),
      };
    },
    // The engines are shared.
    [Symbol.asyncDispose]: async () => undefined,
  };
}

function heldSynthesis(engine: SynthesisEngine, patient: PatientClock): SynthesisEngine {
  return {
    voices: engine.voices,
    defaultVoice: engine.defaultVoice,
    synthesize: (request, signal) => heldSteps(engine.synthesize(request, signal), patient),
    [Symbol.asyncDispose]: async () => undefined,
  };
}

async function* heldSteps(chunks: AsyncIterable<SynthesisChunk>, patient: PatientClock): AsyncIterable<SynthesisChunk> {
  const steps = chunks[Symbol.asyncIterator]();
  try {
    for (;;) {
      const step = await patient.hold(steps.next());
      if (step.done === true) return;
      yield step.value;
    }
  } finally {
    await steps.return?.();
  }
}
