import { defineConfig } from 'vitest/config';

/** Everything `npm test` runs: Node alone is enough; what needs a server or a browser skips with a reason. */
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/long/**'],
    setupFiles: ['test/setup.ts'],
    testTimeout: 20_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    pool: 'forks',
    reporters: ['default'],
  },
});
