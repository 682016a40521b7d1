import { CONTACT_STATES, type CampaignCounts } from '../records/campaigns.ts';
import { type AttemptTally, DISPOSITIONS, type Disposition } from '../records/dialling.ts';
import type { Campaign } from './campaign.ts';
import { localMs } from './gate/local-time.ts';

type OutcomeCounts = Readonly<Partial<Record<Disposition | 'under-way', number>>>;

/** Attempts that have something in common. */
export interface AttemptSums {
  /** Calls that the gate allowed. */
  readonly attempts: number;
  /** Calls that it refused; each has its reason under `refusals`. */
  readonly refused: number;
  /** Calls that were answered, by whomever. */
  readonly answered: number;
  /** From answer to end, of all of them. */
  readonly talkSeconds: number;
  /** What came of the allowed ones; `under-way` for calls that are not over. */
  readonly outcomes: OutcomeCounts;
}

/** One cell of the report: calls that have all of these in common. */
export interface ReportRow {
  /** `YYYY-MM-DD` and 0 to 23 on the clock of the report's zone: when the carrier was asked, or the gate refused. */
  readonly day: string;
  readonly hour: number;
  readonly bot: string;
  readonly callerId: string;
  /** `refused` among them. */
  readonly outcome: Disposition | 'under-way';
  readonly calls: number;
  readonly answered: number;
  readonly talkSeconds: number;
}

export interface CampaignReport {
  readonly campaign: {
    readonly id: string;
    readonly name: string;
    readonly bot: string;
    readonly profile: string;
    readonly state: string;
  };
  /** Time zone of days and hours. */
  readonly zone: string;
  readonly contacts: {
    readonly total: number;
    readonly states: Readonly<Record<string, number>>;
    /** Results of finished contacts. */
    readonly outcomes: OutcomeCounts;
  };
  readonly attempts: AttemptSums;
  /** By the name of the refusal. */
  readonly refusals: Readonly<Record<string, number>>;
  readonly days: readonly (AttemptSums & Pick<ReportRow, 'day'>)[];
  readonly hours: readonly (AttemptSums & Pick<ReportRow, 'hour'>)[];
  readonly bots: readonly (AttemptSums & Pick<ReportRow, 'bot'>)[];
  readonly callerIds: readonly (AttemptSums & Pick<ReportRow, 'callerId'>)[];
  readonly rows: readonly ReportRow[];
}

/**
 * Results of a campaign from its rows in the store, for command, CSV and API. Not affected by erasing contacts.
 * @param zone time zone of days and hours: the campaign's own where it has one, else UTC
 */
export function campaignReport(
  { id, name, state, settings }: Pick<Campaign, 'id' | 'name' | 'state' | 'settings'>,
  counts: CampaignCounts,
  tallies: readonly AttemptTally[],
  zone = settings.defaultZone ?? 'UTC',
): CampaignReport {
  const rows = rowsOf(tallies, zone);
  const refusals: Record<string, number> = {};
  for (const { disposition, refusal = 'unknown', attempts } of tallies) {
    if (disposition === 'refused') refusals[refusal] = (refusals[refusal] ?? 0) + attempts;
  }
  return {
    campaign: { id, name, bot: settings.bot, profile: settings.profile, state },
    zone,
    contacts: {
      total: counts.contacts,
      states: Object.fromEntries(CONTACT_STATES.map((each) => [each, counts.states[each]])),
      outcomes: inOrder(counts.dispositions),
    },
    attempts: sumsOf(rows),
    refusals: Object.fromEntries(Object.entries(refusals).sort(([one], [other]) => (one < other ? -1 : 1))),
    days: sumsBy(rows, 'day'),
    hours: sumsBy(rows, 'hour'),
    bots: sumsBy(rows, 'bot'),
    callerIds: sumsBy(rows, 'callerId'),
    rows,
  };
}

const OUTCOMES = [...DISPOSITIONS, 'under-way'] as const;

/** In the order of their columns. */
function rowsOf(tallies: readonly AttemptTally[], zone: string): ReportRow[] {
  const rows = new Map<string, ReportRow>();
  for (const { quarterMs, botName: bot, from: callerId, disposition: outcome = 'under-way', ...sums } of tallies) {
    const local = new Date(localMs(zone, quarterMs)).toISOString();
    const [day, hour] = [local.slice(0, 10), local.slice(11, 13)];
    const key = JSON.stringify([day, hour, bot, callerId, String(OUTCOMES.indexOf(outcome)).padStart(2, '0')]);
    const known = rows.get(key);
    rows.set(key, {
      day,
      hour: Number(hour),
      bot,
      callerId,
      outcome,
      calls: (known?.calls ?? 0) + sums.attempts,
      answered: (known?.answered ?? 0) + sums.answered,
      talkSeconds: (known?.talkSeconds ?? 0) + sums.talkSeconds,
    });
  }
  return [...rows.entries()].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, row]) => row);
}

/** Sums of the rows by one of their columns. */
function sumsBy<Column extends 'day' | 'hour' | 'bot' | 'callerId'>(rows: readonly ReportRow[], column: Column) {
  const values = [...new Set(rows.map((row) => row[column]))].sort((one, other) => (one < other ? -1 : 1));
  return values.map((value) => {
    const named = { [column]: value } as Pick<ReportRow, Column>; // one computed key
    return { ...named, ...sumsOf(rows.filter((row) => row[column] === value)) };
  });
}

function sumsOf(rows: readonly ReportRow[]): AttemptSums {
  const sums = { attempts: 0, refused: 0, answered: 0, talkSeconds: 0 };
  const outcomes: Partial<Record<ReportRow['outcome'], number>> = {};
  for (const { outcome, calls, answered, talkSeconds } of rows) {
    if (outcome === 'refused') {
      sums.refused += calls;
      continue;
    }
    sums.attempts += calls;
    sums.answered += answered;
    sums.talkSeconds += talkSeconds;
    outcomes[outcome] = (outcomes[outcome] ?? 0) + calls;
  }
  return { ...sums, outcomes: inOrder(outcomes) };
}

/** In the order of `DISPOSITIONS`, so that two reports are alike. */
function inOrder(counts: OutcomeCounts): OutcomeCounts {
  return Object.fromEntries(OUTCOMES.flatMap((name) => ((counts[name] ?? 0) > 0 ? [[name, counts[name]]] : [])));
}

const COLUMNS = ['day', 'hour', 'bot', 'callerId', 'outcome', 'calls', 'answered', 'talkSeconds'] as const;

/** The report's rows as cells of a table, the heading first. */
export function reportTable({ rows }: Pick<CampaignReport, 'rows'>): string[][] {
  return [[...COLUMNS], ...rows.map((row) => COLUMNS.map((column) => String(row[column])))];
}
