import { execFile } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import { errorText, OffhookError } from '../kernel/errors.ts';
import { parseAction } from './action-schema.ts';
import type { DialogAction, DialogHook, DialogHookFactory, DialogTurn } from './port.ts';

/** A bot's module that cannot be loaded. */
export class DialogModuleError extends OffhookError {
  readonly code = 'OFFHOOK_DIALOG_MODULE';
  readonly retryable = false;
}

/** A module's function before its answers are checked; `BotFunction` is the type that authors write. */
type DialogModule = (turn: DialogTurn, signal: AbortSignal) => AsyncGenerator<unknown, void, undefined>;

/**
 * Loads a bot written as a JavaScript or TypeScript file that exports one async generator function, under any name:
 *
 *     export default defineBot(async function* (turn, signal) {
 *       if (turn.input.kind === 'start') yield 'Hello, who is calling?';
 *       else yield { type: 'hangup', reason: 'done' };
 *     });
 *
 * @param path absolute path of the file
 * @throws DialogModuleError when it cannot be loaded or exports something else
 */
export async function loadModuleHooks(path: string): Promise<DialogHookFactory> {
  const functions = Object.values(await loadExports(path)).filter((value) => typeof value === 'function');
  const [respond, ...others] = functions;
  if (!isAsyncGenerator(respond) || others.length > 0) {
    throw new DialogModuleError(`${path} must export one async generator function (async function*) and no other function`);
  }
  return { create: () => new ModuleHook(respond, path) };
}

/** What a JavaScript or TypeScript file exports, by name. @throws DialogModuleError, with the line, when it cannot be loaded */
export async function loadExports(path: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    const exported = await importModule(path);
    return typeof exported === 'object' && exported !== null ? { ...exported } : {};
  } catch (error) {
    const syntax = error instanceof SyntaxError ? await moduleSyntax(path) : undefined;
    const { where, message } = syntax ?? { where: placeIn(error, path) ?? path, message: errorText(error) };
    throw new DialogModuleError(`${where} cannot be loaded: ${message}`, { cause: error });
  }
}

/** Imports a JavaScript or TypeScript file. jiti compiles TypeScript where Node cannot strip types (before 22.18). */
async function importModule(path: string): Promise<unknown> {
  const native = !/\.[mc]?ts$/u.test(path) || ('typescript' in process.features && Boolean(process.features.typescript));
  if (native) return import(await addressOf(path));
  const { createJiti } = await import('jiti');
  return createJiti(path, { fsCache: false, moduleCache: false }).import(path);
}

/** The version (time and size) of each module's file when it was first imported. */
const importedAs = new Map<string, string>();

/**
 * The URL to import a module from. Node imports a URL once, so a file that changed since gets a new one; the modules that it
 * imports do not.
 */
async function addressOf(path: string): Promise<string> {
  const { mtimeMs, size } = await stat(path);
  const version = `${mtimeMs}-${size}`;
  const first = importedAs.get(path) ?? version;
  importedAs.set(path, first);
  return `${pathToFileURL(path).href}${first === version ? '' : `?changed=${version}`}`;
}

/**
 * Checks the syntax of a JavaScript module in a child process, without running it: an error thrown in this process has no line.
 * @returns its first syntax error; undefined for sound JavaScript and for TypeScript
 * @throws when the file cannot be read
 */
export async function moduleSyntax(path: string): Promise<{ where: string; message: string } | undefined> {
  const source = await readFile(path, 'utf8');
  if (!/\.m?js$/u.test(path)) return undefined;
  return new Promise((resolve) => {
    const check = execFile(
      process.execPath,
      ['--check', '--input-type=module', '-'],
      { timeout: CHECK_LIMIT_MS },
      (_e, _o, told) => {
        const line = /^\[stdin\]:(\d+)$/mu.exec(told)?.[1];
        const message = /^SyntaxError: (.*)$/mu.exec(told)?.[1];
        resolve(line === undefined || message === undefined ? undefined : { where: `${path}:${line}`, message });
      },
    );
    // A child that exits before it read everything has written its error already.
    check.stdin?.on('error', () => undefined).end(source);
  });
}

/** `file:line` in the module where an error was thrown, from its stack. */
function placeIn(error: unknown, path: string): string | undefined {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  const line = [pathToFileURL(path).href, path]
    .map((name) => /^(?:\?changed=[\d.-]+)?:(\d+)/u.exec(stack.split(name)[1] ?? '')?.[1])
    .find((found) => found !== undefined);
  return line === undefined ? undefined : `${path}:${line}`;
}

/** A syntax check takes some 40 ms. */
const CHECK_LIMIT_MS = 10_000;

function isAsyncGenerator(value: unknown): value is DialogModule {
  return Object.prototype.toString.call(value) === '[object AsyncGeneratorFunction]';
}

/** One conversation with a module. A module keeps its own state by `turn.call.callId`, or in variables. */
export class ModuleHook implements DialogHook {
  readonly takesAdvice = true;
  readonly #respond: DialogModule;
  readonly #path: string;

  /** @param path of its file, for messages */
  constructor(respond: DialogModule, path: string) {
    this.#respond = respond;
    this.#path = path;
  }

  /**
   * Yields the module's actions, checked. Ends at once when the signal aborts, even if the module ignores it.
   * @throws DialogAnswerError for a value that is no action; DialogModuleError, with the line, for an error of the module
   */
  async *respond(turn: DialogTurn, signal: AbortSignal): AsyncIterable<DialogAction> {
    const answers = this.#respond(turn, signal);
    let wake: () => void = () => undefined;
    const onAbort = (): void => wake();
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      while (!signal.aborted) {
        // One promise for each action: racing one promise for the whole answer would keep every action in memory until its end.
        const next = await new Promise<IteratorResult<unknown, void> | undefined>((resolve, reject) => {
          wake = () => resolve(undefined);
          answers.next().then(resolve, (error: unknown) => reject(this.#failure(error)));
        });
        if (next === undefined || signal.aborted || next.done === true) return;
        yield parseAction(next.value);
      }
    } finally {
      signal.removeEventListener('abort', onAbort);
      // A module that hangs does not answer `return` either, so this is not awaited.
      void answers.return().catch(() => undefined);
    }
  }
  #failure(error: unknown): DialogModuleError {
    const where = placeIn(error, this.#path) ?? this.#path;
    return new DialogModuleError(`${basename(where)}: ${errorText(error)}`, { cause: error });
  }
}
