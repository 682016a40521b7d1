import { isAbsolute, join } from 'node:path';
import { loadBots } from '../config/bot-files.ts';
import type { Bot } from '../config/bots.ts';
import { type Environment, readEnvironment, readSettingsFiles } from '../config/env.ts';
import { withOverrides } from '../config/env-settings.ts';
import { type LoadedConfig, loadConfig } from '../config/load.ts';
import { type Problem, problemText } from '../config/problem.ts';
import { catalogue } from '../config/schema.ts';
import { EXIT, printNote } from './output.ts';
import { packageRoot } from './package-root.ts';

export interface Configuration {
  readonly config: LoadedConfig;
  readonly bots: readonly Bot[];
  /** Of the settings and of the bot files. */
  readonly problems: readonly Problem[];
}

/**
 * Reads settings and bots. Relative folders in settings start from the working folder, shipped ones from the package, so
 * that the program works from anywhere.
 * @param overrides environment names that win over the real ones, and over other names of the same settings
 */
export function readConfiguration(overrides: Environment = {}): Configuration {
  const env = withOverrides(readEnvironment(), overrides, catalogue);
  const { files, problems } = readSettingsFiles(env, packageRoot, process.cwd());
  const config = loadConfig({ env, files });
  const bots = loadBots(shippedFolder(config.settings.bots.folder), env);
  return { config, bots: bots.bots, problems: [...problems, ...config.problems, ...bots.problems] };
}

/** A folder named in settings: as it stands when absolute, else in the package. */
export function shippedFolder(folder: string): string {
  return isAbsolute(folder) ? folder : join(packageRoot, folder);
}

/** The same, with every problem that a gateway or a worker has with settings beyond their form. */
export async function readWholeConfiguration(overrides: Environment = {}): Promise<Configuration> {
  const configuration = readConfiguration(overrides);
  const { config, problems } = configuration;
  // Not for the commands that need none of it.
  const { startProblems } = await import('./start-problems.ts');
  const profilesFolder = shippedFolder(config.settings.analysis.folder);
  const refused = await startProblems(config, profilesFolder, { ...readEnvironment(), ...overrides });
  return { ...configuration, problems: [...problems, ...refused] };
}

/** The same, with every problem of the bots' dialogs, which a gateway loads and a worker does not. */
export async function readGatewayConfiguration(overrides: Environment = {}): Promise<Configuration> {
  const whole = await readWholeConfiguration(overrides);
  const { dialogProblems } = await import('./dialog-problems.ts');
  return { ...whole, problems: [...whole.problems, ...(await dialogProblems(whole.bots))] };
}

/** The configuration, or an exit with every problem printed. */
export function requireConfiguration(overrides: Environment = {}): Configuration {
  return soundOrExit(readConfiguration(overrides));
}

/** The configuration of a worker, or an exit with every problem printed. */
export async function requireWholeConfiguration(): Promise<Configuration> {
  return soundOrExit(await readWholeConfiguration());
}

/** The configuration of a gateway, or an exit with every problem printed. */
export async function requireGatewayConfiguration(): Promise<Configuration> {
  return soundOrExit(await readGatewayConfiguration());
}

function soundOrExit(configuration: Configuration): Configuration {
  if (configuration.problems.length > 0) {
    for (const problem of configuration.problems) printNote(problemText(problem));
    printNote(`${configuration.problems.length} problem(s) in the configuration; nothing was started.`);
    process.exit(EXIT.usage);
  }
  return configuration;
}
