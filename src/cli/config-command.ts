import type { Command } from 'commander';
import { explainConfig, explainTable } from '../config/explain.ts';
import { errorsOf, problemText } from '../config/problem.ts';
import { readConfiguration, readGatewayConfiguration } from './setup/configuration.ts';
import { EXIT, printJson, printLine } from './shell/output.ts';

/** `offhook config check | explain` */
export function addConfigCommand(program: Command): void {
  const config = program.command('config').description('look at the configuration');
  config
    .command('check')
    .description('check settings, bot files, their flows and analysis profiles, and report every problem')
    .option('--json', 'print one JSON document')
    .action(async (options: { json?: boolean }) => {
      const { problems: ofSettings, botProblems, bots } = await readGatewayConfiguration({}, true);
      const problems = [...ofSettings, ...botProblems];
      const ok = errorsOf(problems).length === 0;
      const names = bots.map(({ name }) => name);
      if (options.json === true) printJson({ ok, bots: names, problems });
      else {
        for (const problem of problems) printLine(problemText(problem));
        if (ok) printLine(`The configuration is sound; bots: ${names.join(', ')}.`);
      }
      process.exitCode = ok ? EXIT.ok : EXIT.failed;
    });
  config
    .command('explain')
    .description('show every setting with its value and where it comes from')
    .option('--json', 'print one JSON document')
    .action((options: { json?: boolean }) => {
      const { config: loaded } = readConfiguration();
      if (options.json === true) printJson({ settings: explainConfig(loaded) });
      else printLine(explainTable(loaded));
    });
}
