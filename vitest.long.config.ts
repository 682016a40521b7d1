import { defineConfig } from 'vitest/config';

/** `npm run test:long`: fuzz, soak, kills and large files, with printed seeds. */
export default defineConfig({
  test: { include: ['test/long/**/*.test.ts'], testTimeout: 600_000, hookTimeout: 120_000, maxWorkers: 1, pool: 'forks' },
});
