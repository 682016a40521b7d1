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
  /** Whether the platform was started for this command and ends with it. */
  readonly isEmbedded: boolean;
  /** Aborts when the user interrupts the command. */
  readonly signal: AbortSignal;
  readonly settings: Settings;
}

/** What a command's `--json` prints besides `ok`, which it may say itself when it did its work and found something wrong. */
export type JsonAnswer = Readonly<Record<string, unknown>>;

/**
 * Runs one command against the configured speech platform, or against an embedded one started for it, and ends the process:
 * 0 when it worked, 1 when it failed, 2 for a wrong use of it. With `json` exactly one document is the last line of stdout.
 * @param thrownCode the exit code for an error, where 1 says that something was done and not all of it worked
 * @param own what the command's options set, in place of the settings
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
    // Free ports: a gateway of this machine may have the others.
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

/** The command or its options are wrong: nothing was sent. */
function isWrongUse(error: unknown): boolean {
  if (error instanceof UsageError) return true;
  return error instanceof SpeechRequestError && error.status === undefined && error.cause === undefined;
}

function factsOf(error: unknown): JsonAnswer {
  if (typeof error !== 'object' || error === null) return {};
  const { code, platformCode, status, requestId, retryable, attempts } = error as Readonly<Record<string, unknown>>;
  return { code, platformCode, status, requestId, retryable, attempts };
}

/** Waits until a pipe has taken what was written: an exit would cut it off. */
function flushed(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    if (stream.writableLength === 0) resolve();
    else stream.write('', () => resolve());
  });
}
