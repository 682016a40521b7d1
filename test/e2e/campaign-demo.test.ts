import { expect, it } from 'vitest';
import { lastJson, runCommand } from '../support/command.ts';

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

it('exits with 1 when the gate lets numbers of the do-not-call list pass', async () => {
  const finished = await runCommand(['campaign', 'demo', '--tamper', 'suppression']);
  expect(finished.code).toBe(1);
  expect(finished.stdout).toContain('It does not add up.');
  expect(finished.stdout).toContain('wrong  10 people wanted no more calls');
  expect(finished.stderr).toContain('completed after 1 call(s) where refused (suppressed) after 0 call(s) was expected');
});
