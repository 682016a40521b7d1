import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { untilPasses } from './eventually.ts';
import { freePort } from './processes.ts';

/** The program of the MCP project's test server. */
export const EVERYTHING = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js');

/** The MCP project's test server over streamable HTTP, always at one address. */
export class EverythingServer {
  readonly url: string;
  readonly #port: number;
  #child: ChildProcess | undefined;

  private constructor(port: number) {
    this.#port = port;
    this.url = `http://127.0.0.1:${port}/mcp`;
  }

  static async start(): Promise<EverythingServer> {
    const server = new EverythingServer(await freePort());
    await server.start();
    return server;
  }

  /** Starts it again after `stop`. */
  async start(): Promise<void> {
    this.#child = spawn(process.execPath, [EVERYTHING, 'streamableHttp'], {
      env: { ...process.env, PORT: String(this.#port) },
      stdio: 'ignore',
    });
    await untilPasses(() => fetch(this.url).then((response) => response.body?.cancel()));
  }

  async stop(): Promise<void> {
    if (this.#child === undefined) return;
    const gone = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await gone;
    this.#child = undefined;
  }
}
