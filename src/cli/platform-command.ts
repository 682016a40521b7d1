import { type Command, Option } from 'commander';
import { systemClock } from '../kernel/clock.ts';
import { errorTextWithCause } from '../kernel/errors.ts';
import { createLogger } from '../observability/logger.ts';
import { createEngines } from '../platform/engines/engines.ts';
import { runPlatform } from '../platform/main.ts';
import { requireConfiguration } from './configuration.ts';
import { EXIT, printNote } from './output.ts';
import { addPlatformKeysCommands } from './platform-keys-command.ts';

interface PlatformFlags {
  readonly port?: string;
  readonly profile?: 'plain' | 'hosted-like';
  readonly compat?: boolean;
  readonly fault?: readonly string[];
  readonly json?: boolean;
}

/** `offhook platform`: the embedded speech platform alone, for clients of any kind on this machine. */
export function addPlatformCommand(program: Command): void {
  const platformCommand = program.command('platform');
  addPlatformKeysCommands(platformCommand);
  platformCommand
    .description('run the embedded speech platform alone, on loopback, with a development key')
    .option('--port <port>', 'first of five ports: auth, ASR, Variant B, medical, TTS; 0 takes free ones')
    .addOption(new Option('--profile <profile>', 'how it behaves').choices(['plain', 'hosted-like']))
    .option('--compat', 'also take the forms that other generations of this interface use')
    .option('--fault <name=value>', 'a fault for testing clients; may be given several times', collected)
    .option('--json', 'print addresses and key as one JSON document')
    .action(async (flags: PlatformFlags) => {
      const { config } = requireConfiguration(flags.port === undefined ? {} : { OFFHOOK_PLATFORM_PORT: flags.port });
      const { platform, dataDir, log } = config.settings;
      const logger = createLogger({ level: log.level });
      try {
        await runPlatform({
          port: platform.port,
          profile: flags.profile ?? platform.profile,
          json: flags.json === true,
          compat: flags.compat === true,
          audioHosts: platform.audioHosts,
          faults: flags.fault?.join(',') ?? platform.faults,
          dataDir,
          createEngines: (cacheFolder) =>
            createEngines({
              cacheFolder,
              vocabularyFolder: platform.vocabularyFolder,
              modelsFolder: platform.modelsFolder,
              clock: systemClock,
              logger,
            }),
          clock: systemClock,
          logger,
          process,
        });
      } catch (error) {
        printNote(`offhook platform: ${errorTextWithCause(error)}`);
        process.exit(EXIT.failed);
      }
    });
}

function collected(pair: string, before: readonly string[] = []): readonly string[] {
  return [...before, pair];
}
