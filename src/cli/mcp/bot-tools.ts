import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadBots } from '../../config/bot-files.ts';
import { readEnvironment } from '../../config/env.ts';
import { errorsOf, problemText } from '../../config/problem.ts';
import { readConfiguration, readGatewayConfiguration } from '../setup/configuration.ts';
import { fromPackage } from '../setup/package-root.ts';
import { UsageError } from '../shell/output.ts';

/** All bots of the project, and all problems of its configuration as texts with file and line. */
export async function botsAndProblems() {
  const { bots, problems, botProblems } = await readGatewayConfiguration();
  const shown = bots.map(
    ({ name, tenant, dialog: { kind }, language, languages, numbers, default: isDefault, file, version }) => {
      return { name, tenant, kind, language, languages, numbers, default: isDefault, file, version };
    },
  );
  return { bots: shown, problems: [...problems, ...botProblems].map(problemText) };
}

/** The row of an error code in the table of errors. @throws UsageError for an unknown code */
export function explainCode(code: string) {
  const table = readFileSync(fromPackage('docs/errors.md'), 'utf8');
  const row = table.split('\n').find((line) => line.startsWith(`| \`${code}\``));
  if (row === undefined) throw new UsageError(`there is no error ${code}`);
  const [, , retryable = '', happened = '', advice = ''] = row.split('|').map((cell) => cell.trim());
  return { code, retryable, 'what happened': happened, 'what to do': advice };
}

/**
 * Writes a bot's file, if it is sound; a bot that is there keeps the name of its file.
 * @throws UsageError with the problems
 */
export function saveBot(yaml: string) {
  const { config, bots } = readConfiguration();
  const { folder } = config.settings.bots;
  // A folder of its own beside the bots' files, so that the rename is on one disk.
  const draft = mkdtempSync(join(folder, '.draft-'));
  try {
    writeFileSync(join(draft, 'bot.yaml'), yaml);
    const { bots: read, problems } = loadBots(draft, readEnvironment());
    const [bot] = read;
    if (bot === undefined || errorsOf(problems).length > 0) throw new UsageError(problems.map(problemText).join('\n'));
    const path = bots.find(({ name }) => name === bot.name)?.file ?? join(folder, `${bot.name}.yaml`);
    const isNew = !existsSync(path);
    renameSync(join(draft, 'bot.yaml'), path);
    return { saved: path, new: isNew, problems: problems.map(problemText) };
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}
