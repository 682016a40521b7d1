import type { Command } from 'commander';
import { MemoryTokenStore } from '../speech/client/token-store.ts';
import { printLine, printNote } from './output.ts';
import { type JsonAnswer, runSpeechCommand, type SpeechSession } from './speech/session.ts';
import { countOption } from './speech/usage.ts';

/** `offhook token` */
export function addTokenCommand(program: Command): void {
  program
    .command('token')
    .description('mint an access token of the speech platform and print it; nothing else is written to stdout')
    .option('--expires-in <seconds>', 'how long it is to live; the settings say when absent, a day at most', countOption)
    .option('--json', 'print one JSON document')
    .action((flags: { json?: boolean; expiresIn?: number }) => {
      // A token that others share may have another life.
      const own = flags.expiresIn === undefined ? {} : { tokenLifeSeconds: flags.expiresIn, tokenStore: new MemoryTokenStore() };
      const mint = async ({ speech, isEmbedded, signal }: SpeechSession): Promise<JsonAnswer> => {
        const { token, lifeLeftMs = 0 } = await speech.accessToken(signal);
        if (isEmbedded)
          printNote(
            'No speech platform is configured: this token is of an embedded one that ends with this command (offhook platform runs one that stays).',
          );
        if (flags.json !== true) printLine(token);
        return { token, expiresInSeconds: Math.floor(lifeLeftMs / 1000), embeddedPlatform: isEmbedded };
      };
      return runSpeechCommand('token', flags, mint, { own });
    });
}
