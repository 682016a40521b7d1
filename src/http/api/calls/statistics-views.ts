import { z } from 'zod';
import { ENDINGS } from '../../../call/log/outcome.ts';
import { dayOf } from '../../../records/periods.ts';
import type { FigureGroup, Figures } from '../../../records/statistics.ts';
import { isoTime } from '../views.ts';

const time = z.iso.datetime();

const figuresView = z.object({
  /** Ended calls, without those between people and recordings from elsewhere. */
  calls: z.int(),
  /** Answered by a person. */
  answered: z.int(),
  /** Answered, and ended by the bot itself or with the caller's goodbye. */
  contained: z.int(),
  transferred: z.int(),
  /** The caller hung up, said nothing, or was not understood to the end. */
  givenUp: z.int(),
  optedOut: z.int(),
  /** Calls in which the bot spoke into the caller's words, and how often it did. */
  cutOffCalls: z.int(),
  cutOffs: z.int(),
  /** Calls with a turn that the bot did not understand, and how many such turns. */
  notUnderstoodCalls: z.int(),
  notUnderstood: z.int(),
  durationS: z.int(),
  endings: z.record(z.enum(ENDINGS), z.int()),
  /** How long callers waited for replies, in ms. Null without replies. */
  replies: z.object({ replies: z.int(), p50Ms: z.int(), p90Ms: z.int(), p95Ms: z.int(), p99Ms: z.int() }).nullable(),
  /** One for each currency; empty where calls have no cost. */
  costs: z.array(z.object({ currency: z.string(), amount: z.number() })),
});
export type FiguresView = z.output<typeof figuresView>;

const periodView = figuresView.extend({ from: time, to: time });
const versionView = figuresView.extend({
  bot: z.string(),
  /** Null for calls from before versions were recorded. */
  version: z.string().nullable(),
  /** Quarter of an hour of its first and last call. */
  firstAt: time,
  lastAt: time,
});
export type VersionFigures = z.output<typeof versionView>;

export const GROUPS = ['hour', 'day', 'version', 'bot', 'disposition', 'change'] as const;
export type Group = (typeof GROUPS)[number];

export const statisticsView = z.object({
  from: time,
  to: time,
  zone: z.string(),
  total: figuresView,
  /** The same over the period of the same length that begins with `before`; null where none was asked for. */
  before: figuresView.nullable(),
  /** Hours and days of the zone, earliest first, those without calls too; like the lists below null where not asked for. */
  hours: z.array(periodView).nullable(),
  days: z.array(periodView.extend({ day: z.string() })).nullable(),
  /** The version with the latest call first. */
  versions: z.array(versionView).nullable(),
  bots: z.array(figuresView.extend({ bot: z.string() })).nullable(),
  /** Most frequent first; null for calls without one. */
  dispositions: z.array(z.object({ disposition: z.string().nullable(), calls: z.int() })).nullable(),
  /** Bots with several versions in the thirty days before `to`: the newest, and the one before it. */
  changes: z.array(z.object({ bot: z.string(), newest: versionView, previous: versionView })).nullable(),
});
export type StatisticsView = z.output<typeof statisticsView>;

const MICROS = 1_000_000;

export function viewOfFigures(figures: Figures): FiguresView {
  const { calls, answered, contained, transferred, givenUp, optedOut, cutOffCalls, cutOffs, costs, replies } = figures;
  const { notUnderstoodCalls, notUnderstood, durationS, endings } = figures;
  return {
    calls,
    answered,
    contained,
    transferred,
    givenUp,
    optedOut,
    cutOffCalls,
    cutOffs,
    notUnderstoodCalls,
    notUnderstood,
    durationS,
    endings: { ...endings },
    replies: replies === undefined ? null : { ...replies },
    costs: costs.map(({ currency, micros }) => ({ currency, amount: micros / MICROS })),
  };
}

export function viewOfVersion(group: FigureGroup): VersionFigures {
  return {
    bot: group.botName,
    version: group.botVersion === '' ? null : group.botVersion,
    firstAt: isoTime(group.firstMs),
    lastAt: isoTime(group.lastMs),
    ...viewOfFigures(group),
  };
}

/** Figures of periods, each until the next begins. */
export function viewOfPeriods(figures: readonly Figures[], startsMs: readonly number[], toMs: number, zone: string) {
  return figures.map((each, at) => {
    const [from, to] = [startsMs[at] ?? 0, startsMs[at + 1] ?? toMs];
    return { day: dayOf(from, zone), from: isoTime(from), to: isoTime(to), ...viewOfFigures(each) };
  });
}

/** Of each bot with several versions, those whose first calls are the latest two. */
export function changesAmong(groups: readonly FigureGroup[]): NonNullable<StatisticsView['changes']> {
  const bots = [...new Set(groups.map(({ botName }) => botName))];
  return bots.flatMap((bot) => {
    const known = groups.filter(({ botName, botVersion }) => botName === bot && botVersion !== '');
    const [newest, previous] = known.toSorted((one, other) => other.firstMs - one.firstMs).map(viewOfVersion);
    return newest === undefined || previous === undefined ? [] : [{ bot, newest, previous }];
  });
}

const PLAIN = [
  'calls',
  'answered',
  'contained',
  'transferred',
  'givenUp',
  'optedOut',
  'cutOffCalls',
  'cutOffs',
  'notUnderstoodCalls',
  'notUnderstood',
  'durationS',
] as const;
const REPLIES = ['replies', 'p50Ms', 'p90Ms', 'p95Ms', 'p99Ms'] as const;

/** A group as a table: a row of names, then one for each member; the total where there is no group. */
export function tableOf(statistics: StatisticsView, group: Group | undefined): string[][] {
  const { hours, days, versions, bots, dispositions, changes, total } = statistics;
  if (group === 'disposition')
    return [
      ['disposition', 'calls'],
      ...(dispositions ?? []).map(({ disposition, calls }) => [disposition ?? '', String(calls)]),
    ];
  const heads = {
    hour: { names: ['from', 'to'], rows: (hours ?? []).map((row) => ({ head: [row.from, row.to], row })) },
    day: { names: ['day', 'from', 'to'], rows: (days ?? []).map((row) => ({ head: [row.day, row.from, row.to], row })) },
    version: { names: ['bot', 'version', 'firstAt', 'lastAt'], rows: (versions ?? []).map(versionRow) },
    bot: { names: ['bot'], rows: (bots ?? []).map((row) => ({ head: [row.bot], row })) },
    change: {
      names: ['bot', 'version', 'firstAt', 'lastAt'],
      rows: (changes ?? []).flatMap(({ newest, previous }) => [newest, previous]).map(versionRow),
    },
    all: { names: ['from', 'to'], rows: [{ head: [statistics.from, statistics.to], row: total }] },
  };
  const { names, rows } = heads[group ?? 'all'];
  const currencies = [...new Set(rows.flatMap(({ row }) => row.costs.map(({ currency }) => currency)))].sort();
  const endings = ENDINGS.map((ending) => `ending_${ending}`);
  const title = [...names, ...PLAIN, ...endings, ...REPLIES, ...currencies.map((currency) => `cost_${currency}`)];
  return [
    title,
    ...rows.map(({ head, row }) => [
      ...head,
      ...PLAIN.map((name) => String(row[name])),
      ...ENDINGS.map((ending) => String(row.endings[ending])),
      ...REPLIES.map((name) => String(row.replies?.[name] ?? '')),
      ...currencies.map((currency) => String(row.costs.find((cost) => cost.currency === currency)?.amount ?? '')),
    ]),
  ];
}

function versionRow(row: VersionFigures): { readonly head: string[]; readonly row: FiguresView } {
  return { head: [row.bot, row.version ?? '', row.firstAt, row.lastAt], row };
}
