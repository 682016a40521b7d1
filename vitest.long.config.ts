import { defineConfig } from 'vitest/config';

/** `npm run test:long`: fuzz, soak, kills and large files, with printed seeds, and the full runs of what `npm test` runs less often. */
export default defineConfig({
  test: {
    include: [
      'test/long/**/*.test.ts',
      'test/unit/**/*.test.ts',
      'test/integration/{records/erasing-after-kills,platform/containers,platform/medical,platform/engines/engines}.test.ts',
    ],
    env: { OFFHOOK_TEST_LONG: '1' },
    setupFiles: ['test/setup.ts'],
    testTimeout: 600_000,
    hookTimeout: 120_000,
    maxWorkers: 1,
    pool: 'forks',
  },
});
