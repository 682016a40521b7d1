import type { ModelCall, ToolUse } from './model-spans.ts';

// Attributes of models and tools (OpenTelemetry semantic conventions for generative AI 1.37, "Inference" and "Execute tool span").

/** Attributes of a span, in the form that OpenTelemetry takes. */
type Attributes = Record<string, string | number | string[]>;

/** Well-known values of `gen_ai.provider.name`; any other vendor by its own name. */
const PROVIDERS: Readonly<Record<string, string>> = { azure: 'azure.ai.openai', google: 'gcp.gemini' };

/** Cached and audio tokens are part of the input here, unlike in a cost. */
const INPUT = ['input-text-tokens', 'cached-tokens', 'input-audio-tokens'];
const OUTPUT = ['output-text-tokens', 'output-audio-tokens'];

export function modelAttributes({ callId, vendor, model, units, toolCalls, errorType, words }: ModelCall): Attributes {
  const sum = (names: readonly string[]): number => names.reduce((total, name) => total + (units?.[name] ?? 0), 0);
  const tokens = {
    'gen_ai.usage.input_tokens': sum(INPUT),
    'gen_ai.usage.output_tokens': sum(OUTPUT),
    'gen_ai.usage.cache_read.input_tokens': sum(['cached-tokens']),
  };
  return {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': PROVIDERS[vendor] ?? vendor,
    'gen_ai.request.model': model,
    'gen_ai.conversation.id': callId,
    'offhook.call.id': callId,
    ...(units === undefined ? {} : tokens),
    ...(toolCalls.length === 0 ? {} : { 'gen_ai.response.finish_reasons': ['tool_calls'], 'offhook.tool.calls': [...toolCalls] }),
    ...(errorType === undefined ? {} : { 'error.type': errorType }),
    ...(words === undefined
      ? {}
      : {
          'gen_ai.input.messages': messages(words.input),
          'gen_ai.output.messages': messages([{ role: 'assistant', text: words.output }]),
        }),
  };
}

export function toolAttributes({ callId, name, id, errorType }: ToolUse): Attributes {
  return {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': name,
    'gen_ai.tool.call.id': id,
    'gen_ai.tool.type': 'function',
    'gen_ai.conversation.id': callId,
    ...(errorType === undefined ? {} : { 'error.type': errorType }),
  };
}

/** As a JSON text: attributes have no objects. */
function messages(of: NonNullable<ModelCall['words']>['input']): string {
  return JSON.stringify(of.map(({ role, text }) => ({ role, parts: [{ type: 'text', content: text }] })));
}
