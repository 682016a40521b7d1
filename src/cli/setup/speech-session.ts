import type { Settings } from '../../config/schema.ts';
import { systemClock, keepAwake } from '../../kernel/clock.ts';
import { errorTextWithCause } from '../../kernel/errors.ts';
import { createLogger } from '../../observability/logger.ts';
import { SpeechRequestError } from '../../speech/client/errors.ts';
import { SpeechPlatform } from '../../speech/platform.ts';
import type { SpeechPlatformSettings } from '../../speech/client/settings.ts';
import { requireConfiguration } from './configuration.ts';
import { EXIT, printJson, printNote, UsageError } from '../shell/output.ts';
import { speechSource } from './speech-settings.ts';

export interface SpeechSession {
  readonly speech: SpeechPlatform;
  /** Whether an embedded platform was started for this command. */
  readonly isEmbedded: boolean;
  /** Aborts when the user interrupts the command. */
  readonly signal: AbortSignal;
  readonly settings: Settings;
}

/** The fields of `--json` besides `ok`. A command may set `ok` itself when it found a problem. */
export type JsonAnswer = Readonly<Record<string, unknown>>;

/**
 * Runs one command with the configured speech platform, or with an embedded one started for it, and exits: 0 for success, 1 for
 * failure, 2 for wrong usage. With `json` the last line of stdout is exactly one document.
 * @param thrownCode the exit code for an error, for commands where 1 means a partial success
 * @param own settings that the command's options replace
 */
export async function runSpeechCommand(
  name: string,
  flags: { readonly json?: boolean },
  task: (session: SpeechSession) => Promise<JsonAnswer>,
  { thrownCode = EXIT.failed, own = {} }: { readonly thrownCode?: number; readonly own?: Partial<SpeechPlatformSettings> } = {},
): Promise<void> {
  const stop = new AbortController();
  const interrupt = (): void => stop.abort(new Error('interrupted'));
  process.once('SIGINT', interrupt);
  process.once('SIGTERM', interrupt);
  using awake = keepAwake();
  let code: number = EXIT.ok;
  try {
    const { config } = requireConfiguration();
    const { settings } = config;
    const logger = createLogger({ level: settings.log.level === 'info' ? 'warn' : settings.log.level });
    // Any free port: a gateway on this machine may use the configured one.
    const anyPort = { ...config, settings: { ...settings, platform: { ...settings.platform, port: 0 } } };
    await using source = await speechSource(anyPort, logger, stop.signal);
    await using speech = new SpeechPlatform({ ...source.settings, ...own }, { clock: systemClock, logger });
    const answer = await task({ speech, isEmbedded: source.embedded, signal: stop.signal, settings });
    if (flags.json === true) printJson({ ok: true, ...answer });
    if (answer['ok'] === false) code = EXIT.failed;
  } catch (error) {
    code = isWrongUse(error) ? EXIT.usage : thrownCode;
    if (flags.json === true) printJson({ ok: false, error: errorTextWithCause(error), ...factsOf(error) });
    printNote(`offhook ${name}: ${errorTextWithCause(error)}`);
  }
  awake[Symbol.dispose]();
  await flushed(process.stdout);
  process.exit(code);
}

/** Whether the command's usage was wrong; nothing was sent then. */
function isWrongUse(error: unknown): boolean {
  if (error instanceof UsageError) return true;
  return error instanceof SpeechRequestError && error.status === undefined && error.cause === undefined;
}

function factsOf(error: unknown): JsonAnswer {
  if (typeof error !== 'object' || error === null) return {};
  const { code, platformCode, status, requestId, retryable, attempts } = error as Readonly<Record<string, unknown>>;
  return { code, platformCode, status, requestId, retryable, attempts };
}

/** Waits until a pipe has taken all output, which an exit would cut off. */
function flushed(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    if (stream.writableLength === 0) resolve();
    else stream.write('', () => resolve());
  });
}
