import { resolve } from 'node:path';
import { type ModelToolSettings, type ThinkerSettings, slowOf } from '../../config/bot-tools.ts';
import type { Secret } from '../../config/secrets.ts';
import type { Clock } from '../../kernel/clock.ts';
import { knowledgeTool, loadKnowledge } from '../knowledge/knowledge.ts';
import { callCodeTool, callWebTool, type CodeTool, isCallTool, loadCodeTools, parametersOf, type WebTool } from '../llm/tools.ts';
import { McpServer } from './mcp-server.ts';
import { thinkerTool } from './thinker.ts';
import type { Tool } from './tool.ts';
import { mcpTools, ToolBox } from './tool-box.ts';

interface ToolParts {
  readonly clock: Clock;
  /** Folder of the bot's file. */
  readonly folder: string;
  /** The bot's own secret: signs requests to tools. */
  readonly secret: Secret | undefined;
  /** Values of the environment variables that the settings name. */
  readonly secrets: Readonly<Record<string, Secret>>;
  /** The bot's own model address. */
  readonly baseUrl?: string | undefined;
  /** Longest time of a tool. */
  readonly timeoutMs: number;
}

/**
 * The tools that a bot's file gives to its model; nothing is connected before the first call.
 * @throws DialogModuleError, KnowledgeError, ToolsError
 */
export async function loadToolBox(settings: ModelToolSettings, parts: ToolParts): Promise<ToolBox> {
  const { tools, toolsFile, mcp, thinker, knowledge } = settings;
  const { clock, folder, secrets } = parts;
  const servers = Object.entries(mcp).map(([name, each]) => ({
    name,
    each,
    server: new McpServer(name, each, { clock, secrets, folder }),
  }));
  const codeTools = toolsFile === undefined ? [] : await loadCodeTools(resolve(folder, toolsFile));
  const all = [
    ...ownTools(tools, codeTools, parts),
    ...servers.flatMap(({ name, each, server }) => mcpTools(name, server, each)),
    ...(thinker === undefined ? [] : [thinkerTool(withOwnModel(thinker, parts), clock)]),
    ...(knowledge === undefined
      ? []
      : [knowledgeTool(await loadKnowledge(resolve(folder, knowledge.folder)), knowledge.results)]),
  ];
  return new ToolBox(
    all,
    servers.map(({ server }) => server),
    isCallTool,
  );
}

/** Tools behind addresses, and tools that run in this process. */
export function ownTools(
  web: readonly WebTool[],
  code: readonly CodeTool[],
  { clock, secret, timeoutMs }: Pick<ToolParts, 'clock' | 'secret' | 'timeoutMs'>,
): Tool[] {
  return [
    ...web.map((tool): Tool => {
      const { name, description, parameters, slow } = tool;
      return {
        name,
        slow,
        timeoutMs,
        define: () => ({ name, description, parameters: { ...parameters } }),
        run: (args, turn, limitMs, signal) => callWebTool(tool, args, turn, { clock, secret, timeoutMs: limitMs, signal }),
      };
    }),
    ...code.map((tool): Tool => {
      const { name, description } = tool;
      return {
        name,
        slow: slowOf(tool.slow),
        timeoutMs,
        define: () => ({ name, description, parameters: parametersOf(tool) }),
        run: (args, turn, limitMs, signal) => callCodeTool(tool, args, turn, { clock, timeoutMs: limitMs, signal }),
      };
    }),
  ];
}

/** The thinker's address and key: its own, or the bot's. */
function withOwnModel(thinker: ThinkerSettings, { baseUrl, secret, secrets }: ToolParts) {
  const own = thinker.secretEnv === undefined ? undefined : secrets[thinker.secretEnv];
  // The bot's key is not sent to another address.
  const key = own ?? (thinker.baseUrl === undefined ? secret : undefined);
  return { ...thinker, baseUrl: thinker.baseUrl ?? baseUrl ?? '', secret: key };
}
