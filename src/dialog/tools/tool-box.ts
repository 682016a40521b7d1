import type { McpServerSettings } from '../../config/bot-tools.ts';
import { type Tool, ToolsError } from './tool.ts';
import type { McpServer } from './mcp-server.ts';

/** Longest tool name that models take. */
const MOST_NAME_CHARACTERS = 64;

/** All own tools of a bot, shared by its calls. */
export class ToolBox {
  readonly tools: ReadonlyMap<string, Tool>;
  readonly #servers: readonly McpServer[];

  /**
   * @param taken names that the bot's own tools cannot have
   * @throws ToolsError for two tools of one name
   */
  constructor(tools: readonly Tool[], servers: readonly McpServer[], taken: (name: string) => boolean) {
    const byName = new Map<string, Tool>();
    for (const tool of tools) {
      if (taken(tool.name) || byName.has(tool.name))
        throw new ToolsError(`the tool "${tool.name}" has the name of another tool of the bot`);
      byName.set(tool.name, tool);
    }
    this.tools = byName;
    this.#servers = servers;
  }

  get hasSlow(): boolean {
    return [...this.tools.values()].some(({ slow }) => slow !== undefined);
  }

  /** Keeps connections of the tools open until the returned function is called; without any holder they close. */
  hold(): () => Promise<void> {
    const releases = this.#servers.map((server) => server.hold());
    return async () => {
      await Promise.all(releases.map((release) => release()));
    };
  }
}

/** The tools of an MCP server that a bot's file allows, under names that begin with the server's. */
export function mcpTools(serverName: string, server: McpServer, settings: McpServerSettings): Tool[] {
  return settings.tools.map(({ name, description, timeoutMs = settings.timeoutMs, slow }) => {
    const shownName = `${serverName}_${name}`.replaceAll(/[^a-zA-Z0-9_-]/gu, '_').slice(0, MOST_NAME_CHARACTERS);
    return {
      name: shownName,
      slow,
      timeoutMs,
      define: async (signal) => {
        const known = await server.definitionOf(name, signal);
        const unknown = { description: 'This tool cannot be used at the moment.', parameters: { type: 'object' } };
        const { parameters, description: told } = known ?? unknown;
        return { name: shownName, description: description ?? told, parameters };
      },
      run: (args, _turn, limitMs, signal) => server.call(name, args, limitMs, signal),
    };
  });
}
