import type { Command } from 'commander';
import { printLine } from './output.ts';
import { runSpeechCommand } from './speech/session.ts';

/** `offhook voices` */
export function addVoicesCommand(program: Command): void {
  program
    .command('voices')
    .description('list the voices that the speech platform offers now')
    .option('--json', 'print one JSON document')
    .action((flags: { json?: boolean }) =>
      runSpeechCommand('voices', flags, async ({ speech, signal }) => {
        const { synthesis } = await speech.health(signal);
        const { voices = [], defaultVoice } = synthesis ?? {};
        if (flags.json !== true) for (const voice of voices) printLine(voice === defaultVoice ? `${voice}  (default)` : voice);
        return { voices, defaultVoice };
      }),
    );
}
