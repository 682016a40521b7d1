import { afterAll, expect, it, test } from 'vitest';
import { SoundDepth } from '../../../../src/cli/eval/sound-depth.ts';
import { MockedWorld } from '../../../../src/rehearsal/evals/mocked-world.ts';
import { ScriptedCaller } from '../../../../src/rehearsal/evals/scripted-caller.ts';
import { SeededRandom } from '../../../../src/rehearsal/evals/seeded-random.ts';
import { DESK, EvalFolder } from '../../rehearsal/evals/eval-folder.ts';

const folder = new EvalFolder({ 'bots/desk.yaml': DESK });
afterAll(() => folder[Symbol.dispose]());

it('calls no carrier that is not simulated', () => {
  expect(() => new SoundDepth('acme', [])).toThrow(/^evals call only simulated carriers, and "acme" is none: twilio, asterisk/u);
});

test.each([
  { what: 'an outbound call', scenario: 'call: { outbound: true }, caller: { turns: [hours] }' },
  { what: 'mocks', scenario: "caller: { turns: [hours] }, mocks: [{ request: '*' }]" },
  { what: 'an interruption', scenario: 'caller: { turns: [{ interrupt: hours }] }' },
])('plays no scenario with $what, and says so', async ({ what, scenario }) => {
  const [suite] = await folder.read(`scenarios: [{ name: one, ${scenario}, expect: { end: finished } }]`);
  const [first] = suite!.scenarios;
  await using sound = new SoundDepth('twilio', folder.bots);
  const call = await sound.rehearse({
    gateway: { settings: {} as never, bots: folder.bots },
    bot: folder.bots[0]!,
    suite: suite!,
    scenario: first!,
    seed: 1,
    caller: new ScriptedCaller(first!.caller, new SeededRandom(1, 'one')),
    world: new MockedWorld(undefined),
    deadlineMs: 1000,
    dispositionOf: () => undefined,
  });
  expect(call.end).toBe('not-begun');
  expect(call.problems).toEqual([`the scenario has ${what}, which is for depth text`]);
});
