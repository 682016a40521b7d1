import { type Command, Option } from 'commander';
import { systemClock } from '../kernel/clock.ts';
import { consoleToken } from '../platform/keys/tokens.ts';
import { ApiKeyFile, type ApiKeyRecord, keyPaths } from '../platform/keys/api-keys.ts';
import { requireConfiguration } from './setup/configuration.ts';
import { usedModelsFolder } from './setup/speech-settings.ts';
import { printJson, printLine, printNote, tableText } from './shell/output.ts';
import { createLogger } from '../observability/logger.ts';
import { createEngines } from '../platform/engines/engines.ts';
import { runPlatform } from '../platform/main.ts';

interface PlatformFlags {
  readonly port?: string;
  readonly profile?: 'plain' | 'hosted-like';
  readonly compat?: boolean;
  readonly fault?: readonly string[];
  readonly json?: boolean;
}

/** `offhook platform`: runs the embedded speech platform alone, for any client on this machine. */
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
      await runPlatform({
        port: platform.port,
        profile: flags.profile ?? platform.profile,
        json: flags.json === true,
        compat: flags.compat === true,
        audioHosts: platform.audioHosts,
        faults: flags.fault?.join(',') ?? platform.faults,
        dataDir,
        createEngines: async (cacheFolder) =>
          createEngines({
            cacheFolder,
            vocabularyFolder: platform.vocabularyFolder,
            modelsFolder: await usedModelsFolder(config.settings),
            threads: platform.threads,
            clock: systemClock,
            logger,
          }),
        clock: systemClock,
        logger,
        process,
      });
    });
}

function collected(pair: string, before: readonly string[] = []): readonly string[] {
  return [...before, pair];
}

/** Lifetime of a console token: the token service's default (platform doc, limits). */
const tokenLifeSeconds = 900;

interface Answer {
  readonly document: unknown;
  readonly text: string;
}

/** `offhook platform keys …`: manages the API keys in the data folder, as a hosted platform's web console does. */
function addPlatformKeysCommands(platform: Command): void {
  const keys = platform.command('keys').description("make, list and revoke the embedded platform's API keys");
  keys
    .command('create')
    .description('make an API key and show its secret, this one time')
    .option('--no-balance', 'make a key whose account has no balance: requests get 403')
    .option('--json', 'print one JSON document')
    .action((flags: { balance: boolean }, command: Command) =>
      answer(command, async (_dataDir, file) => {
        const { record, secret } = await file.create({ nowMs: systemClock.wallMs(), hasBalance: flags.balance });
        printNote('This is the only time the key is shown.');
        return { document: { ...shown(record), apiKey: secret }, text: secret };
      }),
    );
  keys
    .command('list')
    .description('list the API keys, without their secrets')
    .option('--json', 'print one JSON document')
    .action((_flags: unknown, command: Command) =>
      answer(command, async (_dataDir, file) => {
        const records = file.records();
        const rows = records.map((key) => [key.id, `${key.prefix}…`, key.createdAt, stateOf(key)]);
        return { document: { keys: records.map(shown) }, text: tableText([['ID', 'KEY', 'CREATED', 'STATE'], ...rows]) };
      }),
    );
  keys
    .command('revoke <id>')
    .description('revoke an API key for good; a running platform refuses it from then on')
    .option('--json', 'print one JSON document')
    .action((id: string, _flags: unknown, command: Command) =>
      answer(command, async (_dataDir, file) => {
        const record = await file.revoke(id, systemClock.wallMs());
        return { document: shown(record), text: `revoked ${record.id}` };
      }),
    );
  keys
    .command('token <id>')
    .description('make an access token for an API key, as the console does; it is valid for 15 minutes')
    .option('--json', 'print one JSON document')
    .action((id: string, _flags: unknown, command: Command) =>
      answer(command, async (dataDir) => {
        const options = { lifeSeconds: tokenLifeSeconds, clock: systemClock };
        const { token, expiresAtSeconds } = await consoleToken(dataDir, id, options);
        const expiresAt = new Date(expiresAtSeconds * 1000).toISOString();
        return { document: { token, expiresInSeconds: tokenLifeSeconds, expiresAt }, text: token };
      }),
    );
}

async function answer(command: Command, task: (dataDir: string, file: ApiKeyFile) => Promise<Answer>): Promise<void> {
  // The parent command has its own --json, which takes the flag in any position.
  const { json } = command.optsWithGlobals<{ json?: boolean }>();
  const { dataDir } = requireConfiguration().config.settings;
  const { document, text } = await task(dataDir, new ApiKeyFile(keyPaths(dataDir).apiKeys));
  if (json === true) printJson(document);
  else printLine(text);
}

function shown(record: ApiKeyRecord): Omit<ApiKeyRecord, 'hash'> {
  const { hash: _hash, ...rest } = record;
  return rest;
}

function stateOf(record: ApiKeyRecord): string {
  if (record.revokedAt !== null) return `revoked ${record.revokedAt}`;
  return record.hasBalance ? 'active' : 'no balance';
}
