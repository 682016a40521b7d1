import type { OpenAI } from 'openai';
import { expect, it } from 'vitest';
import { ModelStream } from '../../../../src/dialog/llm/model-stream.ts';

function argumentsChunk(text: string): OpenAI.Chat.ChatCompletionChunk {
  const call = { index: 0, id: 'call_1', function: { name: 'look_up', arguments: text } };
  const choice = { index: 0, delta: { tool_calls: [call] }, finish_reason: null };
  return { id: 'c', created: 0, model: 'm', object: 'chat.completion.chunk', choices: [choice] };
}

it('keeps arguments that never end within bounds', () => {
  const stream = new ModelStream();
  for (let chunk = 0; chunk < 300; chunk += 1) stream.take(argumentsChunk('1'.repeat(1_000)));
  expect(stream.toolCalls[0]!.args.length).toBeLessThan(110_000);
});
