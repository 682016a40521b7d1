import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The files that take longest, longest first. Started last, one of them would run alone at the end; and a fresh clone has no
 * record of an earlier run to tell them by.
 */
const LONGEST = [
  'test/integration/http/carrier-fuzz.test.ts',
  'test/contract/dialling.test.ts',
  'test/e2e/installed.test.ts',
  'test/integration/hosts/carriers.test.ts',
  'test/e2e/console/call.test.ts',
  'test/e2e/campaign-demo.test.ts',
  'test/e2e/console/live.test.ts',
  'test/integration/hosts/conversation.test.ts',
  'test/peers/real-model.test.ts',
  'test/e2e/demo.test.ts',
  'test/integration/hosts/speech-vendors.test.ts',
  'test/integration/hosts/fail-over.test.ts',
  'test/integration/cli/speech-commands.test.ts',
  'test/e2e/console/talk.test.ts',
  'test/integration/hosts/clinic-server.test.ts',
  'test/e2e/console/campaigns.test.ts',
  'test/e2e/bench.test.ts',
  'test/integration/records/master-key.test.ts',
  'test/integration/records/processes.test.ts',
  'test/integration/platform/engines/engines.test.ts',
  'test/integration/hosts/browser-calls.test.ts',
  'test/integration/hosts/watching.test.ts',
  'test/e2e/console/calls.test.ts',
  'test/e2e/compose.test.ts',
  'test/e2e/console/bots.test.ts',
  'test/faults/calls.test.ts',
  'test/integration/hosts/outbound-calls.test.ts',
  'test/integration/hosts/answering.test.ts',
  'test/e2e/console/system.test.ts',
  'test/e2e/calling.test.ts',
  'test/integration/hosts/outbound-processes.test.ts',
  'test/integration/hosts/live-calls.test.ts',
  'test/integration/hosts/bot-settings.test.ts',
  'test/integration/hosts/carrier-seam.test.ts',
  'test/e2e/lifecycle.test.ts',
  'test/unit/outbound/campaign-runner.test.ts',
  'test/e2e/analyse.test.ts',
  'test/integration/records/erasing.test.ts',
  'test/e2e/console/sign-in.test.ts',
  'test/integration/http/one-call.test.ts',
  'test/integration/platform/containers.test.ts',
  'test/contract/campaigns.test.ts',
  'test/integration/hosts/warm-transfer.test.ts',
  'test/integration/platform/whole-platform.test.ts',
  'test/integration/outbound/processes.test.ts',
  'test/contract/dialling-store.test.ts',
  'test/integration/cli/chat-command.test.ts',
  'test/integration/records/queue-faults.test.ts',
  'test/integration/records/engine-host.test.ts',
  'test/integration/cli/dial-lists.test.ts',
  'test/contract/queue.test.ts',
  'test/integration/hosts/campaign-calls.test.ts',
  'test/integration/hosts/placed-calls-duties.test.ts',
  'test/integration/records/dialling-kills.test.ts',
  'test/integration/hosts/shedding.test.ts',
];

/** Phone calls in real time: mostly waiting, but what they measure suffers beside a busy neighbour. */
const CALLS = /^test\/(?:e2e\/(?:calling|demo|console\/talk)\.|faults\/|integration\/hosts\/)/u;

/** Runs long files before short ones, and calls, which mostly wait, before all that keeps a processor busy. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const file = relative(this.ctx.config.root, moduleId);
      const at = LONGEST.indexOf(file);
      return (at < 0 ? LONGEST.length : at) + (CALLS.test(file) ? 0 : LONGEST.length);
    };
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other));
  }
}
