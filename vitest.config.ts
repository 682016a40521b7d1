import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.ts';
import { measurePatience } from './test/support/patience.ts';
import { SkippedTable } from './test/support/skipped-table.ts';

const patience = measurePatience();

const skipped = new SkippedTable();

/** Everything `npm test` runs: Node alone is enough; what needs a server or a browser skips with a reason. */
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/long/**'],
    setupFiles: ['test/setup.ts'],
    globalSetup: ['test/support/build-first.ts'],
    sequence: { sequencer: LongestFirst },
    // A test waits for conditions, each with a deadline of its own; how soon they come is the machine's.
    env: { OFFHOOK_TEST_PATIENCE: String(patience), ...skipped.env },
    reporters: ['default', skipped],
    testTimeout: 300_000 * patience,
    hookTimeout: 300_000 * patience,
    expect: { poll: { timeout: 60_000 * patience } },
    pool: 'forks',
    // No file leaves anything behind for the next: loading the program anew for each would be a large part of their time.
    isolate: false,
    // More than there are cores: there is always one that waits for a call, a process or a clock.
    maxWorkers: 4,
  },
});
