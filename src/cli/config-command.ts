import type { Command } from 'commander';
import type { Carrier } from '../carriers/carrier.ts';
import { carrierFacts, configuredFor } from '../carriers/open-carriers.ts';
import { carriers } from '../carriers/registry.ts';
import { explainConfig, explainTable } from '../config/explain.ts';
import type { LoadedConfig } from '../config/load.ts';
import { errorsOf, problemText } from '../config/problem.ts';
import { readConfiguration, readGatewayConfiguration } from './setup/configuration.ts';
import { EXIT, printJson, printLine, tableText } from './shell/output.ts';

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

/** `offhook carriers`: what each carrier can do with Offhook, and whether it is configured. */
export function addCarriersCommand(program: Command): void {
  program
    .command('carriers')
    .description('list the carriers, what each can do, and whether it is configured')
    .option('--json', 'print one JSON document')
    .action((flags: { json?: boolean }) => {
      const { config } = readConfiguration();
      if (flags.json === true) printJson({ carriers: carriers.map((carrier) => described(carrier, config)) });
      else printCarriers(config);
      process.exit(EXIT.ok);
    });
}

function described(carrier: Carrier, config: LoadedConfig): object {
  const { name, title, proof, controlEnvName, capabilities, offers } = carrier;
  const needs = { calls: proof?.envName, control: controlEnvName };
  return { name, title, configured: configuredFor(carrier, config.carriers), needs, capabilities, offers };
}

function printCarriers(config: LoadedConfig): void {
  const shown = ['audio in', 'takes audio back', 'marks', 'keys out', 'dials', 'transfer', 'joins calls', 'listens'];
  const rows = carriers.map((carrier) => {
    const facts = carrierFacts(carrier);
    return [carrier.name, configuredFor(carrier, config.carriers), ...shown.map((heading) => facts[heading] ?? '')];
  });
  printLine(tableText([['carrier', 'configured', ...shown], ...rows]));
  printLine();
  printLine('A carrier is configured by its secret, and acts on calls with its account; `--json` names both for each.');
}
