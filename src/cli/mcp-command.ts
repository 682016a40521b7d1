import { once } from 'node:events';
import type { Command } from 'commander';
import { stayAwake } from '../kernel/clock.ts';
import { EXIT, printNote } from './shell/output.ts';

/** `offhook mcp`: Offhook's tools for the authors of bots, as an MCP server over standard input and output. */
export function addMcpCommand(program: Command): void {
  program
    .command('mcp')
    .description("serve an editor's or agent's MCP client: bots, their problems, chats, evals and calls")
    .option('--allow-writes', 'also save bot files, and rehearse bots whose servers and models are asked')
    .option('--tenant <id>', 'whose calls are shown', 'default')
    .action(async (flags: { allowWrites?: boolean; tenant: string }) => {
      const { authorServer } = await import('./mcp/author-server.ts');
      const { StdioServerTransport } = await import('@modelcontextprotocol/sdk/server/stdio.js');
      const { CallStore } = await import('./mcp/call-tools.ts');
      const store = new CallStore();
      const server = authorServer({ allowWrites: flags.allowWrites === true, tenant: flags.tenant, store });
      printNote('offhook mcp: serving on standard input and output');
      const ended = once(process.stdin, 'end');
      await server.connect(new StdioServerTransport());
      await stayAwake(ended);
      await server.close();
      await store[Symbol.asyncDispose]();
      process.exit(EXIT.ok);
    });
}
