import { afterAll, afterEach, beforeAll, describe, expect, it, test } from 'vitest';
import { BotServer } from '../../../integration/dialog/bot-server.ts';
import { DESK, EvalFolder, unmetOf } from './eval-folder.ts';

interface Asked {
  readonly model: string;
  readonly seed: number;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
}

/** What the fake model answers: a text, or an HTTP status. */
let answerTo: (asked: Asked) => string | number = () => '';
const asked: Asked[] = [];
const server = new BotServer((response, { body, headers }) => {
  const request = JSON.parse(body) as Asked;
  asked.push(request);
  const answer = headers['authorization'] === 'Bearer key' ? answerTo(request) : 401;
  if (typeof answer === 'number')
    return void response.writeHead(answer, { 'content-type': 'application/json' }).end('{"error":{"message":"no"}}');
  const choices = [{ index: 0, message: { role: 'assistant', content: answer }, finish_reason: 'stop' }];
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ choices, usage: { total_tokens: 100 } }));
});
const folder = new EvalFolder({ 'bots/desk.yaml': DESK });
const env = { MODEL_KEY: 'key' };
let url = '';
beforeAll(async () => {
  url = await server.listen();
});
afterEach(() => void asked.splice(0));
afterAll(async () => {
  folder[Symbol.dispose]();
  await server[Symbol.asyncDispose]();
});

const suite = (scenario: string, model = ''): string => `bot: desk
model: { baseUrl: "${url}/v1", model: judge-1, secretEnv: MODEL_KEY${model} }
scenarios:
  - name: one
${scenario.replaceAll(/^/gmu, '    ')}
`;
const run = async (scenario: string, model = '') => (await folder.run(suite(scenario, model), { env }))[0]!.runs[0]!;

describe('a persona', () => {
  const PERSONA = `caller: { persona: { goal: a visit tomorrow, facts: { name: Asha }, manner: in a hurry }, patience: { turns: 6 } }`;

  it('is played by the model, which is told goal and facts, and what the bot says', async () => {
    answerTo = ({ messages }) => {
      const said = messages.at(-1)?.content ?? '';
      if (said.includes('Hours, or a visit')) return 'Sure: {"say": "a visit please"}';
      if (said.includes('Which day')) return '{"say": "tomorrow"}';
      return said.includes('Right?') ? '{"press": "1"}' : '{"hangUp": true}';
    };
    const result = await run(
      `${PERSONA}\nmocks: [{ request: /visits, answer: { number: '7' } }]\nexpect: { end: finished, variables: { day: 2026-03-06, number: '7' } }`,
    );
    expect(result.unmet).toEqual([]);
    expect(result.tokens).toBe(300);
    const [first] = asked;
    expect(first).toMatchObject({ model: 'judge-1', seed: 1 });
    expect(first?.messages[0]?.content).toMatch(
      /Your goal: a visit tomorrow\n.*\n- name: Asha\n.*How you talk: in a hurry\n.*"en"/su,
    );
  });

  it('ends after its turns, and says what the bot said last', async () => {
    answerTo = () => '{"say": "the quick brown fox"}';
    const result = await run(`${PERSONA.replace('turns: 6', 'turns: 2')}\nexpect: { end: finished }`);
    expect(result.unmet[0]?.got).toMatch(/^the caller gave up after 2 turns of their own; the bot said last: "/u);
  });

  test.each([
    { note: 'garbage', answer: 'I am a caller', got: /^the caller: the model answered garbage: .*it said "I am a caller"$/u },
    { note: 'another form', answer: '{"shout": "x"}', got: /^the caller: the model answered garbage: .*it said "\{\\"shout/u },
    { note: 'an error', answer: 403, got: /^the caller: the model has no answer: 403/u },
  ])('is named where the model answers with $note', async ({ answer, got }) => {
    answerTo = () => answer;
    const result = await run(`${PERSONA}\nexpect: { end: finished }`);
    expect(result.unmet[0]?.got).toMatch(got);
  });

  it('may answer garbage once', async () => {
    let count = 0;
    answerTo = () => ((count += 1) === 1 ? 'hm' : '{"hangUp": true}');
    expect((await run(`${PERSONA}\nexpect: { end: caller-hangup }`)).unmet).toEqual([]);
    expect(asked[1]?.messages.at(-1)?.content).toContain('That cannot be used');
  });

  it('costs no more than the suite allows', async () => {
    answerTo = () => '{"say": "the quick brown fox"}';
    const result = await run(`${PERSONA}\nexpect: { end: finished }`, ', mostTokens: 150');
    expect(result.unmet[0]?.got).toBe('the caller: the model has used 200 tokens in this call, of 150');
    expect(asked).toHaveLength(2);
  });
});

describe('a judge', () => {
  const CALL = 'caller: { turns: [hours] }\nexpect: { judge: [The bot greets the caller, The bot books a visit] }';
  const verdicts = (...given: object[]): string => JSON.stringify({ verdicts: given });

  it('passes what it finds true, and shows the quoted line of what it does not', async () => {
    answerTo = () =>
      verdicts(
        { number: 1, yes: true, line: 1, quote: 'hello, this is the desk' },
        { number: 2, yes: false, line: 3, quote: 'We are open all day.' },
      );
    const result = await run(CALL);
    expect(result.unmet).toMatchObject([
      {
        keys: ['judge', 1],
        where: expect.stringMatching(/desk\.yaml:6$/u),
        expected: 'that "The bot books a visit" is true',
        got: 'the judge says no: "We are open all day."',
        line: { who: 'bot', turn: 1 },
      },
    ]);
    expect(asked[0]?.messages[1]?.content).toContain('1. bot: Hello, this is the desk.');
    expect(asked[0]?.messages[1]?.content).toContain('2. The bot books a visit');
  });

  it('needs no line for what never happened', async () => {
    answerTo = () => verdicts({ number: 1, yes: true, line: 1, quote: 'Hello' }, { number: 2, yes: false });
    expect(unmetOf(await folder.run(suite(CALL), { env }))).toEqual([
      'one: expected that "The bot books a visit" is true, got the judge says no',
    ]);
  });

  test.each([
    {
      note: 'a quotation that is not in its line',
      given: [
        { number: 1, yes: true, line: 1, quote: 'Good day' },
        { number: 2, yes: false },
      ],
      got: /quotation for sentence 1 is not in the line/u,
    },
    {
      note: 'a yes without a quotation',
      given: [
        { number: 1, yes: true },
        { number: 2, yes: false },
      ],
      got: /quotation for sentence 1/u,
    },
    {
      note: 'a line that there is none of',
      given: [
        { number: 1, yes: true, line: 99, quote: 'Hello' },
        { number: 2, yes: false },
      ],
      got: /quotation for sentence 1/u,
    },
    {
      note: 'a verdict too few',
      given: [{ number: 1, yes: true, line: 1, quote: 'Hello' }],
      got: /a verdict on each of the 2 sentences is expected/u,
    },
  ])('is not believed with $note', async ({ given, got }) => {
    answerTo = () => verdicts(...given);
    const result = await run(CALL);
    expect(result.unmet).toHaveLength(1);
    expect(result.unmet[0]?.got).toMatch(got);
    expect(asked).toHaveLength(2);
  });
});

it('says before any call that the key of the model is missing', async () => {
  await expect(folder.run(suite('caller: { turns: [hours] }\nexpect: { judge: [x] }'))).rejects.toThrow(
    "MODEL_KEY is not set, which the suite's model needs",
  );
});

it('refuses a persona or a judge without a model, and a persona beside turns', async () => {
  const without = (scenario: string) => folder.problemsOf(suite(scenario).replace(/^model.*\n/mu, ''));
  expect(await without('caller: { persona: { goal: x } }\nexpect: { end: x }')).toEqual([
    expect.stringMatching(/^scenarios\.0\.caller\.persona \(evals\/desk\.yaml:4\).*needs the model of the suite\.$/u),
  ]);
  expect(await without('caller: { turns: [x] }\nexpect: { judge: [x] }')).toEqual([
    expect.stringContaining('needs the model of the suite'),
  ]);
  expect(await folder.problemsOf(suite('caller: { turns: [x], persona: { goal: x } }\nexpect: { end: x }'))).toEqual([
    expect.stringContaining('exactly one of turns, persona and recorded is expected'),
  ]);
});
