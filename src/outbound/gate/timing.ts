import type { DialFacts } from './facts.ts';
import type { Finding, RuleSet } from './findings.ts';
import { dateOf, type DayWindow, DAY_MS, earliestOpen, earliestWorkday, easterOf, isKnownZone, localText } from './local-time.ts';
import { holdsFor, type TimingRules } from './profile.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const HOURS_A_DAY = 24;
/** How far ahead an allowed moment is searched: a year covers all daylight saving changes. */
export const HORIZON_MS = 366 * DAY_MS;

type TimingFacts = Pick<DialFacts, 'zones' | 'purpose' | 'attemptsMs' | 'attemptsInCampaign'>;

/** Refusals because of the moment: hours, holidays, caps and spacing. */
export function timingFindings(facts: TimingFacts, sets: readonly RuleSet[], atMs: number): Finding[] {
  const zones = facts.zones.filter(isKnownZone);
  const windows = windowFindings(facts, sets, zones, atMs);
  const others = sets.flatMap(({ name, rules }) => [
    ...ofPurpose(facts, rules.holidays).flatMap((rule) => holidayFinding(rule, zones, name, atMs)),
    ...ofPurpose(facts, rules.caps).flatMap((rule) => capFinding(facts, rule, name, atMs)),
    ...ofPurpose(facts, rules.spacing).flatMap((rule) => spacingFinding(facts, rule, name, atMs)),
  ]);
  return [...windows, ...others];
}

function ofPurpose<Rule extends Parameters<typeof holdsFor>[0]>({ purpose }: TimingFacts, rules: readonly Rule[]): Rule[] {
  return rules.filter((rule) => holdsFor(rule, purpose));
}

/** The latest of some moments; undefined if one never comes. */
function latest(moments: readonly (number | undefined)[]): number | undefined {
  return moments.includes(undefined) ? undefined : Math.max(...moments.map((moment = Infinity) => moment));
}

/** A zone's clock and the rule whose hours it must be within. */
interface Clock {
  readonly zone: string;
  readonly hours: readonly DayWindow[];
}

/** A finding for each rule whose hours are closed on some clock. All last until every clock is inside every rule's hours. */
function windowFindings(facts: TimingFacts, sets: readonly RuleSet[], zones: readonly string[], atMs: number): Finding[] {
  const all: Clock[] = [];
  const details: string[] = [];
  for (const { name, rules } of sets) {
    for (const { hours, alsoIn, source } of ofPurpose(facts, rules.windows)) {
      const clocks = (alsoIn === undefined ? zones : [...zones, alsoIn]).map((zone) => ({ zone, hours }));
      all.push(...clocks);
      const closed = clocks.filter(({ zone }) => earliestOpen(zone, atMs, hours) !== atMs);
      const [first] = closed;
      if (first === undefined) continue;
      const more = closed.length > 1 ? ` and ${closed.length - 1} more of the number's zones` : '';
      details.push(`${localText(first.zone, atMs)} in ${first.zone}${more} is outside ${hoursText(hours)} (${name}: ${source})`);
    }
  }
  if (details.length === 0) return [];
  const untilMs = openTogether(all, atMs);
  return details.map((detail) => ({ refusal: 'outside-window', detail, untilMs }));
}

/** The earliest moment at which every clock is inside its hours; undefined if not within a year. */
function openTogether(clocks: readonly Clock[], atMs: number): number | undefined {
  let at = atMs;
  while (at - atMs <= HORIZON_MS) {
    const opensMs = latest(clocks.map(({ zone, hours }) => earliestOpen(zone, at, hours)));
    if (opensMs === undefined || opensMs === at) return opensMs;
    at = opensMs;
  }
  return undefined;
}

function hoursText(hours: readonly DayWindow[]): string {
  const clock = (minute: number): string =>
    `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;
  return hours
    .map(({ days, fromMinute, toMinute }) => {
      const on = days.length === 7 ? '' : `${days.join(', ')} `;
      return `${on}${clock(fromMinute)}–${clock(toMinute)}`;
    })
    .join(' and ');
}

function holidayFinding(rule: TimingRules['holidays'][number], zones: readonly string[], name: string, atMs: number): Finding[] {
  const isHoliday = (date: string): boolean => rule.dates.some((each) => isDate(each, date));
  const workdays = zones.map((zone) => ({ zone, fromMs: earliestWorkday(zone, atMs, isHoliday) }));
  const closed = workdays.filter(({ fromMs }) => fromMs !== atMs);
  const [first] = closed;
  if (first === undefined) return [];
  const detail = `${localText(first.zone, atMs)} in ${first.zone} is a holiday (${name}: ${rule.source})`;
  return [{ refusal: 'holiday', detail, untilMs: latest(closed.map(({ fromMs }) => fromMs)) }];
}

/** @param rule `MM-DD`, `YYYY-MM-DD` or `easter+1`. @param date `YYYY-MM-DD` */
function isDate(rule: string, date: string): boolean {
  if (!rule.startsWith('easter')) return date.endsWith(rule);
  return dateOf(easterOf(Number(date.slice(0, 4))) + Number(rule.slice('easter'.length)) * DAY_MS) === date;
}

function capFinding(facts: TimingFacts, rule: TimingRules['caps'][number], name: string, atMs: number): Finding[] {
  const { most, withinHours, source } = rule;
  if (withinHours === undefined) {
    if (facts.attemptsInCampaign < most) return [];
    const detail = `${facts.attemptsInCampaign} attempts in this campaign, at most ${most} (${name}: ${source})`;
    return [{ refusal: 'cap-campaign', detail }];
  }
  const withinMs = withinHours * HOUR_MS;
  const counted = facts.attemptsMs.filter((attemptMs) => atMs - attemptMs < withinMs).sort((one, other) => one - other);
  if (counted.length < most) return [];
  const refusal = withinHours <= HOURS_A_DAY ? 'cap-day' : 'cap-week';
  // Number of oldest attempts that must expire before another fits.
  const leaving = counted[counted.length - most];
  return [
    {
      refusal,
      detail: `${counted.length} attempts in ${withinHours} hours, at most ${most} (${name}: ${source})`,
      untilMs: leaving === undefined ? undefined : leaving + withinMs,
    },
  ];
}

function spacingFinding(facts: TimingFacts, rule: TimingRules['spacing'][number], name: string, atMs: number): Finding[] {
  const lastMs = facts.attemptsMs.reduce((latestMs, attemptMs) => Math.max(latestMs, attemptMs), -Infinity);
  const untilMs = lastMs + rule.minutes * MINUTE_MS;
  if (untilMs <= atMs) return [];
  return [{ refusal: 'too-soon', detail: `${rule.minutes} minutes between attempts (${name}: ${rule.source})`, untilMs }];
}
