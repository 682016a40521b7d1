import { defineConfig } from 'vitest/config';

const shared = { setupFiles: ['test/setup.ts'], hookTimeout: 60_000, pool: 'forks' as const };
/** Phone calls in real time: mostly waiting, but what they measure suffers beside a busy neighbour. */
const calls = ['test/e2e/demo.test.ts', 'test/faults/**/*.test.ts', 'test/integration/gateway/**/*.test.ts'];

/** Everything `npm test` runs: Node alone is enough; what needs a server or a browser skips with a reason. */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...shared,
          name: 'units',
          include: ['test/unit/**/*.test.ts'],
          testTimeout: 60_000,
          // Pure parts, which keep nothing between tests: loading the program anew for each file would be most of their time.
          isolate: false,
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...shared,
          name: 'parts',
          include: ['test/**/*.test.ts'],
          exclude: ['test/unit/**', 'test/long/**', ...calls],
          testTimeout: 60_000,
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      { test: { ...shared, name: 'calls', include: calls, testTimeout: 90_000, maxWorkers: 2, sequence: { groupOrder: 2 } } },
    ],
  },
});
