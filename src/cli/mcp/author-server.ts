import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';
import { errorTextWithCause } from '../../kernel/errors.ts';
import { callDetails, type CallStore, recentCalls } from './call-tools.ts';
import { botsAndProblems, explainCode, saveBot, rehearseChat, runEvals } from './bot-tools.ts';

export interface AuthorOptions {
  /** Bot files may be saved, and bots may be rehearsed that ask servers and models outside. */
  readonly allowWrites: boolean;
  /** Whose calls are shown. */
  readonly tenant: string;
  readonly store: CallStore;
}

/** The longest answer of a tool, so that it fits into a client's context. */
const MOST_CHARACTERS = 60_000;

const botName = z.string().min(1).max(63);
const READS = { readOnlyHint: true, openWorldHint: false } as const;

/** The tools of `offhook mcp`, over the configuration of the working folder; each call reads it anew. */
export function authorServer({ allowWrites, tenant, store }: AuthorOptions): McpServer {
  const server = new McpServer({ name: 'offhook', version: '1' });
  server.registerTool(
    'bots',
    { description: 'The bots of this project, with the file of each and its problems', inputSchema: {}, annotations: READS },
    () => answered(async () => (await botsAndProblems()).bots),
  );
  server.registerTool(
    'config_check',
    {
      description: 'All problems of settings, bot files, flows and profiles, with file and line',
      inputSchema: {},
      annotations: READS,
    },
    () => answered(async () => ({ problems: (await botsAndProblems()).problems })),
  );
  server.registerTool(
    'chat',
    {
      description:
        'Rehearses a call with a bot in text. Give the lines of the caller (`#123` presses keys, an empty line is silence, `/quit` hangs up), or a whole ' +
        'script (`> ` caller, `< ` expected words of the bot, `[…]` expected slots and actions). Returns all that happened, and what was not as expected.',
      inputSchema: {
        bot: botName.optional().describe('The default bot when absent'),
        lines: z.array(z.string().max(2000)).max(100).optional(),
        script: z.string().max(50_000).optional(),
        language: z.string().max(35).optional(),
      },
      annotations: READS,
    },
    (asked) => answered(() => rehearseChat(asked, allowWrites)),
  );
  server.registerTool(
    'eval',
    {
      description: 'Has simulated callers call the bots by the suites of config/evals, and returns the verdicts',
      inputSchema: {
        suites: z.array(z.string().max(500)).max(50).default([]).describe('Names of bots; all suites when empty'),
        only: z.array(z.string().max(200)).max(20).optional().describe('Only scenarios whose name contains one of these'),
        runs: z.int().min(1).max(20).optional().describe('Calls of each scenario'),
      },
      annotations: READS,
    },
    (asked) => answered(() => runEvals(asked, allowWrites)),
  );
  server.registerTool(
    'calls',
    {
      description: 'The latest calls: id, bot, when, how long, how they ended. Numbers are masked.',
      inputSchema: {
        bot: botName.optional(),
        endReason: z.string().max(100).optional(),
        limit: z.int().min(1).max(100).default(20),
      },
      annotations: READS,
    },
    (asked) => answered(() => recentCalls(store, tenant, asked)),
  );
  server.registerTool(
    'call',
    {
      description: 'One call turn by turn: words of both sides, steps, waits, notes and variables. Numbers are masked.',
      inputSchema: { id: z.string().min(1).max(200) },
      annotations: READS,
    },
    ({ id }) => answered(() => callDetails(store, tenant, id)),
  );
  server.registerTool(
    'explain',
    {
      description: 'What an error code such as OFFHOOK_FLOW_INVALID means, and what to do',
      inputSchema: { code: z.string().regex(/^OFFHOOK_[A-Z0-9_]{1,60}$/u, 'a code such as OFFHOOK_FLOW_INVALID') },
      annotations: READS,
    },
    ({ code }) => answered(() => explainCode(code)),
  );
  if (allowWrites)
    server.registerTool(
      'save_bot',
      {
        description:
          'Checks the YAML of a bot, and writes it to the folder of bots when it is sound; running gateways take it over by `offhook reload`',
        inputSchema: { yaml: z.string().min(1).max(200_000) },
        annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: false },
      },
      ({ yaml }) => answered(() => saveBot(yaml)),
    );
  return server;
}

/** A tool's answer as JSON, or its failure as a text. */
async function answered(work: () => unknown) {
  const text = (said: string): { type: 'text'; text: string }[] => [{ type: 'text', text: said.slice(0, MOST_CHARACTERS) }];
  try {
    return { content: text(JSON.stringify(await work(), null, 1)) };
  } catch (error) {
    return { content: text(errorTextWithCause(error)), isError: true };
  }
}
