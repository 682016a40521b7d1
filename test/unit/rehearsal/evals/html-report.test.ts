import { afterAll, expect, it } from 'vitest';
import { htmlReport } from '../../../../src/rehearsal/evals/html-report.ts';
import { DESK, EvalFolder } from './eval-folder.ts';

const folder = new EvalFolder({ 'bots/desk.yaml': DESK });
afterAll(() => folder[Symbol.dispose]());

it('has the sound of each failed call that has one, and none of those that passed', async () => {
  const results = await folder.run(`runs: 2
scenarios:
  - { name: passes, caller: { turns: [hours] }, expect: { end: finished } }
  - { name: fails, caller: { turns: [hours] }, expect: { end: other } }`);
  const [, failed] = results;
  const sound = Uint8Array.of(82, 73, 70, 70);
  const html = htmlReport(results, {
    seed: 1,
    madeAt: '2026-01-01T00:00:00Z',
    soundOf: (call) => (call === failed?.runs[0]?.call ? sound : undefined),
  });
  expect(html.match(/<audio controls[^>]*src="[^"]*"/gu)).toEqual([
    '<audio controls preload="none" src="data:audio/wav;base64,UklGRg=="',
  ]);
  expect(html.indexOf('<audio')).toBeGreaterThan(html.indexOf('<summary>fails'));
});
