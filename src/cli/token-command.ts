import type { Command } from 'commander';
import { printLine, printNote } from './output.ts';
import { runSpeechCommand } from './speech/session.ts';

/** `offhook token` */
export function addTokenCommand(program: Command): void {
  program
    .command('token')
    .description('mint an access token of the speech platform and print it; nothing else is written to stdout')
    .option('--json', 'print one JSON document')
    .action((flags: { json?: boolean }) =>
      runSpeechCommand('token', flags, async ({ speech, isEmbedded, signal }) => {
        const { token, lifeLeftMs = 0 } = await speech.accessToken(signal);
        if (isEmbedded)
          printNote(
            'No speech platform is configured: this token is of an embedded one that ends with this command (offhook platform runs one that stays).',
          );
        if (flags.json !== true) printLine(token);
        return { token, expiresInSeconds: Math.floor(lifeLeftMs / 1000), embeddedPlatform: isEmbedded };
      }),
    );
}
