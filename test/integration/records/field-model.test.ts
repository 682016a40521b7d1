import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Secret } from '../../../src/config/secrets.ts';
import { FieldModel } from '../../../src/records/analysis/model-fields.ts';
import { analysisProfile } from '../../../src/records/analysis/profile.ts';
import { talk } from '../../unit/records/analysis/talk.ts';
import { hangs } from '../../support/patience.ts';
import { type Loopback, onLoopback } from '../../support/loopback.ts';

interface Asked {
  readonly authorization: string | undefined;
  readonly body: { messages: { role: string; content: string }[]; response_format: { json_schema: { schema: unknown } } };
}

describe('FieldModel', () => {
  let loopback: Loopback;
  let model: FieldModel;
  let answers: (string | number)[] = [];
  let asked: Asked[] = [];

  const { fields, model: settings } = analysisProfile.parse({
    name: 'p',
    model: { baseUrl: 'http://127.0.0.1:1', name: 'small', instructions: 'Be careful.' },
    fields: [
      { name: 'reason', type: 'choice', from: 'model', choices: { refund: [], delay: [] }, by: 'customer' },
      { name: 'amount', type: 'integer', from: 'model', description: 'In rupees' },
      { name: 'day', type: 'date', from: 'model' },
    ],
  });

  beforeAll(async () => {
    const server = createServer((request, response) => {
      void (async () => {
        asked.push({ authorization: request.headers.authorization, body: (await json(request)) as Asked['body'] });
        const answer = answers.shift() ?? 500;
        response.writeHead(typeof answer === 'number' ? answer : 200, { 'content-type': 'application/json' });
        const message = { role: 'assistant', content: answer };
        response.end(typeof answer === 'number' ? '{"error":{"message":"no"}}' : JSON.stringify({ choices: [{ message }] }));
      })();
    });
    loopback = await onLoopback(server);
    model = new FieldModel({ ...settings!, baseUrl: `${loopback.url}/v1` }, new Secret('the-key'));
  });
  afterAll(() => loopback[Symbol.asyncDispose]());
  beforeEach(() => {
    answers = [];
    asked = [];
  });

  const said = talk(
    'agent: How can I help?',
    'customer: I want my 1,250 rupees back, a refund please.',
    'agent: A refund comes by Friday.',
  );
  const fill = () => model.extract(fields, said, 'en', hangs());

  it('keeps what fits the schema and is quoted from the transcript, with the words and their times', async () => {
    answers = [
      JSON.stringify({
        reason: { value: 'refund', quote: 'A Refund, please', line: 2 },
        amount: { value: 1250, quote: 'my 1,250 rupees', line: 3 },
        day: { value: null, quote: null, line: null },
      }),
    ];
    const { fields: found, problems } = await fill();
    expect(problems).toEqual([]);
    expect(found).toMatchObject([
      { name: 'reason', value: 'refund', from: 'model', evidence: [{ text: 'refund', role: 'customer' }] },
      // The line was wrong, the words are there.
      { name: 'amount', value: 1250, evidence: [{ channel: 0, segment: 0 }] },
    ]);
    const [{ authorization, body } = { authorization: '', body: undefined }] = asked;
    expect(authorization).toBe('Bearer the-key');
    expect(body?.messages[1]?.content).toContain('2 customer: I want my 1,250 rupees back');
    expect(body?.response_format.json_schema.schema).toMatchObject({
      required: ['reason', 'amount', 'day'],
      properties: { reason: { properties: { value: { enum: ['refund', 'delay', null] } } } },
    });
  });

  it('drops what nobody said, what the other side said, and what is of another type, and says so', async () => {
    answers = [
      JSON.stringify({
        reason: { value: 'refund', quote: 'A refund comes by Friday', line: 3 },
        amount: { value: '1250', quote: '1,250 rupees', line: 2 },
        day: { value: '2026-01-02', quote: 'on the second of January', line: 1 },
      }),
    ];
    expect(await fill()).toEqual({
      fields: [],
      problems: [
        "reason: the model's quote is not in the transcript",
        "amount: the model's value is no integer",
        "day: the model's quote is not in the transcript",
      ],
      // The server does not say how many tokens its answer took.
      usage: [
        { amount: 1, job: 'analysis', model: 'small', unit: 'unreported-answers', vendor: expect.stringContaining('127.0.0.1') },
      ],
    });
  });

  it('asks once more with the complaint, then gives up for a later try', async () => {
    answers = ['I think it is a refund.', '```json\n{"reason":{"value":"refund","quote":"refund please","line":2}}\n```'];
    expect((await fill()).fields).toMatchObject([{ name: 'reason' }]);
    expect(asked[1]?.body.messages.at(-1)?.content).toContain('does not fit the schema');
    answers = ['no', 'no'];
    await expect(fill()).rejects.toMatchObject({ code: 'OFFHOOK_ANALYSIS_MODEL', retryable: true });
  });

  it('tells a refusal, which is final, from a model that is away', async () => {
    answers = [401];
    await expect(fill()).rejects.toMatchObject({ code: 'OFFHOOK_ANALYSIS_MODEL', retryable: false });
    expect(await model.extract([], said, 'en', AbortSignal.timeout(1000))).toEqual({ fields: [], problems: [], usage: [] });
  });
});
