import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The files that take longest, longest first. Started last, one of them would run alone at the end; and a fresh clone has no
 * record of an earlier run to tell them by.
 */
const LONGEST = [
  'test/e2e/demo.test.ts',
  'test/integration/gateway/conversation.test.ts',
  'test/faults/calls.test.ts',
  'test/integration/gateway/fixtures.test.ts',
  'test/integration/gateway/joins.test.ts',
  'test/integration/cli/speech-commands.test.ts',
  'test/integration/store/processes.test.ts',
  'test/e2e/analyse.test.ts',
  'test/e2e/bench.test.ts',
  'test/integration/platform/platform-process.test.ts',
  'test/integration/jobs/queue-faults.test.ts',
  'test/integration/platform/engines/engines.test.ts',
  'test/integration/platform/containers.test.ts',
  'test/integration/jobs/erasing.test.ts',
  'test/peers/shunyalabsai.test.ts',
];

/** Runs long files before short ones, within the order of groups and projects. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = LONGEST.indexOf(relative(this.ctx.config.root, moduleId));
      return at < 0 ? LONGEST.length : at;
    };
    const sorted = await super.sort(files);
    const places = new Map(sorted.map(({ project }, index) => [project.name, index] as const).reverse());
    return sorted.toSorted(
      (one, other) => places.get(one.project.name)! - places.get(other.project.name)! || rank(one) - rank(other),
    );
  }
}
