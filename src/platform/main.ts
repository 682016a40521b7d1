import type { Readable, Writable } from 'node:stream';
import { join } from 'node:path';
import type { Clock } from '../kernel/clock.ts';
import type { Logger } from '../observability/logger.ts';
import { onMessages, readHandover } from './handover.ts';
import { ApiKeyFile, keyPaths } from './keys/api-keys.ts';
import { signingKeysIn } from './keys/tokens.ts';
import type { ProfileName } from './server/asr/behaviour.ts';
import { readFaults } from './server/faults/faults.ts';
import { type PlatformEngines, type RunningPlatform, startPlatform } from './server/start.ts';

export interface RunPlatformOptions {
  /** First of five ports; 0 for free ones. */
  readonly port: number;
  readonly profile: ProfileName;
  /** Print one JSON document as the last line of stdout, instead of text. */
  readonly json: boolean;
  /** Data folder; the platform uses `platform/` below it. */
  readonly dataDir: string;
  /** Read a first line from stdin (a `Handover`), and stop when stdin ends. */
  readonly exitWithParent?: boolean;
  readonly compat?: boolean;
  /** Private hosts that a transcription may fetch from, separated by commas. */
  readonly audioHosts?: string | undefined;
  /** Injected faults (`server/faults/faults.ts`); none when absent or empty. */
  readonly faults?: string | undefined;
  /** Starts the engines, which may cache models in the folder; they are disposed of at the end. */
  readonly createEngines: (cacheFolder: string) => Promise<PlatformEngines>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly process: NodeJS.Process;
}

/** The addresses and the key, as `offhook platform --json` prints them. */
export interface PlatformAddresses extends Pick<
  RunningPlatform,
  'authUrl' | 'asrUrl' | 'asrAltUrl' | 'medUrl' | 'ttsUrl' | 'apiKey'
> {
  /** The injected faults with their seed, in the format of the setting; absent without any. */
  readonly faults?: string;
}

/**
 * Runs the platform until it is told to stop, as `offhook platform` does. Resolves when everything is closed.
 * @throws PlatformPortError, HandoverError, FaultSettingError, or an engine's error when it cannot start
 */
export async function runPlatform(options: RunPlatformOptions): Promise<void> {
  const { clock, logger, process } = options;
  const faultText = options.faults?.trim() ?? '';
  const faults = readFaults(faultText);
  const stdin: Readable | undefined = options.exitWithParent === true ? process.stdin : undefined;
  // An open pipe would keep the process alive after everything is closed.
  using _pipe = { [Symbol.dispose]: () => void stdin?.destroy() };
  const handover = stdin === undefined ? {} : await readHandover(stdin);
  const stop = stopRequested(stdin === undefined ? { process } : { process, parentPipe: stdin });
  let stopped = false;
  void stop.then(() => {
    stopped = true;
  });

  const folder = join(options.dataDir, 'platform');
  const engines = await options.createEngines(join(folder, 'cache'));
  await using _synthesis = engines.synthesis;
  await using _recognition = engines.recognition;
  await using _speakers = engines.speakers;
  if (stopped) return;
  const paths = keyPaths(options.dataDir);
  await using platform = await startPlatform({
    keyFile: new ApiKeyFile(paths.apiKeys),
    signingKeys: await signingKeysIn(paths.signingKey),
    basePort: options.port,
    ...(handover.ports === undefined ? {} : { ports: handover.ports }),
    ...(handover.apiKey === undefined ? {} : { apiKeys: [{ secret: handover.apiKey }] }),
    engines,
    clock,
    logger,
    profile: options.profile,
    ...(faultText === '' ? {} : { faults }),
    compat: options.compat ?? false,
    audioHosts: (options.audioHosts ?? '').split(',').map((host) => host.trim()),
    dataDir: folder,
  });
  const seeded = faults.seed === undefined ? `${faultText},seed=${platform.faultSeed}` : faultText;
  announce(platform, process.stdout, {
    faults: faultText === '' ? undefined : seeded,
    json: options.json,
    compat: options.compat === true,
  });
  if (stdin !== undefined) {
    const { recognition } = engines;
    onMessages(stdin, ({ vocabulary }) =>
      recognition.teach?.(vocabulary, (learning) => process.stdout.write(`${JSON.stringify({ learning })}\n`)),
    );
  }
  const reason = await stop;
  logger.info({ reason }, 'speech platform stopping');
}

interface Announcement {
  readonly faults: string | undefined;
  readonly json: boolean;
  readonly compat: boolean;
}

function announce(platform: RunningPlatform, out: Writable, { faults, json, compat }: Announcement): void {
  const { authUrl, asrUrl, asrAltUrl, medUrl, ttsUrl, apiKey } = platform;
  const plain = { authUrl, asrUrl, asrAltUrl, medUrl, ttsUrl, apiKey };
  const addresses: PlatformAddresses = faults === undefined ? plain : { ...plain, faults };
  if (json) {
    out.write(`${JSON.stringify(addresses)}\n`);
    return;
  }
  const lines = [
    'The speech platform is up, on this machine only.',
    '',
    `  OFFHOOK_AUTH_URL=${authUrl}`,
    `  OFFHOOK_ASR_URL=${asrUrl}`,
    `  OFFHOOK_ASR_ALT_URL=${asrAltUrl}`,
    `  OFFHOOK_MED_URL=${medUrl}`,
    `  OFFHOOK_TTS_URL=${ttsUrl}`,
    `  OFFHOOK_API_KEY=${apiKey}`,
    ...(compat ? ['', "The vendor's Python client (shunyalabsai) reads:", '', ...vendorSettings(platform)] : []),
    ...(faults === undefined ? [] : ['', `It has faults, on purpose: ${faults}`]),
    '',
    'The key is for development and lives as long as this process; offhook platform keys makes ones that stay. Ctrl-C stops it.',
  ];
  out.write(`${lines.join('\n')}\n`);
}

/** Environment variables of the vendor's clients (docs/platform-clients.md). */
function vendorSettings({ authUrl, asrUrl, ttsUrl, apiKey }: RunningPlatform): string[] {
  const socket = (url: string): string => `${url.replace('http', 'ws')}/v1/realtime`;
  const settings = {
    API_KEY: apiKey,
    AUTH_URL: `${authUrl}/api/auth/token`,
    ASR_URL: asrUrl,
    ASR_WS_URL: socket(asrUrl),
    TTS_URL: ttsUrl,
    TTS_WS_URL: socket(ttsUrl),
  };
  return Object.entries(settings).map(([name, value]) => `  SHUNYALABS_${name}=${value}`);
}

export interface StopSources {
  /** The process: the end of its message channel when it has one, and SIGTERM and SIGINT where no parent decides. */
  readonly process: NodeJS.Process;
  /**
   * When given, its end is the stop signal, since it ends however the parent dies. SIGTERM and SIGINT are ignored then: terminals and
   * service managers signal the whole process group, while the parent still has calls to finish.
   */
  readonly parentPipe?: Readable;
}

/**
 * Resolves once, with the reason to stop. The listeners stay, so that a second SIGINT does not interrupt the shutdown.
 */
export function stopRequested({ process, parentPipe }: StopSources): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const)
      process.on(signal, () => {
        if (parentPipe === undefined) resolve(signal);
      });
    process.on('disconnect', () => resolve('the parent closed its channel'));
    if (parentPipe === undefined) return;
    for (const event of ['end', 'close', 'error'] as const) {
      parentPipe.on(event, () => resolve('the parent closed its pipe'));
    }
    // Without reading, the end of the stream is not reported.
    parentPipe.resume();
  });
}
