import { type Command, Option } from 'commander';
import { COST_GROUPS, type CostGroup, type CostSum } from '../records/statistics.ts';
import { withRecords } from './records-commands.ts';
import { EXIT, printJson, printLine, tableText, UsageError } from './shell/output.ts';

const DAY_MS = 86_400_000;
const MICROS = 1_000_000;

/** `offhook costs`: what calls cost. */
export function addCostsCommand(program: Command): void {
  program
    .command('costs')
    .description('show what calls cost, by day, bot, campaign or vendor')
    .addOption(new Option('--by <group>', 'what to add up by').choices(COST_GROUPS).default('day'))
    .option('--from <day>', 'first day of UTC, such as 2026-11-01; 30 days ago unless given')
    .option('--to <day>', 'last day of UTC; today unless given')
    .option('--tenant <id>', 'whose calls', 'default')
    .option('--json', 'print one JSON document')
    .action((flags: { by: CostGroup; from?: string; to?: string; tenant: string; json?: boolean }) => {
      const range = (): { fromMs: number; toMs: number } => {
        const toMs = dayOf(flags.to ?? new Date().toISOString().slice(0, 10)) + DAY_MS;
        const fromMs = flags.from === undefined ? toMs - 30 * DAY_MS : dayOf(flags.from);
        if (fromMs >= toMs) throw new UsageError('--from comes after --to');
        return { fromMs, toMs };
      };
      return withRecords(
        async ({ store }, { config: { prices } }) => {
          const sums = await store.statistics.costs(flags.tenant, range(), flags.by);
          if (flags.json === true) printJson({ by: flags.by, costs: sums, prices });
          else printCosts(flags.by, sums);
          return EXIT.ok;
        },
        () => void range(),
      );
    });
}

/** @throws UsageError */
function dayOf(text: string): number {
  const atMs = Date.parse(`${text}T00:00:00Z`);
  if (!/^\d{4}-\d{2}-\d{2}$/u.test(text) || Number.isNaN(atMs)) throw new UsageError(`${text} is no day such as 2026-11-01`);
  return atMs;
}

function printCosts(by: CostGroup, sums: readonly CostSum[]): void {
  const rows = sums.map(({ group, currency, calls, knownMicros, unknownCalls }) => {
    const known = `${(knownMicros / MICROS).toFixed(4)} ${currency}`;
    return [group ?? 'none', String(calls), unknownCalls === 0 ? known : `unknown (at least ${known})`, String(unknownCalls)];
  });
  printLine(tableText([[by, 'calls', 'cost', 'calls with unknown cost'], ...rows]));
}
