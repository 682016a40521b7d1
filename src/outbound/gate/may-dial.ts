import { type DialDecision, type DialFacts, type RefusalName, REFUSALS } from './facts.ts';
import { type Finding, findingsAbout, type RuleSet, usableConsent } from './findings.ts';
import { isKnownZone, localText } from './local-time.ts';
import { type DiallingProfile, holdsFor } from './profile.ts';
import { HORIZON_MS, timingFindings } from './timing.ts';

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
