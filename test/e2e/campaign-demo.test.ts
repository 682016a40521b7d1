import { expect, it } from 'vitest';
import { PEOPLE } from '../../src/cli/campaign-demo/people.ts';
import { runCampaignDemo, TAMPERINGS } from '../../src/cli/campaign-demo/run.ts';
import { lastJson, runCommand } from '../support/command.ts';
import { thorough } from '../support/thorough.ts';

it('calls a hundred simulated people over days, and it adds up', async () => {
  const finished = await runCommand(['campaign', 'demo', '--json']);
  expect(lastJson(finished)).toMatchObject({
    ok: true,
    problems: [],
    contacts: 100,
    attempts: 136,
    outcomes: { completed: 61, 'opt-out': 7, 'message-left': 7, 'wrong-number': 3, refused: 9 },
    refusals: { suppressed: 4, 'no-consent': 2, 'consent-expired': 1, 'line-type': 1, 'number-invalid': 1 },
    doubleDials: 0,
    outsideWindow: 0,
    optOuts: 10,
    optOutsKept: 10,
    callBacksKept: 4,
    file: { rows: 107, added: 100, duplicates: 3, refused: 4 },
  });
  expect(finished.code).toBe(0);
});

it.each(thorough<readonly (typeof TAMPERINGS)[number][]>(TAMPERINGS.slice(0, 1), TAMPERINGS))(
  'does not add up when %s is broken',
  async (tampering) => {
    // Eight of them: one wants no more calls, one is on the list, the others answer or do not.
    const people = PEOPLE.slice(38, 46);
    const { ok, doubleDials, outsideWindow, optOuts, optOutsKept, problems } = await runCampaignDemo({ tampering, people });
    expect(ok).toBe(false);
    expect(problems).not.toEqual([]);
    if (tampering === 'suppression') expect(optOutsKept).toBeLessThan(optOuts);
    if (tampering === 'twice') expect(doubleDials).toBeGreaterThan(0);
    if (tampering === 'hours') expect(outsideWindow).toBeGreaterThan(0);
  },
);
