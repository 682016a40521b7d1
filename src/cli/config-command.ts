import type { Command } from 'commander';
import { explainConfig, explainTable } from '../config/explain.ts';
import { problemText } from '../config/problem.ts';
import { readConfiguration, readGatewayConfiguration } from './configuration.ts';
import { EXIT, printJson, printLine } from './output.ts';

/** `offhook config check | explain` */
export function addConfigCommand(program: Command): void {
  const config = program.command('config').description('look at the configuration');
  config
    .command('check')
    .description('report every problem in settings, bot files, their flows and analysis profiles at once')
    .option('--json', 'print one JSON document')
    .action(async (options: { json?: boolean }) => {
      const { problems, bots } = await readGatewayConfiguration();
      if (options.json === true) printJson({ ok: problems.length === 0, bots: bots.map(({ name }) => name), problems });
      else if (problems.length === 0) printLine(`The configuration is sound; bots: ${bots.map(({ name }) => name).join(', ')}.`);
      else for (const problem of problems) printLine(problemText(problem));
      process.exitCode = problems.length === 0 ? EXIT.ok : EXIT.failed;
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
