import { availableParallelism } from 'node:os';
import { InvalidArgumentError } from 'commander';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type BotDraft, loadBots } from '../../config/bot-files.ts';
import { withTrials } from '../../config/bot-trials.ts';
import type { Bot } from '../../config/bots.ts';
import { type Environment, readEnvironment, readSettingsFiles } from '../../config/env.ts';
import { withOverrides } from '../../config/env-settings.ts';
import { type LoadedConfig, loadConfig } from '../../config/load.ts';
import { errorsOf, type Problem, problemText } from '../../config/problem.ts';
import { hasControl, takesCarrierCalls } from '../../carriers/open-carriers.ts';
import { catalogue } from '../../config/schema.ts';
import { EXIT, printNote } from '../shell/output.ts';
import { packageRoot } from './package-root.ts';

export interface Configuration {
  readonly config: LoadedConfig;
  /** Bots with valid files, also without their secret. */
  readonly bots: readonly Bot[];
  /** Problems of the settings. */
  readonly problems: readonly Problem[];
  /** Problems of the bot files. */
  readonly botProblems: readonly Problem[];
}

/**
 * Reads settings and bots. Relative paths start at the working folder; the folders of bots, analysis profiles and vocabularies come
 * from the package if the working folder has none.
 * @param overrides environment variables that replace real ones, also under other names of the same settings
 * @param draft read in place of one of the bots' files
 */
export function readConfiguration(overrides: Environment = {}, draft?: BotDraft): Configuration {
  const env = withOverrides(readEnvironment(), overrides, catalogue);
  const { files, problems } = readSettingsFiles(env, packageRoot, process.cwd());
  const loaded = loadConfig({ env, files });
  const { bots: botSettings, analysis, dialling, platform } = loaded.settings;
  const settings = {
    ...loaded.settings,
    bots: { ...botSettings, folder: findFolder(botSettings.folder) },
    analysis: { ...analysis, folder: findFolder(analysis.folder) },
    dialling: { ...dialling, folder: findFolder(dialling.folder) },
    platform: { ...platform, vocabularyFolder: findFolder(platform.vocabularyFolder) },
  };
  const config = { ...loaded, settings };
  const { bots, problems: botProblems } = loadBots(settings.bots.folder, env, draft);
  return { config, bots, problems: [...problems, ...config.problems], botProblems };
}

/** The folder of this name in the working folder, or the package's if only that exists. */
function findFolder(folder: string): string {
  const own = resolve(folder);
  const shipped = join(packageRoot, folder);
  return existsSync(own) || !existsSync(shipped) ? own : shipped;
}

/** Reads the configuration with all problems that stop a gateway or a worker. */
export async function readWholeConfiguration(overrides: Environment = {}, draft?: BotDraft): Promise<Configuration> {
  const configuration = readConfiguration(overrides, draft);
  const { config, bots, problems } = configuration;
  // Loaded here, since most commands do not need it.
  const { startProblems } = await import('./start-problems.ts');
  const { folder } = config.settings.analysis;
  const profiles = { folder, isOwn: folder !== join(packageRoot, 'config/analysis') };
  const refused = await startProblems(config, bots, profiles, { ...readEnvironment(), ...overrides });
  return { ...configuration, problems: [...problems, ...refused] };
}

/**
 * Reads the configuration with all problems of a gateway: also those of the bots' dialogs and of names in their files.
 * @param asksPlatform whether to ask a configured speech platform for its voices and languages
 * @param draft see `readConfiguration`
 */
export async function readGatewayConfiguration(
  overrides: Environment = {},
  asksPlatform = false,
  draft?: BotDraft,
): Promise<Configuration> {
  const whole = await readWholeConfiguration(overrides, draft);
  const { botProblems, platformNames } = await import('./bot-problems.ts');
  const { names, problems } = await platformNames(whole, asksPlatform);
  const { chosen, speechDefaults } = await import('../../speech/routing/choice.ts');
  const { settings, tenants } = whole.config;
  const defaults = speechDefaults(settings.speech);
  const { diallingDestinations, DiallingProfiles } = await import('../../outbound/profiles.ts');
  // What is wrong with them is told already.
  const profiles = await DiallingProfiles.load(settings.dialling.folder).catch(() => undefined);
  const found = await botProblems(withTrials(whole.bots), {
    ...names,
    // Simulated calls alone come to a gateway without a carrier's secret: nothing is wrong with a bot that would transfer them.
    hasControl: hasControl(whole.config.carriers) || !takesCarrierCalls(whole.config.carriers),
    destinationsOf: diallingDestinations(settings, tenants, profiles),
    isPlatform: (service, bot, language) => chosen(service, bot, language, defaults)[0] === 'platform',
  });
  const { speechProblems } = await import('./speech-problems.ts');
  const speech = await speechProblems(whole.config, withTrials(whole.bots));
  return { ...whole, botProblems: [...whole.botProblems, ...problems, ...speech, ...found] };
}

/** The configuration of a command that takes no calls; exits with all problems of the settings. Problems of bots are warnings. */
export function requireConfiguration(overrides: Environment = {}): Configuration {
  const configuration = readConfiguration(overrides);
  return soundOrExit(configuration, [...configuration.problems, ...configuration.botProblems.map(asWarning)]);
}

/** The configuration of a worker; exits with all problems. Problems that affect only calls are warnings. */
export async function requireWholeConfiguration(): Promise<Configuration> {
  const configuration = await readWholeConfiguration();
  const ofBots = configuration.botProblems.map((problem) => (problem.affects === 'calls' ? asWarning(problem) : problem));
  return soundOrExit(configuration, [...configuration.problems, ...ofBots]);
}

/** The configuration of a gateway; exits with all problems. */
export async function requireGatewayConfiguration(): Promise<Configuration> {
  const configuration = await readGatewayConfiguration();
  return soundOrExit(configuration, [...configuration.problems, ...configuration.botProblems]);
}

function asWarning(problem: Problem): Problem {
  return { ...problem, severity: 'warning' };
}

function soundOrExit(configuration: Configuration, problems: readonly Problem[]): Configuration {
  for (const problem of problems) printNote(problemText(problem));
  const errors = errorsOf(problems);
  if (errors.length > 0) {
    printNote(`${errors.length} problem(s) in the configuration; nothing was started.`);
    process.exit(EXIT.usage);
  }
  return configuration;
}

/** The limit of the setting `call.processes`. */
const MOST_PROCESSES = 64;

/** Reads the flag `--processes`. @returns 0 for `auto` @throws InvalidArgumentError */
export function readProcesses(text: string): number {
  if (text === 'auto') return 0;
  if (!/^[1-9]\d?$/.test(text) || Number(text) > MOST_PROCESSES)
    throw new InvalidArgumentError(`auto or a whole number from 1 to ${MOST_PROCESSES} is expected.`);
  return Number(text);
}

/** The number of processes for calls, from the flag or the setting `call.processes`; 0 means one for each core. */
export function processCount(flag: number | undefined, setting: number): number {
  return (flag ?? setting) || availableParallelism();
}
