import { type Logger as PinoLogger, destination, type DestinationStream, pino } from 'pino';
import { errorText, OffhookError } from '../kernel/errors.ts';

/**
 * The fields of a log line; its message is fixed words. Personal values (numbers, words, names) go under `pii`, an error under
 * `error`. Tokens, secrets and audio are never logged.
 */
export type LogFields = Readonly<Record<string, unknown>>;

/** The project's logger: small, so that every layer can take one as an argument. */
export interface Logger {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
  /** A logger that adds these fields to every line. */
  child(fields: LogFields): Logger;
}

export interface LoggerOptions {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  /** Write personal values instead of removing them. */
  readonly personal?: boolean;
  /** Gets the lines, one JSON document each; stderr when absent. */
  readonly stream?: DestinationStream;
}

/** One star is one level in pino's paths, so each depth is listed, up to the deepest in use. */
function depths(name: string): string[] {
  return [name, `*.${name}`, `*.*.${name}`, `*.*.*.${name}`];
}

// A second safeguard: no line should have these.
const neverLogged = ['token', 'authToken', 'apiKey', 'authorization', 'password', 'payload'].flatMap(depths);

/** A logger writing JSON lines to stderr, so that stdout stays free for a command's own output. */
export function createLogger(options: LoggerOptions): Logger {
  const paths = options.personal === true ? neverLogged : [...depths('pii'), ...neverLogged];
  // Asynchronous: a slow reader of stderr must not delay audio. Pending lines are flushed at exit.
  const stream = options.stream ?? destination({ dest: 2, sync: false });
  const logger = pino(
    {
      level: options.level,
      base: {},
      redact: { paths, remove: true },
      serializers: { error: errorFields },
      formatters: { level: (label) => ({ level: label }) },
      timestamp: pino.stdTimeFunctions.isoTime,
      messageKey: 'message',
    },
    stream,
  );
  return wrap(logger);
}

/** Drops all lines. For tests and for parts used as a library. */
export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silentLogger,
};

function wrap(logger: PinoLogger): Logger {
  return {
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
    child: (fields) => wrap(logger.child(fields)),
  };
}

/** An error as fields, with its causes, at most four deep. */
export function errorFields(thrown: unknown, depth = 0): unknown {
  if (!(thrown instanceof Error)) return thrown === undefined ? undefined : errorText(thrown);
  return {
    name: thrown.name,
    message: withoutQuote(thrown.message),
    ...(thrown instanceof OffhookError ? { code: thrown.code, retryable: thrown.retryable, facts: thrown.facts } : {}),
    stack: depth === 0 && thrown.stack !== undefined ? withoutQuote(thrown.stack) : undefined,
    cause: thrown.cause === undefined || depth >= 3 ? undefined : errorFields(thrown.cause, depth + 1),
  };
}

/** `JSON.parse` quotes its input in its error, which may be a caller's words. */
function withoutQuote(text: string): string {
  return text.replace(/"[^]*"(?:\.\.\.)? is not valid JSON/u, '[removed] is not valid JSON');
}
