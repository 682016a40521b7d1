import type { Campaign } from '../../outbound/campaign.ts';
import type { ImportReport } from '../../outbound/contacts/import-contacts.ts';
import type { Missing } from '../../outbound/missing.ts';
import type { AttemptSums, CampaignReport } from '../../outbound/report.ts';
import type { CampaignCounts } from '../../records/campaigns.ts';
import { printLine, printNote, tableText } from '../shell/output.ts';

/** Bad rows that are printed; all of the first thousand are in the JSON document. */
const SHOWN_PROBLEMS = 50;

/** A table whose last columns are numbers, aligned to the right. */
export function numbersTable(rows: readonly (readonly string[])[], texts: number): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return tableText(rows.map((row) => row.map((cell, column) => (column < texts ? cell : cell.padStart(widths[column] ?? 0)))));
}

/** `1,204`. */
function count(value: number): string {
  return value.toLocaleString('en-US');
}

/** `12 %`; nothing where there is nothing to divide by. */
function share(part: number, whole: number): string {
  return whole === 0 ? '' : `${Math.round((part / whole) * 100)} %`;
}

/** `2026-03-02 10:15 UTC`. */
export function shownTime(wallMs: number | undefined): string {
  return wallMs === undefined ? '' : `${new Date(wallMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

export function printImport({ rows, added, known, duplicates, refused, problems }: ImportReport): void {
  const lines = [
    ['rows', count(rows), ''],
    ['added', count(added), ''],
    ['known', count(known), 'the campaign had these numbers before'],
    ['duplicates', count(duplicates), 'the same number again'],
    ['refused', count(refused), 'no contact could be made of these rows'],
  ].filter(([name, number]) => number !== '0' || name === 'rows' || name === 'added');
  const width = Math.max(...lines.map(([, number = '']) => number.length));
  printLine(tableText(lines.map(([name = '', number = '', note = '']) => [name, number.padStart(width), note])));
  for (const { line, reason } of problems.slice(0, SHOWN_PROBLEMS)) printNote(`line ${line}: ${reason}`);
  const more = duplicates + refused - Math.min(SHOWN_PROBLEMS, problems.length);
  if (more > 0) printNote(`… and ${count(more)} more rows; --json names the first 1,000`);
}

export function printMissing(missing: readonly Missing[]): void {
  printLine(tableText(missing.map(({ missing: name, detail }) => [`  ${name}`, detail])));
}

const STATES = { pending: 'not called yet', leased: 'being called', waiting: 'to be called again', done: 'done' } as const;

export function printStatus(campaign: Campaign, { contacts, states, dispositions }: CampaignCounts): void {
  const { id, name, state, reason, settings, changedAtMs } = campaign;
  const why = reason === undefined ? '' : `: ${reason}`;
  const facts = [
    ['campaign', `${name} (${id})`],
    ['state', `${state}${why}, since ${shownTime(changedAtMs)}`],
    ['bot', settings.bot],
    ['caller id', settings.from.join(', ')],
    ['profile', settings.purpose === undefined ? settings.profile : `${settings.profile}, ${settings.purpose} calls`],
    ...(settings.startsAt === undefined ? [] : [['from', settings.startsAt]]),
    ...(settings.endsAt === undefined ? [] : [['until', settings.endsAt]]),
    ...(campaign.erasedAtMs === undefined ? [] : [['erased', shownTime(campaign.erasedAtMs)]]),
  ];
  printLine(tableText(facts));
  printLine();
  const standing = (['pending', 'leased', 'waiting', 'done'] as const).map((each) => [
    STATES[each],
    count(states[each]),
    share(states[each], contacts),
  ]);
  printLine(numbersTable([['contacts', count(contacts), ''], ...standing], 1));
  const outcomes = Object.entries(dispositions).sort(([, one], [, other]) => other - one);
  if (outcomes.length === 0) return;
  printLine();
  const rows = outcomes.map(([outcome, number]) => [outcome, count(number), share(number, states.done)]);
  printLine(numbersTable([['came of them', 'contacts', ''], ...rows], 1));
}

export function printReport(report: CampaignReport): void {
  const { campaign, zone, contacts, attempts, refusals, days, hours, bots, callerIds } = report;
  printLine(`${campaign.name} (${campaign.id}), ${campaign.state}. Days and hours are on the clock of ${zone}.`);
  printLine();
  const { done = 0 } = contacts.states;
  printLine(
    numbersTable(
      [
        ['contacts', count(contacts.total), ''],
        ['done', count(done), share(done, contacts.total)],
        ['calls', count(attempts.attempts), ''],
        ['answered', count(attempts.answered), share(attempts.answered, attempts.attempts)],
        ['talk time', talkTime(attempts.talkSeconds), ''],
        ['refused by the dial gate', count(attempts.refused), ''],
      ],
      1,
    ),
  );
  const both = [...new Set([...Object.keys(attempts.outcomes), ...Object.keys(contacts.outcomes)])];
  printTable(
    ['outcome', 'calls', '', 'contacts', ''],
    both.map((outcome) => {
      const [calls, people] = [numberOf(attempts.outcomes, outcome), numberOf(contacts.outcomes, outcome)];
      return [outcome, count(calls), share(calls, attempts.attempts), count(people), share(people, done)];
    }),
  );
  printTable(
    ['refused for', 'times'],
    Object.entries(refusals).map(([name, number]) => [name, count(number)]),
  );
  const sumRows = <Row extends AttemptSums>(rows: readonly Row[], nameOf: (row: Row) => string): string[][] =>
    rows.map((row) => [
      nameOf(row),
      count(row.attempts),
      count(row.answered),
      count(row.outcomes.completed ?? 0),
      count(row.outcomes['opt-out'] ?? 0),
      talkTime(row.talkSeconds),
      count(row.refused),
    ]);
  const columns = ['calls', 'answered', 'completed', 'opt-out', 'talk time', 'refused'];
  printTable(
    ['day', ...columns],
    sumRows(days, ({ day }) => day),
  );
  printTable(
    ['hour', ...columns],
    sumRows(hours, ({ hour }) => `${String(hour).padStart(2, '0')}:00`),
  );
  if (bots.length > 1)
    printTable(
      ['bot', ...columns],
      sumRows(bots, ({ bot }) => bot),
    );
  if (callerIds.length > 1)
    printTable(
      ['caller id', ...columns],
      sumRows(callerIds, ({ callerId }) => callerId),
    );
}

function printTable(heading: readonly string[], rows: readonly (readonly string[])[]): void {
  if (rows.length === 0) return;
  printLine();
  printLine(numbersTable([heading, ...rows], 1));
}

function numberOf(counts: Readonly<Record<string, number | undefined>>, name: string): number {
  return counts[name] ?? 0;
}

/** `1 h 05 min`, `4 min 20 s`. */
export function talkTime(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  const two = (value: number): string => String(value).padStart(2, '0');
  if (minutes >= 60) return `${Math.floor(minutes / 60)} h ${two(minutes % 60)} min`;
  return minutes > 0 ? `${minutes} min ${two(seconds % 60)} s` : `${seconds} s`;
}
