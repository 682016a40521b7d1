import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { z } from 'zod';
import { addAnalyseCommand } from './analyse-command.ts';
import { addApiKeysCommand } from './api-keys-command.ts';
import { addCallCommand } from './call-command.ts';
import { addConfigCommand } from './config-command.ts';
import { addDemoCommand } from './demo-command.ts';
import { addDoctorCommand } from './doctor-command.ts';
import { addLanguagesCommand } from './languages-command.ts';
import { addEraseCommand } from './erase-command.ts';
import { addJobsCommand } from './jobs-command.ts';
import { EXIT } from './output.ts';
import { fromPackage } from './package-root.ts';
import { addPlatformCommand } from './platform-command.ts';
import { addReplayCommand } from './replay-command.ts';
import { addSayCommand } from './say-command.ts';
import { addSpeakersCommand } from './speakers-command.ts';
import { addStartCommand } from './start-command.ts';
import { addTokenCommand } from './token-command.ts';
import { addTranscribeCommand } from './transcribe-command.ts';
import { addVoicesCommand } from './voices-command.ts';
import { addWebhooksCommand } from './webhooks-command.ts';
import { addWorkerCommand } from './worker-command.ts';

/** The command line: one file a command. Exit 0 is success, 1 failure, 2 wrong usage. */
export function buildProgram(): Command {
  const manifest = z.object({ version: z.string() }).parse(JSON.parse(readFileSync(fromPackage('package.json'), 'utf8')));
  const program = new Command('offhook')
    .description('answers the phone for a bot: a voice-bot gateway for telephony media streams')
    .version(manifest.version)
    .exitOverride((error) => {
      process.exit(error.exitCode === 0 ? EXIT.ok : EXIT.usage);
    });
  addStartCommand(program);
  addDemoCommand(program);
  addCallCommand(program);
  addPlatformCommand(program);
  addWorkerCommand(program);
  addJobsCommand(program);
  addWebhooksCommand(program);
  addEraseCommand(program);
  addReplayCommand(program);
  addConfigCommand(program);
  addDoctorCommand(program);
  addTokenCommand(program);
  addSayCommand(program);
  addTranscribeCommand(program);
  addAnalyseCommand(program);
  addApiKeysCommand(program);
  addSpeakersCommand(program);
  addVoicesCommand(program);
  addLanguagesCommand(program);
  return program;
}
