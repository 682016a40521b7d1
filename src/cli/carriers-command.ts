import type { Command } from 'commander';
import type { Carrier } from '../carriers/carrier.ts';
import { carrierFacts, configuredFor } from '../carriers/carrier-facts.ts';
import { carriers } from '../carriers/registry.ts';
import type { LoadedConfig } from '../config/load.ts';
import { readConfiguration } from './setup/configuration.ts';
import { EXIT, printJson, printLine, tableText } from './shell/output.ts';

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
