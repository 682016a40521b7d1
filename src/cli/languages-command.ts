import type { Command } from 'commander';
import { printLine, tableText } from './output.ts';
import { runSpeechCommand } from './speech/session.ts';

/** `offhook languages` */
export function addLanguagesCommand(program: Command): void {
  program
    .command('languages')
    .description('list the languages that the recogniser knows')
    .option('--json', 'print one JSON document')
    .action((flags: { json?: boolean }) =>
      runSpeechCommand('languages', flags, async ({ speech, signal }) => {
        const { languages, models, features } = await speech.languages(signal);
        if (flags.json !== true) printLine(tableText([['code', 'name'], ...languages.map(({ code, name }) => [code, name])]));
        return { languages, models, features };
      }),
    );
}
