import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { fromPackage } from '../../src/cli/setup/package-root.ts';
import { startPlatformProcess } from '../../src/cli/setup/platform-process.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLogger } from '../../src/observability/logger.ts';
import type { SpeechPlatformSettings } from '../../src/speech/platform.ts';
import type { Finished } from '../support/command.ts';
import { BRIEFLY } from '../support/program.ts';

export interface RunningOffhook {
  readonly pid: number;
  /** Everything said so far on either stream. */
  output(): string;
  /** Types a line. */
  type(line: string): void;
  /** The end of what is typed, as Ctrl+D. */
  endInput(): void;
  readonly finished: Promise<Finished>;
}

const BIN = fileURLToPath(new URL('../../bin/offhook.js', import.meta.url));

/** Calls are what is tested, not how busy the machine is. */
const UNHURRIED = {
  OFFHOOK_CALL__REFUSE_LAG_MS: '60000',
  // Learning what the shipped bots' callers can answer takes a minute of processor time in every new data folder.
  OFFHOOK_PLATFORM__VOCABULARY: 'files',
};

/** Starts the command line as a process of its own, as a user would at a keyboard. */
export function startOffhook(args: readonly string[], env: Readonly<Record<string, string>> = {}): RunningOffhook {
  const child = spawn(process.execPath, [...BRIEFLY, BIN, ...args], {
    env: { ...process.env, ...UNHURRIED, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (part: Buffer) => void (stdout += part.toString('utf8')));
  child.stderr.on('data', (part: Buffer) => void (stderr += part.toString('utf8')));
  // What is typed after its end goes nowhere.
  child.stdin.on('error', () => undefined);
  const { pid } = child;
  if (pid === undefined) throw new Error('the command line could not be started');
  return {
    pid,
    output: () => stdout + stderr,
    type: (line) => void child.stdin.write(`${line}\n`),
    endInput: () => void child.stdin.end(),
    finished: new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => resolve({ code, stdout, stderr }));
    }),
  };
}

/** Runs the command line to its end, with nothing to type. */
export function runOffhook(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Finished> {
  const running = startOffhook(args, env);
  running.endInput();
  return running.finished;
}

export interface SharedPlatform extends AsyncDisposable {
  readonly settings: SpeechPlatformSettings;
  /** The same, as the settings of a command. */
  readonly env: Readonly<Record<string, string>>;
}

/** A speech platform for many commands to share, each of which would start one of its own: compiled, as theirs is. */
export async function startSharedPlatform(dataDir: string): Promise<SharedPlatform> {
  // Compiles the program first when it has changed.
  await runOffhook(['--version']);
  const entry = fromPackage('dist/platform/entry.js');
  const vocabularyFolder = fromPackage('config/platform');
  const settings = ['--port', '0', '--profile', 'plain', '--data-dir', dataDir, '--vocabulary', vocabularyFolder];
  const platform = await startPlatformProcess({
    port: 0,
    profile: 'plain',
    dataDir,
    vocabularyFolder,
    command: [process.execPath, entry, '--json', '--exit-with-parent', ...settings],
    startTimeoutMs: 300_000,
    clock: systemClock,
    logger: silentLogger,
  });
  const { apiKey } = platform;
  const { authUrl, asrUrl, asrAltUrl, medUrl, ttsUrl } = platform.urls;
  return {
    settings: { ...platform.urls, apiKey },
    env: {
      OFFHOOK_AUTH_URL: authUrl,
      OFFHOOK_ASR_URL: asrUrl,
      OFFHOOK_ASR_ALT_URL: asrAltUrl,
      OFFHOOK_MED_URL: medUrl,
      OFFHOOK_TTS_URL: ttsUrl,
      OFFHOOK_API_KEY: apiKey,
    },
    [Symbol.asyncDispose]: () => platform[Symbol.asyncDispose](),
  };
}
