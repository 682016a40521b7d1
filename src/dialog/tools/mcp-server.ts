import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { McpServerSettings } from '../../config/bot-tools.ts';
import type { Secret } from '../../config/secrets.ts';
import { type BackoffPolicy, backoffDelayMs } from '../../kernel/backoff.ts';
import type { Clock } from '../../kernel/clock.ts';
import { errorText } from '../../kernel/errors.ts';
import { maskSecret } from '../../kernel/mask-secret.ts';
import { abortable, SingleFlight } from '../../kernel/waiting.ts';
import { boundedFetch } from '../bounded-fetch.ts';
import { AnswerDeadline } from '../wire.ts';
import type { ToolDefinition } from './tool.ts';

/** Longest wait for a server to start and to list its tools. */
const CONNECT_MS = 5_000;
/** Waits between failed connections; a call in between fails at once. */
const RETRY: BackoffPolicy = { firstMs: 500, factor: 2, maxMs: 60_000, jitter: 0.2 };
/** Pages of a tool list, and longest schema of one tool's arguments as JSON. */
const MOST_PAGES = 20;
const MOST_SCHEMA_CHARACTERS = 16_000;
const MOST_DESCRIPTION_CHARACTERS = 1_000;
/** Longest message of a server's program. */
const MOST_MESSAGE_BYTES = 1024 * 1024;
const CLIENT = { name: 'offhook', version: '1' };

interface McpParts {
  readonly clock: Clock;
  /** Values of the environment variables that the settings name. */
  readonly secrets: Readonly<Record<string, Secret>>;
  /** Where a server's program starts. */
  readonly folder: string;
}

interface Connected {
  readonly client: Client;
  readonly tools: ReadonlyMap<string, Omit<ToolDefinition, 'name'>>;
}

/**
 * One MCP server of a bot: connected at the first use, shared by all calls, and closed when nothing holds it. A lost connection is opened again at
 * the next use, after a growing pause when that fails.
 */
export class McpServer {
  readonly #name: string;
  readonly #settings: McpServerSettings;
  readonly #parts: McpParts;
  readonly #connecting = new SingleFlight<Connected>();
  #connected: Connected | undefined;
  /** The tools at the last connection. */
  #known: Connected['tools'] = new Map();
  #failures = 0;
  #retryAtMs = Number.NEGATIVE_INFINITY;
  #lastError = '';
  #holders = 0;

  constructor(name: string, settings: McpServerSettings, parts: McpParts) {
    this.#name = name;
    this.#settings = settings;
    this.#parts = parts;
  }

  /** Connects, and keeps the connection until the returned function is called. */
  hold(): () => Promise<void> {
    this.#holders += 1;
    // Ready before the first call needs it; a failure is told to whoever does.
    this.#connection().catch(() => undefined);
    let held = true;
    return async () => {
      if (!held) return;
      held = false;
      this.#holders -= 1;
      if (this.#holders === 0) await this.#close();
    };
  }

  /** What the server says of a tool; undefined while it cannot be reached, or where it has no such tool. Rejects only when the signal aborts. */
  async definitionOf(tool: string, signal: AbortSignal): Promise<Omit<ToolDefinition, 'name'> | undefined> {
    try {
      return (await abortable(this.#connection(), signal)).tools.get(tool);
    } catch (error) {
      if (signal.aborted) throw error;
      return this.#known.get(tool);
    }
  }

  /** Calls a tool. Rejects only when the signal aborts. @returns its result as a text, or a sentence that begins with `error:` */
  async call(tool: string, args: unknown, limitMs: number, signal: AbortSignal): Promise<string> {
    using deadline = new AnswerDeadline(this.#parts.clock, limitMs, 'the tool');
    const either = AbortSignal.any([signal, deadline.signal]);
    try {
      return await this.#ask(tool, args, either, limitMs);
    } catch (error) {
      if (signal.aborted) throw error;
      if (deadline.signal.aborted) return `error: ${errorText(deadline.signal.reason)}`;
      return `error: ${this.#shown(error)}`;
    }
  }

  async #ask(tool: string, args: unknown, signal: AbortSignal, limitMs: number): Promise<string> {
    const given = typeof args === 'object' && args !== null && !Array.isArray(args) ? { ...args } : {};
    for (let again = true; ; again = false) {
      const connected = await abortable(this.#connection(), signal);
      try {
        const options = { signal, timeout: limitMs + CONNECT_MS };
        return this.#resultText(await connected.client.callTool({ name: tool, arguments: given }, undefined, options));
      } catch (error) {
        if (signal.aborted || isServersAnswer(error)) throw error;
        this.#lose(connected);
        // A restarted server does not know the session, and has done nothing.
        if (!again || !isUnknownSession(error)) throw error;
      }
    }
  }

  #connection(): Promise<Connected> {
    if (this.#connected !== undefined) return Promise.resolve(this.#connected);
    if (this.#parts.clock.nowMs() < this.#retryAtMs) return Promise.reject(new Error(this.#lastError));
    return this.#connecting.run(() => this.#connect());
  }

  async #connect(): Promise<Connected> {
    const { clock } = this.#parts;
    using deadline = new AnswerDeadline(clock, CONNECT_MS, `the MCP server ${this.#name}`);
    const { Client: ClientClass } = await import('@modelcontextprotocol/sdk/client/index.js');
    const client = new ClientClass(CLIENT);
    try {
      const options = { signal: deadline.signal, timeout: 2 * CONNECT_MS };
      await abortable(client.connect(await this.#transport(), options), deadline.signal);
      const connected = { client, tools: await listTools(client, options) };
      client.onclose = () => this.#lose(connected);
      this.#known = connected.tools;
      this.#failures = 0;
      // Whoever asked may be gone.
      if (this.#holders === 0) void client.close().catch(() => undefined);
      else this.#connected = connected;
      return connected;
    } catch (error) {
      void client.close().catch(() => undefined);
      this.#retryAtMs = clock.nowMs() + backoffDelayMs(RETRY, this.#failures, Math.random());
      this.#failures += 1;
      this.#lastError = this.#shown(deadline.signal.aborted ? deadline.signal.reason : error);
      throw new Error(this.#lastError, { cause: error });
    }
  }

  async #transport(): Promise<Transport> {
    const { url, command = '', args, headers, env } = this.#settings;
    if (url === undefined) {
      const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
      const { folder: cwd } = this.#parts;
      const maxBufferSize = MOST_MESSAGE_BYTES;
      return new StdioClientTransport({
        command,
        args: [...args],
        env: this.#revealed(env),
        cwd,
        stderr: 'ignore',
        maxBufferSize,
      });
    }
    const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
    const requestInit = { headers: this.#revealed(headers), redirect: 'error' } as const;
    return new StreamableHTTPClientTransport(new URL(url), { requestInit, fetch: boundedFetch });
  }

  #revealed(names: Readonly<Record<string, string>>): Record<string, string> {
    const values = Object.entries(names).map(([key, name]) => [key, this.#parts.secrets[name]?.reveal() ?? ''] as const);
    return Object.fromEntries(values.filter(([, value]) => value !== ''));
  }

  /** An error's text with the secrets masked, for the model and the record. */
  #shown(error: unknown): string {
    const text = errorText(error).replaceAll(/\s+/gu, ' ').slice(0, 300);
    const masked = Object.values(this.#parts.secrets).reduce((said, secret) => maskSecret(secret.reveal(), '[key]')(said), text);
    return isServersAnswer(error) ? masked : `the MCP server ${this.#name} cannot be used now: ${masked}`;
  }

  #resultText(result: Awaited<ReturnType<Client['callTool']>>): string {
    const { maxCharacters } = this.#settings;
    const parts = Array.isArray(result['content']) ? result['content'].map(partText) : [];
    const told = parts.filter((part) => part !== '').join('\n');
    const structured: unknown = result['structuredContent'];
    const text = told === '' && structured !== undefined ? JSON.stringify(structured) : told;
    return (result['isError'] === true ? `error: ${text}` : text || 'done').slice(0, maxCharacters);
  }

  #lose(connected: Connected): void {
    if (this.#connected !== connected) return;
    this.#connected = undefined;
    void connected.client.close().catch(() => undefined);
  }

  async #close(): Promise<void> {
    const connected = this.#connected;
    this.#connected = undefined;
    await connected?.client.close().catch(() => undefined);
  }
}

async function listTools(client: Client, options: { signal: AbortSignal; timeout: number }): Promise<Connected['tools']> {
  const tools = new Map<string, Omit<ToolDefinition, 'name'>>();
  let cursor: string | undefined;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const { tools: some, nextCursor } = await client.listTools(cursor === undefined ? undefined : { cursor }, options);
    for (const { name, title, description = title ?? name, inputSchema } of some) {
      const { $schema: _dialect, ...schema } = inputSchema;
      const isShort = JSON.stringify(schema).length <= MOST_SCHEMA_CHARACTERS;
      const parameters = isShort ? schema : { type: 'object' };
      tools.set(name, { description: description.slice(0, MOST_DESCRIPTION_CHARACTERS), parameters });
    }
    if (nextCursor === undefined) break;
    cursor = nextCursor;
  }
  return tools;
}

/** The server answered with an error of the protocol, such as wrong arguments, so the connection is good. */
function isServersAnswer(error: unknown): boolean {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  // JSON-RPC's own codes; -32000 and -32001 are the client's for a closed connection and a timeout.
  return typeof code === 'number' && code <= -32_600 && code >= -32_700;
}

/** 404 by the specification; some servers answer 400. */
function isUnknownSession(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 404 || error.code === 400);
}

/** A part of a result as text; MCP's content blocks, https://modelcontextprotocol.io/specification/2025-06-18/server/tools. */
function partText(part: unknown): string {
  if (typeof part !== 'object' || part === null || !('type' in part)) return '';
  if (part.type === 'text' && 'text' in part && typeof part.text === 'string') return part.text;
  if (part.type === 'resource' && 'resource' in part) {
    const { resource } = part;
    const isText = typeof resource === 'object' && resource !== null && 'text' in resource && typeof resource.text === 'string';
    return isText ? String(resource.text) : '[resource]';
  }
  if (part.type === 'resource_link' && 'uri' in part) return `[link ${String(part.uri)}]`;
  return `[${String(part.type)}]`;
}
