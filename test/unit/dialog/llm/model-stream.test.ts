import type { OpenAI } from 'openai';
import { expect, it } from 'vitest';
import { ModelStream } from '../../../../src/dialog/llm/model-request.ts';

function chunkOf(call: object): OpenAI.Chat.ChatCompletionChunk {
  // As it comes over the wire, which need not be what its types say.
  const delta = { tool_calls: [call] } as OpenAI.Chat.ChatCompletionChunk.Choice.Delta;
  const choice = { index: 0, delta, finish_reason: null };
  return { id: 'c', created: 0, model: 'm', object: 'chat.completion.chunk', choices: [choice] };
}

function argumentsChunk(text: string): OpenAI.Chat.ChatCompletionChunk {
  return chunkOf({ index: 0, id: 'call_1', function: { name: 'look_up', arguments: text } });
}

it('gives up arguments that never end', () => {
  const stream = new ModelStream();
  for (let chunk = 0; chunk < 99; chunk += 1) stream.take(argumentsChunk('1'.repeat(1_000)));
  expect(() => stream.take(argumentsChunk('1'.repeat(1_000)))).toThrow('longer than 100000 characters');
});

it('accepts tool calls without an index', () => {
  const stream = new ModelStream();
  for (const day of ['monday', 'friday'])
    stream.take(chunkOf({ id: day, function: { name: 'look_up', arguments: `{"day":"${day}"}` } }));
  expect(stream.toolCalls.map(({ id, args }) => [id, args])).toEqual([
    ['monday', '{"day":"monday"}'],
    ['friday', '{"day":"friday"}'],
  ]);
});
