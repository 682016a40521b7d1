import { describe, expect, it } from 'vitest';
import { testPlatform, TestSocket } from './setup.ts';

describe('LaTeX', () => {
  const test = testPlatform();

  async function speak(fields: Record<string, unknown>) {
    const response = await test.post(`${test.platform.ttsUrl}/v1/audio/speech`, {
      model: 'zero-indic',
      voice: 'Nisha',
      response_format: 'mulaw',
      ...fields,
    });
    const body = Buffer.from(await response.arrayBuffer());
    const warnings: unknown = JSON.parse(response.headers.get('x-warnings') ?? '[]');
    return { status: response.status, body, warnings, spoken: test.synthesis.requests.at(-1)?.text };
  }

  it.each([
    ['$x^2$', 'Nisha', /^\s*x squared\s*$/],
    ['The area is $\\pi r^2$.', 'Rajesh', /^The area is\s+pi r squared\s+\.$/],
    ['\\frac{a}{b}', 'Nisha', /^\s*eigh over b\s*$/],
    ['$x^2$', 'Rajesh', /^\s*एक्स का वर्ग\s*$/],
    ['उत्तर $\\frac{1}{2}$ है', 'Rajesh', /^उत्तर\s+\p{Script=Devanagari}[\p{Script=Devanagari}\s]*है$/u],
  ])('%s by %s is spoken as words when asked for [166]', async (input, voice, words) => {
    expect((await speak({ input, voice, latex: true })).spoken).toMatch(words);
  });

  it('leaves other text unchanged, amounts of money included [166]', async () => {
    expect((await speak({ input: '$x^2$' })).spoken).toBe('$x^2$');
    expect((await speak({ input: '$x^2$', latex: false })).spoken).toBe('$x^2$');
    expect((await speak({ input: 'from $5 to $6', latex: true })).spoken).toBe('from $5 to $6');
  });

  it.each(['$\\nonsense{x}$', '$\\frac{a$', '$\\def\\a{\\a\\a}\\a$'])('that cannot be read is a 422: %s', async (input) => {
    const { status, body } = await speak({ input, latex: true });
    expect([status, JSON.parse(body.toString('utf8'))]).toEqual([422, { detail: expect.stringContaining('formula') }]);
  });

  it('comes with a warning where its words are not reviewed, over HTTP and the socket', async () => {
    const warning = 'latex: no speaker of Tamil (ta) has reviewed the words that formulas are read with';
    expect((await speak({ input: '$x^2$', language: 'ta', latex: true })).warnings).toEqual([warning]);
    expect((await speak({ input: '$x^2$', latex: true })).warnings).toEqual([]);
    await using socket = await TestSocket.open(`${test.platform.ttsUrl}/v1/realtime`, {
      authorization: `Bearer ${await test.token()}`,
    });
    socket.json({ model: 'zero-indic', voice: 'Nisha', language: 'ta', input: '$y^2$', latex: true });
    await socket.until(() => socket.of('completion').length === 1);
    expect(socket.of('completion')[0]).toMatchObject({ warnings: [warning] });
  });

  it('is put in words over a socket as well', async () => {
    await using socket = await TestSocket.open(`${test.platform.ttsUrl}/v1/realtime`, {
      authorization: `Bearer ${await test.token()}`,
    });
    socket.json({ model: 'zero-indic', voice: 'Nisha', input: '$y^2$', latex: true });
    await socket.until(() => socket.of('completion').length === 1);
    expect(test.synthesis.requests.at(-1)!.text).toMatch(/y squared/);
  });
});
