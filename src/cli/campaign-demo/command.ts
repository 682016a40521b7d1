import { type Command, Option } from 'commander';
import { keepAwake } from '../../kernel/clock.ts';
import { errorTextWithCause } from '../../kernel/errors.ts';
import { numbersTable } from '../campaign/print.ts';
import { coloured, EXIT, printJson, printLine, printNote, tableText } from '../shell/output.ts';
import { PEOPLE } from './people.ts';
import { type CampaignDemo, runCampaignDemo, type Tampering, TAMPERINGS } from './run.ts';

const REAL = `
Real: the embedded store (in a temporary folder), the dial gate with the shipped profile "us", the dialler, the runner with its retries,
the do-not-call list, consents, the log of decisions, the report.
Simulated: people, phones and carrier, at the level of orders, reports and records of calls. There is no sound: \`offhook demo\` and
\`offhook call\` have calls with sound. Time is virtual: days pass in seconds.`;

const SHOWN_PROBLEMS = 20;

/** `offhook campaign demo` */
export function addCampaignDemoCommand(campaign: Command): void {
  campaign
    .command('demo')
    .description('call a hundred simulated people over days of virtual time, and check that it adds up')
    .option('--json', 'print one JSON document')
    .option('--people', 'also print what came of each person')
    .addOption(new Option('--tamper <what>', 'break something, to see the demo fail').choices(TAMPERINGS))
    .addHelpText('after', REAL)
    .action(async (flags: { json?: boolean; people?: boolean; tamper?: Tampering }) => {
      using _awake = keepAwake();
      try {
        if (flags.json !== true) printNote(coloured('dim', `calling ${PEOPLE.length} people, some seconds …`));
        const demo = await runCampaignDemo({ tampering: flags.tamper });
        if (flags.json === true) printJson(documentOf(demo));
        else printDemo(demo, flags.people === true);
        process.exitCode = demo.ok ? EXIT.ok : EXIT.failed;
      } catch (error) {
        if (flags.json === true) printJson({ ok: false, problems: [errorTextWithCause(error)] });
        throw error;
      }
    });
}

function documentOf({ people, file, firstCallMs, lastCallMs, ...judged }: CampaignDemo): object {
  const { rows, added, duplicates, refused } = file;
  return {
    ...judged,
    file: { rows, added, duplicates, refused },
    firstCallAt: new Date(firstCallMs).toISOString(),
    lastCallAt: new Date(lastCallMs).toISOString(),
    people: people.map(({ person, outcome = null, refusal = null, orders }) => ({
      name: person.name,
      zone: person.zone,
      reactions: person.reactions,
      outcome,
      refusal,
      calls: orders.map(({ atMs }) => new Date(atMs).toISOString()),
    })),
  };
}

function printDemo(demo: CampaignDemo, withPeople: boolean): void {
  const { people, file, checks, problems } = demo;
  const zones = new Set(people.map(({ person }) => person.zone));
  const [first, last] = [dayAndTime(demo.firstCallMs), dayAndTime(demo.lastCallMs)];
  printLine(
    `${people.length} simulated people in ${zones.size} time zones, called from ${first} to ${last} (New York), in virtual time:`,
  );
  printLine('a weekend without calls, and a change to daylight saving time, lie between.');
  printLine(`Their file had ${file.rows} rows: ${file.added} contacts, ${file.duplicates} duplicates, ${file.refused} bad rows.`);
  printLine();
  if (withPeople) {
    const rows = people.map(({ person, outcome = 'not done', refusal, orders }) => [
      person.name,
      person.zone,
      orders.length === 0 ? '' : person.reactions.join(', then '),
      refusal === undefined ? outcome : `refused: ${refusal}`,
      orders.map(({ atMs }) => dayAndTime(atMs, person.zone)).join(', '),
    ]);
    printLine(tableText([['who', 'zone', 'when the phone rings', 'came to', 'called (on their clock)'], ...rows]));
    printLine();
  }
  const outcomes = Object.entries(demo.outcomes)
    .filter(([name]) => name !== 'refused')
    .sort(([, one], [, other]) => other - one)
    .map(([name, count]) => [name, String(count), String(callsOf(demo, name))]);
  const refusals = Object.entries(demo.refusals).map(([name, count]) => [`refused: ${name}`, String(count), '0']);
  const total = ['all', String(demo.contacts), String(demo.attempts)];
  printLine(numbersTable([['came of them', 'people', 'calls'], ...outcomes, ...refusals, total], 1));
  printLine();
  for (const { ok, text } of checks) printLine(`${ok ? coloured('green', 'ok    ') : coloured('red', 'wrong ')} ${text}`);
  for (const problem of problems.slice(0, SHOWN_PROBLEMS)) printNote(problem);
  if (problems.length > SHOWN_PROBLEMS) printNote(`… and ${problems.length - SHOWN_PROBLEMS} more; --json has all`);
  printLine();
  printLine(demo.ok ? 'It adds up.' : coloured('red', 'It does not add up.'));
}

function callsOf({ people }: CampaignDemo, name: string): number {
  return people.filter(({ outcome }) => outcome === name).reduce((sum, { orders }) => sum + orders.length, 0);
}

/** `Fri 6 Mar 10:00`. */
function dayAndTime(wallMs: number, zone = 'America/New_York'): string {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
  });
  return format.format(wallMs).replaceAll(',', '');
}
