// The platform as a process of its own over the tone engines, for tests of what starts and watches it.
import { tmpdir } from 'node:os';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { runPlatform } from '../../../src/platform/main.ts';
import { ToneRecogniser, ToneSynthesizer } from './tone-engines.ts';

await runPlatform({
  port: 0,
  profile: 'plain',
  json: !process.argv.includes('--text'),
  exitWithParent: !process.argv.includes('--alone'),
  dataDir: tmpdir(),
  faults: process.argv.find((word) => word.startsWith('--faults='))?.slice('--faults='.length),
  createEngines: async () => ({ recognition: new ToneRecogniser(), synthesis: new ToneSynthesizer() }),
  clock: systemClock,
  logger: silentLogger,
  process,
});
