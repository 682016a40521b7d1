import type { Command } from 'commander';
import type { PlatformLanguage } from '../speech/asr/languages.ts';
import { printLine, printNote, tableText } from './output.ts';
import { runSpeechCommand } from './speech/session.ts';

/** `offhook languages` */
export function addLanguagesCommand(program: Command): void {
  program
    .command('languages')
    .description('list the languages that may be named, and how each is recognised')
    .option('--json', 'print one JSON document')
    .action((flags: { json?: boolean }) =>
      runSpeechCommand('languages', flags, async ({ speech, signal }) => {
        const { languages, models, features } = await speech.languages(signal);
        if (flags.json !== true) printLanguages(languages);
        return { languages, models, features };
      }),
    );
}

/** A hosted platform does not say how it recognises a language: there is no such column then. */
function printLanguages(languages: readonly PlatformLanguage[]): void {
  const said = languages.some(({ recognition }) => recognition !== undefined);
  const rows = languages.map(({ code, name, recognition = '' }) => (said ? [code, name, recognition] : [code, name]));
  printLine(tableText([said ? ['code', 'name', 'recognition'] : ['code', 'name'], ...rows]));
  if (!said) return;
  const recognised = languages.filter(({ recognition }) => recognition !== 'none').map(({ code }) => code);
  printNote(
    `${recognised.length} of ${languages.length} are recognised (${recognised.join(', ')}); speech in the others comes back as empty text`,
  );
}
