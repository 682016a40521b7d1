import { defineConfig } from 'vitest/config';
import { measurePatience } from '../support/patience.ts';

/** `npm run test:long`: fuzz, soak, kills and large files, with printed seeds, and the full runs of what `npm test` runs less often. */
export default defineConfig({
  test: {
    include: [
      'test/long/**/*.test.ts',
      'test/unit/**/*.test.ts',
      'test/integration/{records/erasing-after-kills,platform/containers,platform/medical,platform/engines/engines}.test.ts',
      'test/integration/cli/eval-sound.test.ts',
      'test/integration/{hosts/carriers,hosts/resuming,http/carrier-fuzz}.test.ts',
      'test/contract/{dialling,shared-state}.test.ts',
      'test/e2e/campaign-demo.test.ts',
    ],
    env: { OFFHOOK_TEST_LONG: '1', OFFHOOK_TEST_PATIENCE: String(measurePatience()) },
    setupFiles: ['test/setup.ts'],
    testTimeout: 600_000,
    hookTimeout: 120_000,
    maxWorkers: 1,
    pool: 'forks',
  },
});
