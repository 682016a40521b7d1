import type { Command } from 'commander';
import { MemoryTokenStore } from '../speech/client/token-store.ts';
import { printLine, printNote, countOption, tableText } from './shell/output.ts';
import { type JsonAnswer, runSpeechCommand, type SpeechSession } from './setup/speech-session.ts';
import type { PlatformLanguage } from '../speech/asr/languages.ts';
import { requireFile } from './shell/files.ts';

/** `offhook voices` */
export function addVoicesCommand(program: Command): void {
  program
    .command('voices')
    .description('list the voices of the speech platform')
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

/** `offhook languages` */
export function addLanguagesCommand(program: Command): void {
  program
    .command('languages')
    .description('list the languages of the speech platform, and how each is recognised')
    .option('--json', 'print one JSON document')
    .action((flags: { json?: boolean }) =>
      runSpeechCommand('languages', flags, async ({ speech, signal }) => {
        const { languages, models, features } = await speech.languages(signal);
        if (flags.json !== true) printLanguages(languages);
        return { languages, models, features };
      }),
    );
}

/** Prints the languages; a hosted platform has no column for recognition. */
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

/** `offhook token` */
export function addTokenCommand(program: Command): void {
  program
    .command('token')
    .description('mint an access token of the speech platform and print it, alone on stdout')
    .option('--expires-in <seconds>', 'its lifetime, a day at most; from the settings when absent', countOption)
    .option('--json', 'print one JSON document')
    .action((flags: { json?: boolean; expiresIn?: number }) => {
      // A shared token may have another lifetime.
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

interface SpeakerFlags {
  readonly project?: string;
  readonly json?: boolean;
}

/** `offhook speakers list | register | delete | identify` */
export function addSpeakersCommand(program: Command): void {
  const speakers = program.command('speakers').description('keep voice profiles; list and identify need OFFHOOK_ASR_ALT_URL');
  const command = (usage: string, description: string): Command =>
    speakers
      .command(usage)
      .description(description)
      .option('--project <name>', 'group of profiles')
      .option('--json', 'print one JSON document');
  command('list', 'show the profiles of a project').action((flags: SpeakerFlags) =>
    runSpeechCommand('speakers list', flags, async ({ speech, signal }) => {
      const profiles = await speech.speakers.list(flags.project ?? '', signal);
      if (flags.json !== true)
        printLine(tableText([['name', 'registered'], ...profiles.map(({ name, registeredAt }) => [name, registeredAt ?? ''])]));
      return { speakers: profiles };
    }),
  );
  command('register <name> <file>', 'register a voice from 5 to 15 clean seconds of it').action(
    (name: string, path: string, flags: SpeakerFlags) =>
      runSpeechCommand('speakers register', flags, async ({ speech, signal }) => {
        requireFile(path);
        const { speaker, message } = await speech.speakers.register({ name, ...inProject(flags) }, { path }, signal);
        if (flags.json !== true) printLine(message ?? `registered ${speaker}`);
        return { speaker };
      }),
  );
  command('delete <name>', 'remove a profile').action((name: string, flags: SpeakerFlags) =>
    runSpeechCommand('speakers delete', flags, async ({ speech, signal }) => {
      await speech.speakers.delete({ name, ...inProject(flags) }, signal);
      if (flags.json !== true) printLine(`deleted ${name}`);
      return { speaker: name };
    }),
  );
  command('identify <file>', 'tell whose voice it is').action((path: string, flags: SpeakerFlags) =>
    runSpeechCommand('speakers identify', flags, async ({ speech, signal }) => {
      requireFile(path);
      const { speaker, confidence } = await speech.speakers.identify({ path }, flags.project ?? '', signal);
      if (flags.json !== true) printLine(speaker ?? 'nobody who is registered');
      return { speaker, confidence };
    }),
  );
}

function inProject({ project }: SpeakerFlags): { readonly project?: string } {
  return project === undefined ? {} : { project };
}
