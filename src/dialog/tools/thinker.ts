import { OpenAI } from 'openai';
import { z } from 'zod';
import type { ThinkerSettings } from '../../config/bot-tools.ts';
import type { Secret } from '../../config/secrets.ts';
import type { Clock } from '../../kernel/clock.ts';
import { errorText } from '../../kernel/errors.ts';
import { traceHeaders } from '../../observability/trace-context.ts';
import { boundedFetch } from '../bounded-fetch.ts';
import { ModelRequest } from '../llm/model-request.ts';
import type { DialogTurn } from '../port.ts';
import { AnswerDeadline, serverWords } from '../wire.ts';
import { MOST_RESULT_CHARACTERS, type Tool } from './tool.ts';

export const THINKER = 'think';
/** Most refused fields of a request that are changed. */
const MOST_CHANGES = 3;

interface Thinker extends ThinkerSettings {
  readonly baseUrl: string;
  readonly secret: Secret | undefined;
}

const question = z.object({ question: z.string().min(1).max(4000) });

/** A slow model as a tool of the quick one: it gets the question and the conversation as it was heard. */
export function thinkerTool(settings: Thinker, clock: Clock): Tool {
  const { baseUrl: baseURL, secret, description, slow } = settings;
  const client = new OpenAI({ baseURL, apiKey: secret?.reveal() ?? 'none', maxRetries: 0, fetch: boundedFetch });
  const request = new ModelRequest(settings);
  const told = { type: 'string', description: 'The question, with all facts that it needs' };
  const parameters = { type: 'object', properties: { question: told }, required: ['question'] };
  return {
    name: THINKER,
    slow,
    timeoutMs: slow.timeoutMs,
    define: () => ({ name: THINKER, description, parameters }),
    run: async (args, turn, limitMs, signal) => {
      const parsed = question.safeParse(args);
      if (!parsed.success) return 'error: the arguments cannot be used';
      using deadline = new AnswerDeadline(clock, limitMs, 'the model');
      const either = AbortSignal.any([signal, deadline.signal]);
      try {
        return await think(parsed.data.question, turn, { client, request, settings }, either);
      } catch (error) {
        if (signal.aborted) throw error;
        const why = deadline.signal.aborted ? errorText(deadline.signal.reason) : serverWords(errorText(error), turn, secret);
        return `error: ${why}`;
      }
    },
  };
}

interface ThinkingModel {
  readonly client: OpenAI;
  readonly request: ModelRequest;
  readonly settings: Thinker;
}

async function think(asked: string, turn: DialogTurn, model: ThinkingModel, signal: AbortSignal): Promise<string> {
  const { client, request, settings } = model;
  const said = turn.history.map(({ role, text }) => `${role}: ${text}`);
  const now = turn.input.kind === 'spoken' ? [`caller: ${turn.input.text}`] : [];
  const conversation = [...said, ...now].join('\n');
  const messages = [
    { role: 'system', content: settings.instructions } as const,
    { role: 'user', content: `The conversation so far:\n${conversation}\n\nQuestion: ${asked}` } as const,
  ];
  const headers = traceHeaders(turn.call.callId, turn.index);
  for (let changes = 0; ; changes += 1) {
    const { fields } = request;
    try {
      const answer = await client.chat.completions.create({ model: settings.model, messages, ...fields }, { signal, headers });
      const text = answer.choices[0]?.message.content?.trim() ?? '';
      return text === '' ? 'error: the model gave no answer' : text.slice(0, MOST_RESULT_CHARACTERS);
    } catch (error) {
      // A refused field is changed, each once.
      if (signal.aborted || changes >= MOST_CHANGES || !request.heed(fields, error)) throw error;
    }
  }
}
