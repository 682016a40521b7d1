import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.ts';

const shared = {
  setupFiles: ['test/setup.ts'],
  hookTimeout: 60_000,
  pool: 'forks' as const,
  // No file leaves anything behind for the next: loading the program anew for each would be a large part of their time.
  isolate: false,
  // Conditions are waited for; how soon they come is the machine's.
  expect: { poll: { timeout: 20_000 } },
  // More than there are cores: there is always one that waits for a call, a process or a clock.
  maxWorkers: 4,
};
/** Phone calls in real time: mostly waiting, but what they measure suffers beside a busy neighbour. */
const calls = [
  'test/e2e/{calling,demo,console/talk}.test.ts',
  'test/faults/**/*.test.ts',
  'test/integration/gateway/**/*.test.ts',
];

/** Everything `npm test` runs: Node alone is enough; what needs a server or a browser skips with a reason. */
export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: { ...shared, name: 'calls', include: calls, testTimeout: 180_000, globalSetup: ['test/support/build-first.ts'] },
      },
      {
        test: {
          ...shared,
          name: 'parts',
          include: ['test/**/*.test.ts'],
          exclude: ['test/long/**', ...calls],
          testTimeout: 60_000,
          // They leave the processors to the calls that run beside them.
          env: { OFFHOOK_TEST_NICE: '10' },
        },
      },
    ],
  },
});
