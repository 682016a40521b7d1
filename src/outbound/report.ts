import {
  CONTACT_STATES,
  type CampaignCounts,
  type CampaignContact,
  type ContactRepository,
  type ContactState,
} from '../records/campaigns.ts';
import { type AttemptTally, DISPOSITIONS, type Disposition } from '../records/dialling.ts';
import { type Campaign, campaignRef } from './campaign.ts';
import { localMs } from './gate/local-time.ts';

type OutcomeCounts = Readonly<Partial<Record<Disposition | 'under-way', number>>>;

export interface AttemptSums {
  /** Calls that the gate allowed. */
  readonly attempts: number;
  /** Refused calls; reasons are under `refusals`. */
  readonly refused: number;
  /** Answered calls, by any party. */
  readonly answered: number;
  /** Total time from answer to end. */
  readonly talkSeconds: number;
  /** Results of allowed calls; `under-way` for running ones. */
  readonly outcomes: OutcomeCounts;
}

/** One cell of the report: calls with equal values in all of these columns. */
export interface ReportRow {
  /** `YYYY-MM-DD` and hour 0 to 23 in the report's zone: when the carrier was asked, or the gate refused. */
  readonly day: string;
  readonly hour: number;
  readonly bot: string;
  readonly callerId: string;
  /** Includes `refused`. */
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

/** In column order. */
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

/** Sums of the rows by one column. */
function sumsBy<Column extends 'day' | 'hour' | 'bot' | 'callerId'>(rows: readonly ReportRow[], column: Column) {
  const values = [...new Set(rows.map((row) => row[column]))].sort((one, other) => (one < other ? -1 : 1));
  return values.map((value) => {
    const named = { [column]: value } as Pick<ReportRow, Column>; // One computed key.
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

/** In the order of `DISPOSITIONS`, so that reports are comparable. */
function inOrder(counts: OutcomeCounts): OutcomeCounts {
  return Object.fromEntries(OUTCOMES.flatMap((name) => ((counts[name] ?? 0) > 0 ? [[name, counts[name]]] : [])));
}

const COLUMNS = ['day', 'hour', 'bot', 'callerId', 'outcome', 'calls', 'answered', 'talkSeconds'] as const;

/** The report's rows as table cells, heading first. */
export function reportTable({ rows }: Pick<CampaignReport, 'rows'>): string[][] {
  return [[...COLUMNS], ...rows.map((row) => COLUMNS.map((column) => String(row[column])))];
}

/** Contacts read at once. */
const PAGE = 1000;

/** A campaign's contacts in order of addition, read on demand. */
export async function* contactsOf(
  contacts: Pick<ContactRepository, 'page'>,
  campaign: Campaign,
  filters: { readonly state?: ContactState | undefined; readonly disposition?: Disposition | undefined } = {},
): AsyncGenerator<CampaignContact> {
  for (let after: number | undefined; ;) {
    const page = await contacts.page(campaignRef(campaign), { ...filters, limit: PAGE, after });
    yield* page.contacts;
    if (page.next === undefined) return;
    after = page.next;
  }
}

export const CONTACT_COLUMNS = [
  'number',
  'zone',
  'state',
  'outcome',
  'cause',
  'calls',
  'nextCallAt',
  'callBackAt',
  'lastAttempt',
  'variables',
];

/** A contact as table cells; `variables` are JSON. */
export function contactCells(contact: CampaignContact): string[] {
  const { number, zone = '', state, disposition = '', cause = '', attempts, dueAtMs, callBackAtMs } = contact;
  return [
    number,
    zone,
    state,
    disposition,
    cause,
    String(attempts),
    state === 'done' ? '' : new Date(dueAtMs).toISOString(),
    callBackAtMs === undefined ? '' : new Date(callBackAtMs).toISOString(),
    contact.lastAttemptId ?? '',
    JSON.stringify(contact.variables),
  ];
}
