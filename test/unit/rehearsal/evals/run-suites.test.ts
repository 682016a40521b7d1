import { afterAll, describe, expect, it, test } from 'vitest';
import { shareInterval, verdictOf } from '../../../../src/rehearsal/evals/run-suites.ts';
import { junitOf } from '../../../../src/rehearsal/evals/junit.ts';
import { DESK, EvalFolder, unmetOf } from './eval-folder.ts';

const MODULE = `export async function* respond({ input }) {
  if (input.kind === 'start') return yield 'Hello.';
  if (input.kind !== 'spoken') return;
  if (input.text === 'hang') await new Promise(() => undefined);
  if (input.text === 'ask') {
    const answer = await fetch('https://shop.example/items?key=secret', { method: 'POST', body: JSON.stringify({ item: 'tea' }) });
    yield 'The shop says ' + (await answer.json()).price + '.';
  }
  yield 'What else?';
}
`;
const HTTP = 'name: server\nvoice: Nisha\ndialog: { kind: http, url: "http://127.0.0.1:9/", timeoutMs: 500 }\n';
const MODEL =
  'name: model\nvoice: Nisha\ndialog: { kind: llm, baseUrl: "http://127.0.0.1:9/v1", model: m, greeting: Hello., instructions: Talk., tools: [{ name: stock, description: d, url: "http://127.0.0.1:9/stock" }] }\n';
const folder = new EvalFolder({
  'bots/desk.yaml': DESK,
  'bots/code.yaml': 'name: code\nvoice: Nisha\nnoInputMs: 120000\ndialog: { kind: module, file: code.mjs }\n',
  'bots/code.mjs': MODULE,
  'bots/server.yaml': HTTP,
  'bots/model.yaml': MODEL,
});
afterAll(() => folder[Symbol.dispose]());

const one = (bot: string, rest: string): string => `bot: ${bot}\nscenarios:\n  - name: one\n${rest.replaceAll(/^/gmu, '    ')}\n`;
const outcome = async (bot: string, rest: string, options = {}) => {
  const [result] = await folder.run(one(bot, rest), options);
  return { result: result!, run: result!.runs[0]!, call: result!.runs[0]!.call };
};

describe('a scenario in text', () => {
  it('is a call with the caller, and passes where all is as expected', async () => {
    const { run, call } = await outcome(
      'desk',
      `caller:
  turns: [visit, { when: Which day, say: tomorrow }, { when: { step: check }, say: 'yes' }]
expect: { end: finished, variables: { day: 2026-03-06 }, hears: [I have Friday. Right?, You are booked.], requests: [{ to: /visits, times: 0 }] }`,
    );
    expect(run).toMatchObject({ ok: true, seed: 1, unmet: [], unusedTurns: [] });
    expect(call.steps).toEqual(['welcome', 'day', 'check', 'book', 'booked', 'bye']);
    expect(call.lines.at(1)).toEqual({ who: 'caller', turn: 1, text: 'visit' });
  });

  it('shows the heard line when the bot reads back a wrong day', async () => {
    const wrong = new EvalFolder({ 'bots/desk.yaml': DESK.replace('I have {{ day }}', 'I have Wednesday') });
    try {
      const [result] = await wrong.run(
        one(
          'desk',
          "caller: { turns: [visit, { when: Which day, say: tomorrow }, 'yes'] }\nexpect:\n  hears: [I have Friday. Right?]",
        ),
      );
      expect(result?.runs[0]?.unmet).toEqual([
        {
          keys: ['hears', 0],
          where: `${wrong.path}/evals/desk.yaml:6`,
          expected: 'the caller to hear "I have Friday. Right?"',
          got: 'heard in turn 2: "I have Wednesday. Right?"',
          line: { who: 'bot', turn: 2, text: 'I have Wednesday. Right?', meant: undefined },
        },
      ]);
    } finally {
      wrong[Symbol.dispose]();
    }
  });

  it('is named where the caller has nothing to say, and does not hang', async () => {
    const { run } = await outcome('desk', 'caller: { turns: [visit] }\nexpect: { end: finished }');
    expect(run.unmet[0]?.got).toBe('the caller has no turn for what the bot said: "Which day?" (step day)');
    expect(run.unmet[0]?.where).toContain('evals/desk.yaml:3');
  });

  it('is named where the bot waits for the caller, and the caller for the bot', async () => {
    const { call } = await outcome(
      'code',
      'caller: { turns: [{ silence: true, times: 50 }], patience: { waitMs: 20000 } }\nmocks: []\nexpect: { end: finished }',
    );
    expect(call.failures).toEqual(['the caller got no turn for 20 s']);
    expect(call.end).toBe('deadline');
  });

  it('is given up where the bot never answers', async () => {
    const { call } = await outcome('code', 'caller: { turns: [hang, hello] }\nexpect: { end: finished }', { deadlineMs: 300 });
    expect(call.failures[0]).toMatch(/had not finished its answer/u);
  });

  it('lists the turns that were not taken', async () => {
    const { run } = await outcome(
      'desk',
      'caller:\n  turns:\n    - hours\n    - { when: never, say: x }\nexpect: { end: finished }',
    );
    expect(run.unusedTurns).toEqual([`${folder.path}/evals/desk.yaml:7`]);
  });

  it('is no call where the bot cannot be loaded', async () => {
    const broken = new EvalFolder({ 'bots/code.yaml': 'name: code\nvoice: Nisha\ndialog: { kind: module, file: none.mjs }\n' });
    try {
      const [result] = await broken.run(one('code', 'caller: { turns: [x] }\nexpect: { end: finished, hears: [x] }'), {});
      expect(unmetOf([result!])).toEqual([expect.stringContaining('none.mjs')]);
    } finally {
      broken[Symbol.dispose]();
    }
  });
});

describe('mocks', () => {
  const BOOKS =
    "caller: { turns: [visit, { when: Which day, say: tomorrow, times: 2 }, { when: { step: check }, say: 'yes', times: 2 }] }";

  it('answer the requests of a flow, with a server or without', async () => {
    const { run, call } = await outcome(
      'desk',
      `${BOOKS}\nmocks: [{ request: /visits, answer: { number: '7' } }]\nexpect: { variables: { number: '7' }, requests: [{ to: /visits, with: { day: 2026-03-06 } }] }`,
    );
    expect(unmetOf([{ ...(await outcome('desk', `${BOOKS}\nexpect: { end: finished }`)).result, runs: [run] }])).toEqual([]);
    expect(call.requests).toMatchObject([{ to: '/visits', method: 'POST', outcome: 200 }]);
  });

  it('answer one request after the other, and by what they are sent', async () => {
    const { run, call } = await outcome(
      'desk',
      `caller: { turns: [visit, { when: Which day, say: tomorrow }, { when: That day is taken, say: Monday }, { when: { step: check }, say: 'yes', times: 2 }] }
mocks: [{ request: /visits, with: { day: 2026-03-06 }, status: 409 }, { request: /visits, answer: { number: '8' } }]
expect: { variables: { number: '8', day: 2026-03-09 }, requests: [{ to: /visits, times: 2 }] }`,
    );
    expect(run.unmet).toEqual([]);
    expect(call.requests.map((seen) => seen.outcome)).toEqual([409, 200]);
  });

  test.each([
    { mock: 'error: refused', outcomes: ['refused', 'refused'] },
    { mock: 'error: reset', outcomes: ['reset', 'reset'] },
    { mock: 'error: timeout', outcomes: ['timeout', 'timeout'] },
    { mock: 'status: 503', outcomes: [503, 503] },
    { mock: 'garbage: "<html>"', outcomes: [200] },
    { mock: 'answer: { other: 1 }', outcomes: [200] },
  ])('fail with $mock, and the repeats of a request count as one', async ({ mock, outcomes }) => {
    const { run, call } = await outcome(
      'desk',
      `${BOOKS}\nmocks: [{ request: /visits, ${mock} }]\nexpect: { notes: [No calendar.], hears: [The calendar is closed.], requests: [{ to: /visits }] }`,
    );
    expect(run.unmet).toEqual([]);
    expect(call.requests.map((seen) => seen.outcome)).toEqual(outcomes);
  });

  it('delay on virtual time: the caller is told to wait, and the run takes no longer', async () => {
    const { run } = await outcome(
      'desk',
      `${BOOKS}\nmocks: [{ request: /visits, delayMs: 3500, answer: { number: '7' } }]\nexpect: { hears: ['One moment', You are booked.], times: { replyP95Ms: 6000 } }`,
    );
    expect(run.unmet).toEqual([]);
    expect(run.call.times.replyP95Ms).toBeGreaterThan(3500);
  });

  it('answer for the server of a bot, in its forms', async () => {
    const { run } = await outcome(
      'server',
      `caller: { turns: [tea, { when: else, hangUp: true }] }
mocks: [{ request: bot, answers: [[Hello.], [{ type: set, variables: { item: tea } }, What else?]] }]
expect: { variables: { item: tea }, hears: [Hello., What else?], requests: [{ to: bot, with: { input.text: tea } }] }`,
    );
    expect(run.unmet).toEqual([]);
  });

  it('answer for a model and its tools', async () => {
    const { run } = await outcome(
      'model',
      `caller: { turns: [is there tea, { hangUp: true }] }
mocks:
  - { request: stock, answer: { pieces: 3 } }
  - { request: model, answers: [[{ tool: stock, arguments: { item: tea } }], There are three.] }
expect: { hears: [Hello., There are three.], requests: [{ to: stock, with: { item: tea } }, { to: model, times: 2 }] }`,
    );
    expect(run.unmet).toEqual([]);
  });

  it('answer what the code of a bot asks, by its address without the query', async () => {
    const { run } = await outcome(
      'code',
      `caller: { turns: [ask, { hangUp: true }] }
mocks: [{ request: 'https://shop.example/items', answer: { price: five } }]
expect: { hears: [The shop says five.], requests: [{ to: 'https://shop.example/items', with: { item: tea } }] }`,
    );
    expect(run.unmet).toEqual([]);
  });

  it('are missed by name: nothing goes out that no mock answers', async () => {
    const { call } = await outcome(
      'code',
      "caller: { turns: [ask, { hangUp: true }] }\nmocks: [{ request: '/other' }]\nexpect: { end: x }",
    );
    expect(call.problems).toEqual(['no mock answers POST https://shop.example/items']);
  });

  it('leave the fetch of other code alone, and give it back', async () => {
    const before = globalThis.fetch;
    const running = outcome('code', "caller: { turns: [{ hangUp: true }] }\nmocks: [{ request: '*' }]\nexpect: { end: x }");
    await expect(fetch('data:text/plain,outside').then((response) => response.text())).resolves.toBe('outside');
    await running;
    expect(globalThis.fetch).toBe(before);
  });

  it('are each call its own, when calls are made at the same time', async () => {
    const suite = `bot: code
scenarios:
${[1, 2, 3, 4].map((price) => `  - { name: s${price}, caller: { turns: [ask, { hangUp: true }] }, mocks: [{ request: '*', delayMs: ${price * 100}, answer: { price: ${price} } }], expect: { hears: [The shop says ${price}.] } }`).join('\n')}`;
    expect(unmetOf(await folder.run(suite, { jobs: 4, runs: 2 }))).toEqual([]);
  });
});

describe('repeated runs', () => {
  const FLAKY =
    'caller: { turns: [{ say: { oneOf: [hours, visit] } }], otherwise: { hangUp: true } }\nexpect: { hears: [open all day] }';

  it('name a flaky scenario, and pass it where its share suffices', async () => {
    const [result] = await folder.run(one('desk', FLAKY), { runs: 8 });
    const passed = result!.runs.filter(({ ok }) => ok).length;
    expect(passed).toBeGreaterThan(0);
    expect(passed).toBeLessThan(8);
    expect(verdictOf(result!)).toBe('flaky');
    const [lenient] = await folder.run(one('desk', FLAKY), { runs: 8, share: 0.1 });
    expect(verdictOf(lenient!)).toBe('passed');
  });

  it('play the same call again by its seed', async () => {
    const [result] = await folder.run(one('desk', FLAKY), { runs: 8 });
    for (const run of result!.runs) {
      const [again] = await folder.run(one('desk', FLAKY), { seed: run.seed });
      expect(again!.runs[0]?.call.lines).toEqual(run.call.lines);
      expect(again!.runs[0]?.call.times).toEqual(run.call.times);
    }
  });

  it('stop when asked, and count what was not made', async () => {
    const stop = new AbortController();
    const results = await folder.run(one('desk', FLAKY), {
      runs: 5,
      signal: stop.signal,
      onCall: ({ calls }) => calls === 2 && stop.abort(),
    });
    expect(results[0]?.runs).toHaveLength(2);
    expect(['skipped', 'failed']).toContain(verdictOf(results[0]!));
  });

  test.each([
    { passed: 0, runs: 10, least: 0, most: 0.28 },
    { passed: 7, runs: 10, least: 0.4, most: 0.89 },
    { passed: 10, runs: 10, least: 0.72, most: 1 },
    { passed: 0, runs: 0, least: 0, most: 1 },
  ])('$passed of $runs calls are a share from $least to $most', ({ passed, runs, least, most }) => {
    const interval = shareInterval(passed, runs);
    expect(interval.least).toBeCloseTo(least, 2);
    expect(interval.most).toBeCloseTo(most, 2);
  });
});

it('makes a JUnit document with a test case for each scenario, and the call of a failure', async () => {
  const suite = `bot: desk
scenarios:
  - { name: 'passes & "is quoted"', caller: { turns: [hours] }, expect: { end: finished } }
  - { name: fails, caller: { turns: [hours] }, expect: { end: other } }`;
  const document = junitOf(await folder.run(suite, { runs: 2 }));
  expect(document).toContain('<testsuites name="offhook eval" tests="2" failures="1" errors="0" skipped="0"');
  expect(document).toMatch(
    /<testcase classname="desk" name="passes &amp; &quot;is quoted&quot;" file="[^"]*desk\.yaml" line="3" time="[\d.]+"\/>/u,
  );
  expect(document).toContain(
    'message="0 of 2 runs passed; the call to end with &quot;other&quot;: it ended with &quot;finished&quot;"',
  );
  expect(document).toContain('caller  hours\n');
});
