import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The files that take longest, longest first. Started last, one of them would run alone at the end; and a fresh clone has no
 * record of an earlier run to tell them by.
 */
const LONGEST = [
  'peers/real-model',
  'integration/hosts/resuming',
  'integration/hosts/carriers',
  'integration/http/carrier-fuzz',
  'e2e/campaign-demo',
  'e2e/installed',
  'contract/dialling',
  'integration/cli/conformance-command',
  'integration/cli/eval-sound',
  'e2e/console/talk',
  'e2e/console/calls',
  'e2e/console/call',
  'e2e/console/live',
  'e2e/console/overview',
  'integration/platform/engines/engines',
  'integration/hosts/speech-vendors',
  'e2e/console/campaigns',
  'integration/records/erasing',
  'e2e/demo',
  'e2e/compose',
  'integration/cli/speech-commands',
  'integration/hosts/outbound-processes',
  'integration/hosts/machines',
  'integration/hosts/browser-calls',
  'integration/hosts/conversation',
  'e2e/calling',
  'faults/calls',
  'integration/http/one-call',
  'integration/records/master-key',
  'e2e/lifecycle',
  'e2e/bench',
  'integration/hosts/watching',
  'integration/records/processes',
  'integration/hosts/outbound-calls',
  'integration/hosts/answering',
  'integration/hosts/clinic-server',
  'integration/hosts/stopping',
  'integration/hosts/replayed-webhooks',
  'e2e/console/bots',
  'unit/outbound/campaign-runner',
  'integration/platform/containers',
  'e2e/analyse',
  'e2e/console/system',
  'integration/hosts/bot-settings',
  'integration/http/tenants',
  'contract/dialling-store',
  'e2e/console/sign-in',
  'integration/hosts/carrier-seam',
  'integration/hosts/fail-over',
  'integration/cli/chat-command',
  'integration/hosts/placed-calls-duties',
  'integration/hosts/voicemail',
  'integration/hosts/shedding',
  'integration/outbound/processes',
  'integration/cli/dial-lists',
  'contract/campaigns',
  'integration/platform/whole-platform',
  'integration/records/engine-host',
  'integration/records/dialling-kills',
  'integration/hosts/same-ids',
  'integration/http/submissions',
  'integration/hosts/call-control',
  'contract/queue',
];

/** Runs long files before short ones. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = LONGEST.indexOf(relative(this.ctx.config.root, moduleId).replace(/^test\/|\.test\.ts$/gu, ''));
      return at < 0 ? LONGEST.length : at;
    };
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other));
  }
}
