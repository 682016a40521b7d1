import type { Command } from 'commander';
import { printLine, tableText } from './output.ts';
import { requireFile } from './speech/files.ts';
import { runSpeechCommand } from './speech/session.ts';

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
