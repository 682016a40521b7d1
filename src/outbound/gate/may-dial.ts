import { type DialDecision, type DialFacts, type RefusalName, REFUSALS } from './facts.ts';
import { type Finding, findingsAbout, type RuleSet, usableConsent } from './findings.ts';
import { isKnownZone, localText, dateOf, type DayWindow, DAY_MS, earliestOpen, earliestWorkday, easterOf } from './local-time.ts';
import { type DiallingProfile, holdsFor, type TimingRules } from './profile.ts';

const MINUTE_MS = 60_000;
/** Most moments tried, as rules such as hours and holidays may never pass together. */
const MOST_STEPS = 1000;
const DEFAULT_EARLY_MINUTES = 5;

/**
 * Whether a number may be dialled now; asked before every dial. Pure: equal facts and profile give an equal decision. Unknown facts refuse.
 * @throws RangeError for a time that is not a number
 */
export function mayDial(facts: DialFacts, profile: DiallingProfile): DialDecision {
  const { nowMs, number, zones } = facts;
  // Comparisons with NaN are always false, so an attempt at NaN would not count.
  if (![nowMs, ...facts.attemptsMs].every((timeMs) => Number.isFinite(timeMs))) throw new RangeError('a time is not a number');
  const rules = ruleSetsOf(facts, profile);
  const decided = {
    atMs: nowMs,
    profile: { name: profile.name, hash: profile.hash },
    overlays: 'e164' in number ? overlaysOf(number.e164, number.country, profile).map(({ name }) => name) : [],
    local: zones.filter(isKnownZone).map((zone) => ({ zone, time: localText(zone, nowMs) })),
  };
  const { found, waived } = refusalsAt(facts, profile, rules, nowMs);
  const [first] = found;
  if (first === undefined) {
    const duties = profile.duties.filter((duty) => holdsFor(duty, facts.purpose));
    return { allowed: true, ...decided, consentId: usableConsent(facts, profile, nowMs)?.id, waived, duties };
  }
  const refusals = found.map(({ refusal, detail }) => ({ refusal, detail }));
  const retryAtMs = earliestAllowed(facts, profile, rules, found);
  return { allowed: false, ...decided, refusal: first.refusal, detail: first.detail, refusals, retryAtMs };
}

/**
 * The earliest moment within a number's hours and outside holidays: `nowMs` if now, or if its zones are unknown, which the gate refuses. For
 * planning: only `mayDial` allows a call.
 * @returns undefined if not within a year
 */
export function opensAt(
  facts: Pick<DialFacts, 'nowMs' | 'number' | 'zones' | 'purpose' | 'narrowing'>,
  profile: DiallingProfile,
): number | undefined {
  const rules = ruleSetsOf(facts, profile).map(({ name, rules: all }) => ({ name, rules: { ...all, caps: [], spacing: [] } }));
  let atMs = facts.nowMs;
  for (let step = 0; step < MOST_STEPS && atMs - facts.nowMs <= HORIZON_MS; step += 1) {
    const found = timingFindings({ ...facts, attemptsMs: [], attemptsInCampaign: 0 }, rules, atMs);
    if (found.length === 0) return atMs;
    atMs = Math.max(...found.map(({ untilMs = Infinity }) => untilMs));
  }
  return undefined;
}

/** All refusals of a dial at a moment, in the order of `REFUSALS`. */
function refusalsAt(
  facts: DialFacts,
  profile: DiallingProfile,
  rules: readonly RuleSet[],
  atMs: number,
): { found: Finding[]; waived: RefusalName[] } {
  const all = [...findingsAbout(facts, profile, atMs), ...timingFindings(facts, rules, atMs)];
  const promise = promiseOf(facts, profile);
  const waives = (refusal: RefusalName): boolean => promise?.waives.some((name) => name === refusal) ?? false;
  const isPromised = promise !== undefined && atMs >= promise.fromMs && atMs < promise.toMs;
  const waived = isPromised ? all.filter(({ refusal }) => waives(refusal)) : [];
  const found = all
    .filter((finding) => !waived.includes(finding))
    .map((finding) => {
      // A waived refusal ends at the latest when the promised time begins.
      if (promise === undefined || atMs >= promise.fromMs || !waives(finding.refusal)) return finding;
      return { ...finding, untilMs: Math.min(finding.untilMs ?? Infinity, promise.fromMs) };
    });
  if (promise !== undefined && atMs < promise.fromMs) {
    found.push({ refusal: 'too-soon', detail: 'the person asked to be called later', untilMs: promise.fromMs });
  }
  const rank = new Map(REFUSALS.map((name, index) => [name, index]));
  found.sort((one, other) => (rank.get(one.refusal) ?? 0) - (rank.get(other.refusal) ?? 0));
  return { found, waived: [...new Set(waived.map(({ refusal }) => refusal))] };
}

/**
 * The earliest moment without a refusal. Each finding gives its own earliest end, so no allowed moment lies before the latest of these; another rule
 * may refuse by then, and the search continues from there.
 */
function earliestAllowed(
  facts: DialFacts,
  profile: DiallingProfile,
  rules: readonly RuleSet[],
  foundNow: readonly Finding[],
): number | undefined {
  let found = foundNow;
  for (let step = 0; step < MOST_STEPS; step += 1) {
    const atMs = Math.max(...found.map(({ untilMs = Infinity }) => untilMs));
    if (atMs - facts.nowMs > HORIZON_MS) return undefined;
    ({ found } = refusalsAt(facts, profile, rules, atMs));
    if (found.length === 0) return atMs;
  }
  return undefined;
}

function ruleSetsOf({ number, narrowing }: Pick<DialFacts, 'number' | 'narrowing'>, profile: DiallingProfile): RuleSet[] {
  const overlays = 'e164' in number ? overlaysOf(number.e164, number.country, profile) : [];
  return [
    { name: profile.name, rules: profile },
    ...overlays.map((overlay) => ({ name: overlay.name, rules: overlay })),
    ...narrowing,
  ];
}

/** Overlays of a profile that apply to a number. */
export function overlaysOf(
  e164: string,
  country: string | undefined,
  { overlays }: DiallingProfile,
): DiallingProfile['overlays'] {
  return overlays.filter(
    ({ countries, prefixes }) =>
      (country !== undefined && countries.includes(country)) || prefixes.some((prefix) => e164.startsWith(prefix, 1)),
  );
}

/** When the promised call-back may take place (`toMs` excluded), and what it waives. */
function promiseOf(
  { callBack }: DialFacts,
  { callBack: rule }: DiallingProfile,
): { fromMs: number; toMs: number; waives: readonly RefusalName[] } | undefined {
  if (callBack === undefined) return undefined;
  const { promisedAtMs } = callBack;
  return {
    fromMs: promisedAtMs - (rule?.earlyMinutes ?? DEFAULT_EARLY_MINUTES) * MINUTE_MS,
    toMs: promisedAtMs + (rule?.lateMinutes ?? 0) * MINUTE_MS,
    waives: rule?.waives ?? [],
  };
}

const HOUR_MS = 3_600_000;
const HOURS_A_DAY = 24;
/** How far ahead an allowed moment is searched: a year covers all daylight saving changes. */
const HORIZON_MS = 366 * DAY_MS;

type TimingFacts = Pick<DialFacts, 'zones' | 'purpose' | 'attemptsMs' | 'attemptsInCampaign'>;

/** Refusals because of the moment: hours, holidays, caps and spacing. */
function timingFindings(facts: TimingFacts, sets: readonly RuleSet[], atMs: number): Finding[] {
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
