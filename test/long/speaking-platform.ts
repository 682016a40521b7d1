import { systemClock } from '../../src/kernel/clock.ts';
import { silentLogger } from '../../src/observability/logger.ts';
import { startSynthesizer } from '../../src/platform/engines/synth/synthesizer.ts';
import { startTestPlatform, type TestPlatform } from '../integration/platform/setup.ts';
import { ToneRecogniser } from '../integration/platform/tone-engines.ts';

/** The platform with its real voices. Disposal ends these too. */
export async function startSpeakingPlatform() {
  const synthesis = await startSynthesizer({ clock: systemClock, logger: silentLogger });
  const test: TestPlatform = await startTestPlatform({ engines: { synthesis, recognition: new ToneRecogniser() } });
  return {
    test,
    synthesis,
    async [Symbol.asyncDispose](): Promise<void> {
      await test[Symbol.asyncDispose]();
      await synthesis[Symbol.asyncDispose]();
    },
  };
}
