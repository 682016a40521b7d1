import { z } from 'zod';

/** An answer of a model in a mock: its words, a tool that it calls, or several of both. */
const part = z.union([
  z.string(),
  z.strictObject({ tool: z.string().min(1), arguments: z.record(z.string(), z.unknown()).default({}) }),
]);
const answer = z.union([part.transform((each) => [each]), z.array(part).min(1)]);

/** A chat completion as a stream of server-sent events, as an OpenAI-compatible address sends it. @throws ZodError for another form */
export function modelAnswer(body: unknown): Response {
  const parts = answer.parse(body);
  const tools = parts.filter((each) => typeof each !== 'string');
  const words = parts.filter((each) => typeof each === 'string').join(' ');
  const toolCalls = tools.map(({ tool, arguments: given }, index) => ({
    index,
    id: `mock-${index}`,
    type: 'function',
    function: { name: tool, arguments: JSON.stringify(given) },
  }));
  const deltas = [
    ...(words === '' ? [] : [{ role: 'assistant', content: words }]),
    ...(toolCalls.length === 0 ? [] : [{ role: 'assistant', tool_calls: toolCalls }]),
  ];
  const events = [
    ...deltas.map((delta) => chunk(delta, null)),
    chunk({}, toolCalls.length === 0 ? 'stop' : 'tool_calls'),
    '[DONE]',
  ];
  const text = events.map((event) => `data: ${event}\n\n`).join('');
  return new Response(text, { headers: { 'content-type': 'text/event-stream' } });
}

function chunk(delta: object, finishReason: string | null): string {
  const choices = [{ index: 0, delta, finish_reason: finishReason }];
  return JSON.stringify({ id: 'mock', object: 'chat.completion.chunk', created: 0, model: 'mock', choices });
}
