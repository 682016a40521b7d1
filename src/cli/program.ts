import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { z } from 'zod';
import { errorTextWithCause } from '../kernel/errors.ts';
import { EXIT, printNote, ProblemList, UsageError } from './shell/output.ts';
import { fromPackage } from './setup/package-root.ts';

type AddCommand = (program: Command) => void;

/** Every command, in the order of the help text. A command's file is loaded only when it is called, or for the help text. */
const COMMANDS: Readonly<Record<string, () => Promise<AddCommand>>> = {
  init: async () => (await import('./init-command.ts')).addInitCommand,
  start: async () => (await import('./start-command.ts')).addStartCommand,
  console: async () => (await import('./console-command.ts')).addConsoleCommand,
  reload: async () => (await import('./running-gateways.ts')).addReloadCommand,
  drain: async () => (await import('./running-gateways.ts')).addDrainCommand,
  demo: async () => (await import('./demo-command.ts')).addDemoCommand,
  chat: async () => (await import('./chat-command.ts')).addChatCommand,
  eval: async () => (await import('./eval-command.ts')).addEvalCommand,
  mcp: async () => (await import('./mcp-command.ts')).addMcpCommand,
  conformance: async () => (await import('./conformance-command.ts')).addConformanceCommand,
  call: async () => (await import('./call-command.ts')).addCallCommand,
  dial: async () => (await import('./dial-command.ts')).addDialCommand,
  bench: async () => (await import('./bench-command.ts')).addBenchCommand,
  platform: async () => (await import('./platform-command.ts')).addPlatformCommand,
  models: async () => (await import('./models-command.ts')).addModelsCommand,
  worker: async () => (await import('./worker-command.ts')).addWorkerCommand,
  jobs: async () => (await import('./records-commands.ts')).addJobsCommand,
  webhooks: async () => (await import('./records-commands.ts')).addWebhooksCommand,
  costs: async () => (await import('./costs-command.ts')).addCostsCommand,
  campaign: async () => (await import('./campaign-commands.ts')).addCampaignCommand,
  erase: async () => (await import('./records-commands.ts')).addEraseCommand,
  hold: async () => (await import('./records-commands.ts')).addHoldCommand,
  suppress: async () => (await import('./dial-list-commands.ts')).addSuppressCommand,
  consent: async () => (await import('./dial-list-commands.ts')).addConsentCommand,
  audit: async () => (await import('./audit-command.ts')).addAuditCommand,
  replay: async () => (await import('./replay-command.ts')).addReplayCommand,
  carriers: async () => (await import('./config-command.ts')).addCarriersCommand,
  config: async () => (await import('./config-command.ts')).addConfigCommand,
  doctor: async () => (await import('./doctor-command.ts')).addDoctorCommand,
  token: async () => (await import('./speech-commands.ts')).addTokenCommand,
  say: async () => (await import('./say-command.ts')).addSayCommand,
  transcribe: async () => (await import('./transcribe-command.ts')).addTranscribeCommand,
  analyse: async () => (await import('./analyse-command.ts')).addAnalyseCommand,
  'api-keys': async () => (await import('./api-keys-command.ts')).addApiKeysCommand,
  speakers: async () => (await import('./speech-commands.ts')).addSpeakersCommand,
  voices: async () => (await import('./speech-commands.ts')).addVoicesCommand,
  languages: async () => (await import('./speech-commands.ts')).addLanguagesCommand,
};

/**
 * Runs the command line. Exit code 0 is success, 1 failure, 2 wrong usage: a command that throws has failed, and its error is printed behind its name.
 */
export async function runProgram(asked: readonly string[]): Promise<void> {
  const program = await buildProgram(asked);
  let name = program.name();
  program.hook('preAction', (_program, action) => {
    const path: string[] = [];
    for (let each: Command | null = action; each !== null; each = each.parent) path.unshift(each.name());
    name = path.join(' ');
  });
  try {
    await program.parseAsync([...asked], { from: 'user' });
  } catch (error) {
    const message = errorTextWithCause(error);
    printNote(error instanceof ProblemList ? message : `${name}: ${message}`);
    process.exit(error instanceof UsageError ? EXIT.usage : EXIT.failed);
  }
}

/**
 * The commands.
 * @param asked the arguments. When the first is a command, only that command is loaded; else all, for the help text and for the
 *   suggestion of the nearest name
 */
export async function buildProgram(asked: readonly string[]): Promise<Command> {
  const manifest = z.object({ version: z.string() }).parse(JSON.parse(readFileSync(fromPackage('package.json'), 'utf8')));
  const program = new Command('offhook')
    .description('answers the phone for a bot: a voice-bot gateway for telephony media streams')
    .version(manifest.version)
    .exitOverride((error) => {
      process.exit(error.exitCode === 0 ? EXIT.ok : EXIT.usage);
    });
  const [name = ''] = asked;
  const all = name === '-V' || name === '--version' ? [] : Object.values(COMMANDS);
  const called = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  const needed = called === undefined ? all : [called];
  // Loaded at the same time, added in order.
  for (const add of await Promise.all(needed.map((load) => load()))) add(program);
  return program;
}
