import { cpSync, existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { printJson, printLine, UsageError } from './shell/output.ts';
import { fromPackage } from './setup/package-root.ts';

const KINDS = ['flow', 'module', 'http', 'llm', 'realtime'] as const;
type Kind = (typeof KINDS)[number];

const TALK = 'npx offhook chat                           # talks to the bot in text';
const PLAY = 'npx offhook chat --script test/*.chat      # plays its conversations again, and checks the answers';
const EVAL = 'npx offhook eval                           # lets simulated callers call it, and checks every call';

/** What each kind of bot needs besides the gateway, and how to try it. */
const STEPS: Readonly<Record<Kind, readonly string[]>> = {
  flow: [TALK, PLAY, EVAL],
  module: [TALK, PLAY, EVAL],
  http: ['python3 desk.py                            # the server behind the bot; leave it running', TALK, PLAY, EVAL],
  realtime: ['cp .env.example .env                       # and put OPENAI_API_KEY=… into it', TALK],
  llm: ['cp .env.example .env                       # and put OPENAI_API_KEY=… into it', TALK, EVAL],
};

/** Files that npm excludes from a package under their real names. */
const DOTTED: Readonly<Record<string, string>> = { gitignore: '.gitignore', 'env.example': '.env.example' };

/** `offhook init [folder]`: makes a project folder with a first bot. */
export function addInitCommand(program: Command): void {
  program
    .command('init')
    .description('make a folder for your own bots: a first bot, settings, .env.example, .gitignore, tests and evals')
    .argument('[folder]', 'where; made when it is missing', '.')
    .addOption(new Option('--kind <kind>', 'what the first bot is').choices(KINDS).default('flow'))
    .option('--json', 'print one JSON document')
    .action((folder: string, flags: { kind: Kind; json?: boolean }) => {
      const target = resolve(folder);
      if (existsSync(target) && !statSync(target).isDirectory()) throw new UsageError(`${target} is a file; name a folder`);
      const files = ['common', flags.kind].flatMap((template) => filesOf(fromPackage('config/templates', template)));
      const made: string[] = [];
      const kept: string[] = [];
      for (const { from, name } of files) {
        const path = join(target, name);
        if (existsSync(path)) kept.push(name);
        else {
          mkdirSync(dirname(path), { recursive: true });
          cpSync(from, path);
          made.push(name);
        }
      }
      if (flags.json === true) {
        printJson({ folder: target, made, kept });
        return;
      }
      for (const name of made) printLine(`made   ${name}`);
      for (const name of kept) printLine(`kept   ${name}, which was there`);
      printLine('\nNext:');
      const steps = [
        ...(target === process.cwd() ? [] : [`cd ${relative(process.cwd(), target)}`]),
        ...STEPS[flags.kind],
        'npx offhook config check                   # says what is wrong, with its line',
        'npx offhook models get en                  # fetches open models, which understand people',
        'npx offhook start                          # answers calls',
        'npx offhook call --say "when are you open" # calls it, in a second shell',
      ];
      for (const step of steps) printLine(`  ${step}`);
    });
}

/** The files of a template, with the names that they get. */
function filesOf(template: string): { readonly from: string; readonly name: string }[] {
  return readdirSync(template, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const name = relative(template, join(entry.parentPath, DOTTED[entry.name] ?? entry.name));
      return { from: join(entry.parentPath, entry.name), name };
    });
}
