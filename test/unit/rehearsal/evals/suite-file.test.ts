import { afterAll, describe, expect, it, test } from 'vitest';
import { DESK, EvalFolder } from './eval-folder.ts';

const MODULE = 'name: code\nvoice: Nisha\ndialog: { kind: module, file: code.mjs }\n';
const folder = new EvalFolder({ 'bots/desk.yaml': DESK, 'bots/code.yaml': MODULE });
afterAll(() => folder[Symbol.dispose]());

/** A suite with one scenario, whose lines begin with the third. */
const suite = (scenario: string): string => `bot: desk\nscenarios:\n${scenario}`;
const scenario = (caller: string, expected = '{ end: finished }', more = ''): string =>
  suite(`  - name: one\n    caller: ${caller}\n    expect: ${expected}\n${more}`);

describe('a suite', () => {
  it('is read with its defaults', async () => {
    const [read] = await folder.read(scenario('{ turns: [hours] }'));
    expect(read).toMatchObject({ bot: 'desk', runs: 1, share: 1, at: '2026-03-05T10:00' });
    expect(read?.scenarios[0]).toMatchObject({
      tags: [],
      call: { outbound: false, variables: {} },
      caller: { turns: ['hours'], mumbles: 0, patience: { turns: 30, waitMs: 300_000 } },
    });
  });

  it('calls the bot with the name of its file, where it names none', async () => {
    const [read] = await folder.read('scenarios: [{ name: one, caller: { turns: [hours] }, expect: { end: finished } }]');
    expect(read?.bot).toBe('desk');
  });

  test.each([
    {
      note: 'an unknown key',
      text: scenario('{ turns: [hours] }', '{ ends: finished }'),
      problem: 'scenarios.0.expect.ends (evals/desk.yaml:5): no such key in a suite. Did you mean end?',
    },
    {
      note: 'an unknown key of a turn',
      text: scenario('{ turns: [{ says: hours }] }'),
      problem: 'scenarios.0.caller.turns.0.says (evals/desk.yaml:4): no such key in a suite. Did you mean say?',
    },
    {
      note: 'a turn without an act',
      text: scenario('{ turns: [{ when: Hours }] }'),
      problem:
        /^scenarios\.0\.caller\.turns\.0 \(evals\/desk\.yaml:4\).*: exactly one of say, press, interrupt, silence, hangUp is expected\.$/u,
    },
    {
      note: 'a turn with two acts',
      text: scenario("{ turns: [{ say: hours, press: '1' }] }"),
      problem: /exactly one of say, press, interrupt, silence, hangUp is expected\.$/u,
    },
    {
      note: 'keys without quotes',
      text: scenario('{ turns: [{ press: 12 }] }'),
      problem: 'scenarios.0.caller.turns.0.press (evals/desk.yaml:4) is 12: a text is expected here: put it in quotes.',
    },
    {
      note: 'a regular expression that is none',
      text: scenario('{ turns: [hours] }', '{ hears: [/(/] }'),
      problem: /^scenarios\.0\.expect\.hears\.0 \(evals\/desk\.yaml:5\) is "\/\(\/": \/\(\/ is no regular expression/u,
    },
    {
      note: 'nothing that is expected',
      text: scenario('{ turns: [hours] }', '{}'),
      problem: 'scenarios.0.expect (evals/desk.yaml:5) is {}: an expectation is missing.',
    },
    {
      note: 'a range that holds no number',
      text: scenario('{ turns: [hours] }', '{ turns: { least: 3, most: 2 } }'),
      problem: /^scenarios\.0\.expect\.turns \(evals\/desk\.yaml:5\).*: is impossible: least is above most\.$/u,
    },
    {
      note: 'two answers of one mock',
      text: scenario('{ turns: [hours] }', '{ end: x }', '    mocks: [{ request: /visits, answer: 1, error: reset }]\n'),
      problem:
        /^scenarios\.0\.mocks\.0 \(evals\/desk\.yaml:6\).*: at most one of answer, answers, garbage, error is expected\.$/u,
    },
    {
      note: 'two scenarios of one name',
      text: `${scenario('{ turns: [hours] }')}  - { name: one, caller: { turns: [hours] }, expect: { end: x } }\n`,
      problem: 'scenarios.1.name (evals/desk.yaml:6) is "one": another scenario has this name.',
    },
    {
      note: 'an unknown bot',
      text: 'bot: dsk\nscenarios: [{ name: one, caller: { turns: [hours] }, expect: { end: x } }]',
      problem: 'bot (evals/desk.yaml:1): there is no sound bot "dsk"; the bots here are: code, desk. Did you mean desk?',
    },
    {
      note: 'no YAML',
      text: 'bot: [',
      problem: /^evals\/desk\.yaml \(evals\/desk\.yaml:1\): not readable as YAML/u,
    },
  ])('refuses $note, with its line', async ({ text, problem }) => {
    const problems = await folder.problemsOf(text);
    expect(problems).toEqual([typeof problem === 'string' ? problem : expect.stringMatching(problem)]);
  });
});

describe('what no call can meet', () => {
  test.each([
    {
      note: 'a state that the flow does not have',
      text: scenario('{ turns: [{ when: { step: dya }, say: x }] }'),
      problem:
        'scenarios.0.caller.turns.0.when.step (evals/desk.yaml:4): is impossible: the flow of desk has no state "dya". Did you mean day?',
    },
    {
      note: 'a slot that the flow does not have',
      text: scenario('{ turns: [hours] }', '{ variables: { dya: x } }'),
      problem:
        'scenarios.0.expect.variables.dya (evals/desk.yaml:5): is impossible: the flow of desk has no slot "dya". Did you mean day?',
    },
    {
      note: 'a question for what is neither slot nor kind of value',
      text: scenario('{ turns: [{ when: { asks: colour }, say: x }] }'),
      problem: /is impossible: "colour" is no slot of desk and no kind of value/u,
    },
    {
      note: 'a path that the flow does not ask',
      text: scenario('{ turns: [hours] }', '{ end: x }', '    mocks: [{ request: /visit }]\n'),
      problem:
        'scenarios.0.mocks.0.request (evals/desk.yaml:6): is impossible: no request of desk has this path. Did you mean /visits?',
    },
    {
      note: 'a text that is to be heard and never to be heard',
      text: scenario('{ turns: [hours] }', '{ hears: [open], neverHears: [open] }'),
      problem: /is impossible: hears expects the same text/u,
    },
    {
      note: 'a model of a bot that has none',
      text: scenario('{ turns: [hours] }', '{ end: x }', '    mocks: [{ request: model }]\n'),
      problem: /is impossible: desk is a bot of the kind flow/u,
    },
    {
      note: 'the disposition of an inbound call',
      text: scenario('{ turns: [hours] }', '{ disposition: completed }'),
      problem: /is impossible: only outbound calls have a disposition/u,
    },
  ])('names $note', async ({ text, problem }) => {
    expect(await folder.problemsOf(text)).toEqual([typeof problem === 'string' ? problem : expect.stringMatching(problem)]);
  });

  it('takes any step and variable of a bot whose dialog is not known before a call', async () => {
    const text = scenario('{ turns: [{ when: { step: any, asks: time }, say: x }] }', '{ variables: { any: x } }');
    expect(await folder.problemsOf(text.replace('bot: desk', 'bot: code'))).toEqual([]);
  });
});

it('reports every problem of a suite at once', async () => {
  const text = scenario('{ turns: [{ when: { step: a, asks: b }, say: x }] }', '{ steps: [c], variables: { d: x } }');
  expect(await folder.problemsOf(text)).toHaveLength(4);
});

it('says that a file cannot be read', async () => {
  const { readSuites } = await import('../../../../src/rehearsal/evals/suite-file.ts');
  const { problems } = await readSuites([`${folder.path}/none.yaml`], folder.bots);
  expect(problems[0]?.message).toContain('cannot be read');
});
